//! What an image would be like.

/// What is predicted of a candidate. Less is better everywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// A cold start in seconds; without one to predict, reading everything.
    pub start_s: f64,
    /// The image, in bytes.
    pub size_bytes: u64,
    /// The standard error of that: it is off by less than twice as much in 95 of 100 cases.
    pub size_error_bytes: u64,
    /// Building it with the threads that were asked for, in seconds.
    pub build_s: f64,
    /// What building takes at most, in bytes.
    pub memory_bytes: u64,
    /// What the start leaves in the page cache, in bytes.
    pub page_cache_bytes: u64,
    /// Reads of the device.
    pub reads: u64,
    /// Bytes that they read.
    pub read_bytes: u64,
    /// Bytes that come out of the decompressor.
    pub decompressed_bytes: u64,
}

/// Figures that are traded for each other.
pub(crate) const TRADED: usize = 5;

impl Outcome {
    /// What is traded: start, size, build time, memory, page cache.
    #[expect(
        clippy::cast_precision_loss,
        reason = "they are compared within some percent"
    )]
    pub(crate) fn traded(&self) -> [f64; TRADED] {
        [
            self.start_s,
            self.size_bytes as f64,
            self.build_s,
            self.memory_bytes as f64,
            self.page_cache_bytes as f64,
        ]
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::Outcome;

    /// An outcome of which only the traded figures are told.
    pub(crate) fn outcome(
        start_s: f64,
        size_bytes: u64,
        build_s: f64,
        memory_bytes: u64,
        page_cache_bytes: u64,
    ) -> Outcome {
        Outcome {
            start_s,
            size_bytes,
            size_error_bytes: 0,
            build_s,
            memory_bytes,
            page_cache_bytes,
            reads: 0,
            read_bytes: 0,
            decompressed_bytes: 0,
        }
    }
}
