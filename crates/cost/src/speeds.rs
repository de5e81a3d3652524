//! How fast the reader of an image does its work.

use std::collections::BTreeMap;

use coldpress_format::{BlockSize, Compressor};

/// What decompressing blocks of one compressor and one block size takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Bytes that come out in a second.
    pub bytes_per_s: f64,
    /// What each block takes besides, in s: setting up a stream and its tables.
    pub block_s: f64,
}

/// What a reader takes for what it does, by compressor and block size.
#[derive(Clone, Debug, PartialEq)]
pub struct Speeds {
    /// By the compressor's number and the bytes of a block; sizes in between are interpolated.
    decompression: BTreeMap<(u16, u32), Speed>,
    /// Copying a block that is stored to pages of files, or one that is in a cache, in bytes/s.
    pub copy_bytes_per_s: f64,
    /// Bringing a page of a file into memory, besides what fills it, in s.
    pub page_s: f64,
    /// A lookup of a name: searching a listing and reading an inode whose blocks are in memory, in
    /// s.
    pub lookup_s: f64,
    /// A fault, or a call that reads, that finds its pages absent, in s.
    pub miss_s: f64,
    /// A request that the kernel hands to a process and the answer to it, in s.
    pub fuse_request_s: f64,
    /// Verifying blocks of data by dm-verity, with SHA-256, in bytes/s.
    pub verify_bytes_per_s: f64,
}

/// Inside the kernel of the machine that docs/cost-model.md describes: MB/s and us for a block. No
/// kernel reads lzma: taken for xz.
const DEFAULTS: [(Compressor, f64, f64); 6] = [
    (Compressor::Gzip, 178.0, 11.0),
    (Compressor::Lzma, 47.0, 76.0),
    (Compressor::Lzo, 920.0, 0.1),
    (Compressor::Xz, 47.0, 76.0),
    (Compressor::Lz4, 2500.0, 1.2),
    (Compressor::Zstd, 590.0, 17.0),
];

impl Default for Speeds {
    /// The speeds of the machine that docs/cost-model.md describes.
    fn default() -> Self {
        let speed = |(compressor, megabytes_per_s, block_us): (Compressor, f64, f64)| {
            let speed = Speed {
                bytes_per_s: megabytes_per_s * 1e6,
                block_s: block_us * 1e-6,
            };
            ((compressor as u16, BlockSize::DEFAULT.bytes()), speed)
        };
        Self {
            decompression: DEFAULTS.into_iter().map(speed).collect(),
            copy_bytes_per_s: 4e9,
            page_s: 0.9e-6,
            lookup_s: 5.5e-6,
            miss_s: 5e-6,
            fuse_request_s: 30e-6,
            verify_bytes_per_s: 1.4e9,
        }
    }
}

impl Speeds {
    /// Forgets the speeds of a compressor, before those that were measured are [set](Self::set).
    pub fn forget(&mut self, compressor: Compressor) {
        self.decompression
            .retain(|(number, _), _| *number != compressor as u16);
    }

    /// Sets the speed for one compressor and block size.
    pub fn set(&mut self, compressor: Compressor, block_size: BlockSize, speed: Speed) {
        self.decompression
            .insert((compressor as u16, block_size.bytes()), speed);
    }

    /// What decompressing a block takes, in s (equation 4).
    ///
    /// * `block_bytes`: what a block may hold: 8192 of metadata.
    /// * `len_bytes`: what it does hold.
    pub fn decompression_s(&self, compressor: Compressor, block_bytes: u32, len_bytes: u32) -> f64 {
        let number = compressor as u16;
        let of = |size: u32| (number, size);
        let below = self
            .decompression
            .range(of(0)..=of(block_bytes))
            .next_back();
        let above = self
            .decompression
            .range(of(block_bytes)..=of(u32::MAX))
            .next();
        let takes_s = |speed: &Speed| speed.block_s + f64::from(len_bytes) / speed.bytes_per_s;
        match (below, above) {
            (Some(((_, low), slow)), Some(((_, high), fast))) if low < high => {
                let place = (f64::from(block_bytes) / f64::from(*low)).log2();
                let share = place / (f64::from(*high) / f64::from(*low)).log2();
                takes_s(slow) * (1.0 - share) + takes_s(fast) * share
            }
            (Some((_, speed)), _) | (None, Some((_, speed))) => takes_s(speed),
            (None, None) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_between_block_sizes_are_interpolated() {
        let mut speeds = Speeds::default();
        speeds.forget(Compressor::Xz);
        assert!(speeds.decompression_s(Compressor::Xz, 4096, 4096).abs() < 1e-12);
        let speed = |bytes_per_s, block_s| Speed {
            bytes_per_s,
            block_s,
        };
        let size = |bytes| BlockSize::new(bytes).unwrap();
        speeds.set(Compressor::Xz, size(16 << 10), speed(1e6, 1.0));
        speeds.set(Compressor::Xz, size(64 << 10), speed(1e6, 3.0));
        for (block_bytes, expected) in [
            (4 << 10, 1.0),
            (16 << 10, 1.0),
            (32 << 10, 2.0),
            (64 << 10, 3.0),
            (1 << 20, 3.0),
        ] {
            let takes_s = speeds.decompression_s(Compressor::Xz, block_bytes, 500_000);
            assert!(
                (takes_s - expected - 0.5).abs() < 1e-9,
                "{block_bytes}: {takes_s}"
            );
        }
        // Others are as they were.
        assert!(speeds.decompression_s(Compressor::Zstd, 8192, 8192) > 0.0);
    }
}
