//! Blocks to compress, the same on every run.

use coldpress_codec::{
    Choice, Choices, Dictionary, Encoder, Filter, GzipTuning, Lz4Tuning, Settings, Strategy,
    Tuning, XzTuning,
};
use coldpress_format::{BlockSize, Compressor};

/// The compressors that images are written with.
pub(crate) const WRITABLE: [Compressor; 5] = [
    Compressor::Gzip,
    Compressor::Lzo,
    Compressor::Xz,
    Compressor::Lz4,
    Compressor::Zstd,
];

/// Every level of a compressor; of zstd's negative ones, which are many and gain ever less, two.
pub(crate) fn every_level(compressor: Compressor) -> Vec<Settings> {
    let (low, high) = Settings::level_range(compressor).unwrap().into_inner();
    let negative = [-7, -1];
    let negative = negative.into_iter().filter(|_| low < 0);
    let positive = if low < 0 { 1..=high } else { low..=high };
    negative
        .chain(positive)
        .map(|level| Settings::new(compressor, Some(level)).unwrap())
        .collect()
}

/// The settings with each kind of tuning, at a fast level.
pub(crate) fn every_tuning() -> Vec<Settings> {
    let gzip = |window_bits, strategies| {
        Tuning::Gzip(GzipTuning {
            window_bits,
            strategies,
        })
    };
    let strategies: Choices<Strategy> = Strategy::ALL.iter().copied().collect();
    let mut tunings: Vec<_> = (8..=15)
        .map(|window_bits| gzip(window_bits, Choices::NONE))
        .collect();
    tunings.extend([gzip(15, strategies), gzip(10, strategies)]);
    for strategy in Strategy::ALL {
        tunings.push(gzip(15, Choices::from_iter([*strategy])));
    }
    for acceleration in [2, 100, 65537] {
        tunings.push(Tuning::Lz4(Lz4Tuning { acceleration }));
    }
    tunings.extend(every_xz_tuning().into_iter().map(Tuning::Xz));
    let settings = |tuning: Tuning| Settings {
        compressor: tuning.compressor().unwrap(),
        level: i32::from(tuning.compressor() != Some(Compressor::Lz4)),
        tuning,
    };
    tunings.into_iter().map(settings).collect()
}

fn every_xz_tuning() -> Vec<XzTuning> {
    let default = XzTuning::default();
    let filters: Choices<Filter> = Filter::ALL.iter().copied().collect();
    let one = |filter| XzTuning {
        filters: Choices::from_iter([filter]),
        ..default
    };
    let mut tunings: Vec<_> = Filter::ALL.iter().copied().map(one).collect();
    tunings.push(XzTuning { filters, ..default });
    for dictionary in [
        Dictionary::Bytes(8192),
        Dictionary::Millionths(750_000),
        Dictionary::Millionths(1_000_000),
    ] {
        tunings.push(XzTuning {
            dictionary,
            ..default
        });
    }
    for (lc, lp, pb) in [(0, 4, 4), (4, 0, 0), (0, 0, 0), (2, 2, 3)] {
        tunings.push(XzTuning {
            literal_context_bits: Some(lc),
            literal_position_bits: Some(lp),
            position_bits: Some(pb),
            filters: Choices::from_iter([Filter::X86]),
            ..default
        });
    }
    tunings.push(XzTuning {
        extreme: true,
        ..default
    });
    tunings
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
