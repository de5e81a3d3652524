//! Blocks to compress, the same on every run.

use coldpress_codec::{Encoder, Settings};
use coldpress_format::{BlockSize, Compressor};

/// The compressors that images are written with.
pub(crate) const WRITABLE: [Compressor; 5] = [
    Compressor::Gzip,
    Compressor::Lzo,
    Compressor::Xz,
    Compressor::Lz4,
    Compressor::Zstd,
];

/// Every setting of a compressor.
pub(crate) fn every_level(compressor: Compressor) -> Vec<Settings> {
    match Settings::level_range(compressor) {
        Some(range) => range
            .map(|level| Settings::new(compressor, Some(level)).unwrap())
            .collect(),
        None => vec![Settings::new(compressor, None).unwrap()],
    }
}

/// Numbers without pattern (xorshift64*).
pub(crate) fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(move || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    })
}

/// Bytes that do not compress.
pub(crate) fn random(len: usize, seed: u64) -> Vec<u8> {
    numbers(seed).flat_map(u64::to_le_bytes).take(len).collect()
}

/// Words of an invented language, in sentences: compresses to about a third.
pub(crate) fn text(len: usize, seed: u64) -> Vec<u8> {
    const SYLLABLES: [&str; 16] = [
        "ka", "to", "ri", "men", "sol", "ve", "nu", "pra", "li", "ost", "ha", "be", "din", "qui",
        "or", "sta",
    ];
    let mut bytes = Vec::with_capacity(len + 32);
    let mut numbers = numbers(seed);
    while bytes.len() < len {
        let mut number = numbers.next().unwrap();
        for _ in 0..=number % 3 {
            number >>= 5;
            bytes.extend_from_slice(SYLLABLES[(number % 16) as usize].as_bytes());
        }
        bytes.extend_from_slice(if number.is_multiple_of(11) {
            b".\n"
        } else {
            b" "
        });
    }
    bytes.truncate(len);
    bytes
}

/// The smallest block size of an image in which a block may have `len` bytes.
pub(crate) fn block_size_for(len: usize) -> BlockSize {
    let bytes = u32::try_from(len.next_power_of_two()).unwrap();
    BlockSize::new(bytes.max(BlockSize::MIN.bytes())).unwrap()
}

/// The block as a new encoder with default settings compresses it; it must shrink.
pub(crate) fn compressed(compressor: Compressor, block: &[u8]) -> Vec<u8> {
    let settings = Settings::new(compressor, None).unwrap();
    let mut encoder = Encoder::new(&settings, block_size_for(block.len())).unwrap();
    let mut output = Vec::new();
    assert!(
        encoder.compress(block, &mut output).unwrap(),
        "{compressor} does not shrink it"
    );
    output
}
