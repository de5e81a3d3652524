//! The file by which zsync fetches only the blocks of a file that differ from an older one.
//!
//! ```text
//! text      lines `Name: value`, and an empty one
//! blocks    for each: the end of a rolling sum, the beginning of an MD4
//! ```
//!
//! How many bytes of both are kept depends on the length of the file, so that a wrong match is
//! unlikely. Source: `make.c` and `rsum.c` of zsync 0.6.2. There is no time in it, so that the same
//! file has the same zsync file.

use coldpress_image::ReadAt;
use coldpress_report::text::hex;
use md4::Md4;
use sha1::{Digest as _, Sha1};

use crate::error::Error;
use crate::field::read_up_to;

/// Files up to this have blocks of 2048 bytes, others of 4096.
const SMALL_FILE_BYTES: u64 = 100_000_000;

/// Makes the zsync file of a file.
///
/// * `name`: under which zsync saves the file.
/// * `url`: where the file is, absolute or relative to the zsync file.
///
/// # Errors
///
/// [`Error::LineBreak`], [`Error::Read`].
///
/// # Cost
///
/// Reads the file once. What is returned takes up to 20 bytes for each block of the file.
pub fn zsync(source: &dyn ReadAt, name: &[u8], url: &[u8]) -> Result<Vec<u8>, Error> {
    for (what, text) in [("name of the new file", name), ("URL", url)] {
        if text.contains(&b'\n') || text.contains(&b'\r') {
            return Err(Error::LineBreak { what });
        }
    }
    let size_bytes = source.size_bytes();
    let size_bytes = size_bytes.map_err(|source| Error::Read { start: 0, source })?;
    let block_bytes = if size_bytes < SMALL_FILE_BYTES {
        2048
    } else {
        4096
    };
    let lengths = Lengths::of(size_bytes, block_bytes);
    let mut block = vec![0; block_bytes];
    let mut blocks = Vec::new();
    let mut sha1 = Sha1::new();
    let mut start = 0;
    while start < size_bytes {
        let len = read_up_to(source, &mut block, start)?;
        let (content, rest) = block.split_at_mut(len);
        sha1.update(&*content);
        rest.fill(0);
        let sum = rolling_sum(&block);
        blocks.extend_from_slice(sum.get(sum.len() - lengths.sum..).unwrap_or_default());
        let md4 = Md4::digest(&block);
        blocks.extend_from_slice(md4.get(..lengths.md4).unwrap_or_default());
        start += block_bytes as u64;
    }
    let numbers = format!(
        "Blocksize: {block_bytes}\nLength: {size_bytes}\nHash-Lengths: {},{},{}\nURL: ",
        lengths.sequence, lengths.sum, lengths.md4
    );
    let sha1 = format!("\nSHA-1: {}\n\n", hex(&sha1.finalize()));
    let text: [&[u8]; 7] = [
        b"zsync: 0.6.2\nFilename: ",
        name,
        b"\n",
        numbers.as_bytes(),
        url,
        sha1.as_bytes(),
        &blocks,
    ];
    Ok(text.concat())
}

/// What is kept of a block.
struct Lengths {
    /// How many blocks in a row must match.
    sequence: usize,
    /// Bytes of the rolling sum.
    sum: usize,
    /// Bytes of the MD4.
    md4: usize,
}

impl Lengths {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bits of lengths, of which a hundred are a whole file system"
    )]
    fn of(size_bytes: u64, block_bytes: usize) -> Self {
        let sequence = if size_bytes > block_bytes as u64 {
            2
        } else {
            1
        };
        let size_bits = (size_bytes.max(1) as f64).log2();
        let block_bits = (block_bytes as f64).log2();
        let count_bits = ((1 + size_bytes / block_bytes as u64) as f64).log2();
        let row = sequence as f64;
        let bytes = |bits: f64| (bits / 8.0).ceil().max(0.0) as usize;
        // All of it by zsync: what lets one of a million files fail, and no block alone too often.
        let sum = bytes((size_bits + block_bits - 8.6) / row);
        let together = bytes((20.0 + size_bits + count_bits) / row);
        let alone = ((7.9 + 20.0 + count_bits) / 8.0) as usize;
        Self {
            sequence,
            sum: sum.clamp(2, 4),
            md4: together.max(alone).min(16),
        }
    }
}

/// The sum of a block, and that of its sums, as 4 big-endian bytes.
fn rolling_sum(block: &[u8]) -> [u8; 4] {
    let (mut sum, mut sums) = (0_u16, 0_u16);
    for byte in block {
        sum = sum.wrapping_add(u16::from(*byte));
        sums = sums.wrapping_add(sum);
    }
    let [low, high] = sum.to_le_bytes();
    let [sums_low, sums_high] = sums.to_le_bytes();
    [high, low, sums_high, sums_low]
}
