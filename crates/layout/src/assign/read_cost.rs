//! What more bytes on the medium cost a start.

/// What reading takes, as far as it depends on the number of bytes that lie together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadCost {
    /// Bytes that the medium reads in a second.
    pub bandwidth_bytes_per_s: f64,
    /// What each request takes besides, in seconds.
    pub request_s: f64,
    /// Bytes that one request reads: the readahead, since what is hot lies together.
    pub request_bytes: u32,
    /// The smallest piece that is read: 512 from a disk, 4096 through a page cache. Not 0.
    pub sector_bytes: u32,
}

impl ReadCost {
    /// How much earlier a start ends if a block takes `stored_bytes` instead of `default_bytes` and
    /// is decompressed faster by `decompression_s`.
    ///
    /// Where a block lies in its sectors is not known, so more bytes are rounded up to sectors and
    /// fewer down: what this says is saved is saved at least. A request more comes with every
    /// `request_bytes` more, on the average of many blocks.
    pub fn saved_s(&self, default_bytes: u32, stored_bytes: u32, decompression_s: f64) -> f64 {
        let sector_bytes = self.sector_bytes.max(1);
        let fewer_bytes = default_bytes.saturating_sub(stored_bytes) / sector_bytes * sector_bytes;
        let more_bytes = stored_bytes
            .saturating_sub(default_bytes)
            .div_ceil(sector_bytes);
        let more_bytes = f64::from(more_bytes) * f64::from(sector_bytes);
        let byte_s = self.bandwidth_bytes_per_s.recip()
            + self.request_s / f64::from(self.request_bytes.max(1));
        decompression_s + (f64::from(fewer_bytes) - more_bytes) * byte_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_bytes_are_rounded_up_and_fewer_down() {
        let cost = ReadCost {
            bandwidth_bytes_per_s: 1000.0 * 512.0,
            request_s: 0.004,
            request_bytes: 4 * 512,
            sector_bytes: 512,
        };
        // A sector takes 1 ms by its bytes and 1 ms of a request.
        let cases = [
            (1000, 1000, 0.005, 0.005),
            (1000, 1001, 0.005, 0.003),
            (1000, 1512, 0.005, 0.003),
            (1000, 1513, 0.005, 0.001),
            (1000, 489, 0.0, 0.0),
            (1000, 488, 0.0, 0.002),
            (1000, 489, -0.001, -0.001),
        ];
        for (default_bytes, stored_bytes, decompression_s, expected_s) in cases {
            let saved_s = cost.saved_s(default_bytes, stored_bytes, decompression_s);
            assert!(
                (saved_s - expected_s).abs() < 1e-9,
                "{default_bytes} to {stored_bytes}: {saved_s}"
            );
        }
    }
}
