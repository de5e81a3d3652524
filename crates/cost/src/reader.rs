//! Who reads the image.

/// A reader of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The kernel's `SquashFS`.
    Kernel {
        /// How many blocks it decompresses at a time.
        decompressors: Decompressors,
        /// Fragment blocks that it keeps: `CONFIG_SQUASHFS_FRAGMENT_CACHE_SIZE`.
        fragment_slots: usize,
        /// Metadata blocks that it keeps: `SQUASHFS_CACHED_BLKS`.
        metadata_slots: usize,
    },
    /// `coldpress mount`: a process that decompresses each block once and keeps blocks in memory.
    Fuse {
        /// What it keeps of decompressed blocks.
        cache_bytes: u64,
    },
    /// EROFS and its like: clusters of the image's block size, compressed one by one, read in place
    /// without a cache of fragments and without pages past the end of a file; metadata in 4 KiB
    /// that stay in memory.
    Erofs,
    /// A file system on the medium itself: nothing is compressed, metadata in 4 KiB that stay in
    /// memory.
    Unpacked,
}

/// How many blocks a kernel decompresses at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decompressors {
    /// One: others wait (`CONFIG_SQUASHFS_DECOMP_SINGLE`).
    Single,
    /// Twice as many as there are processors (`CONFIG_SQUASHFS_DECOMP_MULTI`).
    Multi,
    /// One on each processor (`CONFIG_SQUASHFS_DECOMP_MULTI_PERCPU`).
    PerCpu,
}

impl Reader {
    /// The kernel as distributions' defaults have it: 3 fragment and 8 metadata blocks, one
    /// decompressor.
    pub const KERNEL: Self = Self::Kernel {
        decompressors: Decompressors::Single,
        fragment_slots: 3,
        metadata_slots: 8,
    };

    /// A mount of ours with its default cache.
    pub const FUSE: Self = Self::Fuse {
        cache_bytes: 64 << 20,
    };
}

impl Decompressors {
    /// Blocks at a time.
    pub fn count(self, cores: u32) -> u32 {
        match self {
            Self::Single => 1,
            Self::Multi => cores.saturating_mul(2).max(1),
            Self::PerCpu => cores.max(1),
        }
    }
}
