//! The medium: what a read of the image costs.

/// What holds the image, as the reader's device sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Medium {
    /// What one read takes when the medium is idle, without its bytes, in s.
    pub request_s: f64,
    /// How fast the bytes of a read come, in bytes/s.
    pub bandwidth_bytes_per_s: f64,
    /// Bytes that are let through in a second, where something throttles the medium; a limit, not a
    /// latency: reads pass at once as long as fewer were asked for.
    pub limit_bytes_per_s: Option<f64>,
    /// Reads that are let through in a second, likewise.
    pub reads_per_s: Option<f64>,
    /// `read_ahead_kb` of the device before it is mounted, in bytes. The kernel's `SquashFS` raises
    /// it to four blocks.
    pub readahead_bytes: u64,
    /// `read_ahead_kb` that is set after the mount, in bytes, and holds then.
    pub mounted_readahead_bytes: Option<u64>,
    /// Whether the image is a file of another file system and what is read of it stays in that
    /// file's page cache, rather than a partition of its own.
    pub via_file: bool,
    /// Unit of reads: 1024, unless the device has sectors of 4096.
    pub sector_bytes: u32,
}

impl Medium {
    /// A medium that costs nothing, for tests and for what the reader alone takes.
    pub const FREE: Self = Self {
        request_s: 0.0,
        bandwidth_bytes_per_s: f64::INFINITY,
        limit_bytes_per_s: None,
        reads_per_s: None,
        readahead_bytes: 128 << 10,
        mounted_readahead_bytes: None,
        via_file: false,
        sector_bytes: 1024,
    };

    /// The disk of the machine that docs/cost-model.md describes, through a loop device with direct
    /// I/O: 0.11 ms and 1.2 GB/s.
    pub const HOST: Self = Self {
        request_s: 110e-6,
        bandwidth_bytes_per_s: 1.2e9,
        ..Self::FREE
    };
}
