//! What compressors cost, about, before anything is measured: to share a budget among them so that
//! the samples do not depend on the clock.

use coldpress_codec::{Settings, Tuning};
use coldpress_format::{BlockSize, Compressor};

use crate::options::Options;

/// The compressor that budgets are counted in.
pub(super) const REFERENCE: Settings = Settings {
    compressor: Compressor::Zstd,
    level: 15,
    tuning: Tuning::Default,
};

/// Processor time in ns for each byte, by level from 0: blocks of 128 KiB of a Debian root file
/// system with Chromium. Levels between those that were measured are in proportion.
const GZIP_NS: [f64; 13] = [
    5.0, 5.0, 6.0, 6.5, 7.0, 8.0, 10.0, 13.0, 18.0, 23.0, 60.0, 90.0, 150.0,
];
const LZO_NS: [f64; 10] = [4.0, 20.0, 25.0, 30.0, 35.0, 40.0, 50.0, 60.0, 77.0, 90.0];
const LZ4_NS: [f64; 13] = [
    2.0, 9.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0, 40.0, 60.0, 80.0,
];
const XZ_NS: [f64; 10] = [
    40.0, 50.0, 65.0, 80.0, 110.0, 130.0, 145.0, 145.0, 145.0, 145.0,
];
const ZSTD_NS: [f64; 23] = [
    2.5, 2.5, 3.0, 4.0, 5.0, 7.0, 9.0, 11.0, 12.0, 15.0, 19.0, 24.0, 30.0, 55.0, 65.0, 80.0, 100.0,
    125.0, 150.0, 190.0, 200.0, 220.0, 240.0,
];

/// Processor time of compressing a byte, in s: within a factor of two of it on any machine of
/// these years, and in proportion to others.
pub(super) fn s_per_byte(settings: &Settings) -> f64 {
    let ns = match settings.compressor {
        Compressor::Gzip => &GZIP_NS[..],
        Compressor::Lzo => &LZO_NS,
        Compressor::Lz4 => &LZ4_NS,
        Compressor::Xz | Compressor::Lzma => &XZ_NS,
        Compressor::Zstd => &ZSTD_NS,
    };
    // The negative levels of zstd are ever faster.
    let level = usize::try_from(settings.level).unwrap_or(0);
    let passes = match settings.tuning {
        Tuning::Default | Tuning::Lz4(_) => 1,
        Tuning::Gzip(tuning) => tuning.strategies.iter().count().max(1),
        // Without a filter, and with each.
        Tuning::Xz(tuning) => 1 + tuning.filters.iter().count(),
    };
    let passes = u32::try_from(passes).unwrap_or(u32::MAX);
    ns[level.min(ns.len() - 1)] * 1e-9 * f64::from(passes)
}

/// What is tried on more blocks in place of an expensive compressor, whose sizes are estimated by
/// it.
///
/// By how much the ratio of their sizes varies is in docs/sampling.md. That of zstd 15 varies by 5
/// % from zstd 12 and by 6 % from zstd 3, so that none between them is worth its time.
pub(super) fn proxy(settings: &Settings) -> Option<Settings> {
    let (compressor, level) = match (settings.compressor, settings.level) {
        (Compressor::Lz4, 9..) => (Compressor::Lz4, 4),
        (Compressor::Lzo, 5..) => (Compressor::Lzo, 1),
        (Compressor::Gzip, 8..) => (Compressor::Gzip, 6),
        (Compressor::Zstd, 17..) | (Compressor::Xz | Compressor::Lzma, 4..) => {
            return Some(REFERENCE);
        }
        _ => return None,
    };
    Some(Settings {
        compressor,
        level,
        tuning: Tuning::Default,
    })
}

/// Memory of a compressor for blocks of an image, in bytes: tables of positions, for the slow ones
/// some for each byte of a block.
///
/// Sources: the parameters of zstd 1.5.7 (`lib/compress/clevels.h`, and how it fits them to the
/// size of its input), xz's manual ("Memory usage" of the presets), what libdeflate and LZ4 HC
/// allocate.
fn encoder_bytes(settings: &Settings, block_size: BlockSize) -> u64 {
    const KIB: u64 = 1 << 10;
    let (for_each_byte, fixed) = match (settings.compressor, settings.level) {
        (Compressor::Zstd, ..=4) => (1, 1024 * KIB),
        (Compressor::Zstd, 5..=8) => (4, 1024 * KIB),
        (Compressor::Zstd, 9..=12) => (12, 1024 * KIB),
        (Compressor::Zstd, _) => (16, 1536 * KIB),
        (Compressor::Xz | Compressor::Lzma, ..=3) => (6, 1024 * KIB),
        (Compressor::Xz | Compressor::Lzma, _) => (11, 1024 * KIB),
        (Compressor::Gzip, ..=9) | (Compressor::Lzo, 0) => (0, 1024 * KIB),
        (Compressor::Gzip, _) => (0, 9216 * KIB),
        (Compressor::Lz4, 0) => (0, 16 * KIB),
        (Compressor::Lz4, _) => (0, 320 * KIB),
        // The cheapest way to each byte is found before the first instruction is written.
        (Compressor::Lzo, _) => (16, 2048 * KIB),
    };
    for_each_byte * u64::from(block_size.bytes()) + fixed
}

/// Memory at the peak of writing an image, in bytes.
///
/// Measured on a tree of 20,517 nodes with 2 threads, in MiB, and what this gives: zstd 15 at 128K
/// 25 and 22, at 1M 56 and 57; xz 6 20 and 20, 47 and 46; lzo 8 24 and 23, 58 and 58; gzip 9 18 and
/// 17, 23 and 24; lz4 0, which waits for the disk, 24 and 15, 30 and 22.
///
/// * `node_count`, `block_count`: of the tree and of all block lists.
pub(super) fn writing_bytes(options: &Options, node_count: usize, block_count: u64) -> u64 {
    /// The program, and what its libraries keep.
    const PROGRAM_BYTES: u64 = 8 << 20;
    /// A node with its name, where its content is, its inode's place and its entry in tables.
    const NODE_BYTES: u64 = 300;
    /// A word of a block list, twice while a list grows.
    const WORD_BYTES: u64 = 8;
    /// What a thread has: a block, room for the result, the result, and one that waits for its
    /// turn.
    const BLOCKS_OF_A_THREAD: u64 = 4;
    let encoder_bytes = options
        .compression
        .map_or(0, |settings| encoder_bytes(&settings, options.block_size));
    let block_bytes = u64::from(options.block_size.bytes());
    let threads = options.threads.get() as u64;
    PROGRAM_BYTES
        + NODE_BYTES * node_count as u64
        + WORD_BYTES * block_count
        + threads * (encoder_bytes + BLOCKS_OF_A_THREAD * block_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::surveyed::Family;

    #[test]
    fn what_stands_in_for_another_is_cheaper_and_needs_nobody_itself() {
        for compressor in Compressor::ALL {
            let levels = Settings::level_range(compressor).into_iter().flatten();
            for settings in levels.filter_map(|level| Settings::new(compressor, Some(level)).ok()) {
                if let Some(proxy) = proxy(&settings) {
                    assert!(s_per_byte(&proxy) < s_per_byte(&settings), "{settings:?}");
                    assert_eq!(super::proxy(&proxy), None);
                    // Their samples have to be the same blocks.
                    assert_eq!(Family::of(proxy.compressor), Family::of(compressor));
                    assert!(proxy.check(BlockSize::MAX).is_ok());
                }
            }
        }
    }

    #[test]
    fn every_level_has_a_cost_and_harder_ones_cost_more() {
        for compressor in Compressor::ALL {
            let Some(levels) = Settings::level_range(compressor) else {
                continue;
            };
            let costs: Vec<f64> = levels
                .filter_map(|level| Settings::new(compressor, Some(level)).ok())
                .map(|settings| s_per_byte(&settings))
                .collect();
            assert!(costs.is_sorted(), "{compressor}: {costs:?}");
            assert!(costs[0] > 0.0);
        }
    }
}
