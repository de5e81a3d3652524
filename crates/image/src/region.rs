//! A range of image bytes that one structure must not leave.

use coldpress_format::{Corrupt, Part, Rule};

/// A range of image bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// First byte.
    pub(crate) start: u64,
    /// Byte behind the last.
    pub(crate) end: u64,
}

impl Region {
    /// Checks that `len_bytes` bytes from `start` on lie inside, and returns the byte behind them.
    pub(crate) fn check(self, part: Part, start: u64, len_bytes: u64) -> Result<u64, Corrupt> {
        if start < self.start || start > self.end {
            let rule = Rule::OutOfRange {
                field: "position in the image",
                found: start,
                low: self.start,
                high: self.end,
            };
            return Err(Corrupt::new(part, start, rule));
        }
        let found = self.end - start;
        if len_bytes > found {
            let needed = len_bytes;
            return Err(Corrupt::new(part, start, Rule::Truncated { needed, found }));
        }
        Ok(start + len_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_its_region() {
        let region = Region { start: 10, end: 20 };
        for (start, len, end) in [
            (10, 10, Some(20)),
            (20, 0, Some(20)),
            (9, 1, None),
            (10, 11, None),
            (21, 0, None),
            (15, u64::MAX, None),
        ] {
            let checked = region.check(Part::DataBlock, start, len);
            assert_eq!(checked.ok(), end, "{start} {len}");
        }
    }
}
