//! First accesses, told from those that follow while they come in.

use std::collections::HashMap;
use std::ops::Range;

use coldpress_trace::{Coverage, SEARCHES_IN_VAIN_MAX};

use super::event::RawKind;

/// What was accessed so far.
///
/// Kinds are kept apart as far as they say different things: that a page was perhaps used, and
/// later that it surely was, are two first accesses.
#[derive(Debug, Default)]
pub(super) struct FirstAccesses {
    inodes: HashMap<u64, Seen>,
    device: Coverage,
    /// Bytes of the image of which each read is kept.
    each_read_of: Range<u64>,
    /// How many of these were not new.
    repeated: u64,
}

/// Pages of one inode.
#[derive(Debug, Default)]
struct Seen {
    /// Read or faulted on.
    certain: Coverage,
    /// These, and those that were mapped in passing.
    any: Coverage,
    cached: Coverage,
    /// Whether a fault or a mapping was told: that there was one has a meaning of its own.
    is_mapped: bool,
}

impl FirstAccesses {
    pub(super) fn new(each_read_of: Range<u64>) -> Self {
        Self {
            each_read_of,
            ..Self::default()
        }
    }

    /// Notes an access; whether it is to be kept.
    pub(super) fn keeps(&mut self, kind: RawKind) -> bool {
        match kind {
            RawKind::Read {
                inode,
                first_page,
                last_page,
            } => self.seen(inode).use_surely(first_page, last_page),
            RawKind::Fault { inode, page } => {
                let seen = self.seen(inode);
                let is_first = !seen.is_mapped;
                seen.is_mapped = true;
                seen.use_surely(page, page) || is_first
            }
            RawKind::Map {
                inode,
                first_page,
                last_page,
            } => {
                let seen = self.seen(inode);
                let is_first = !seen.is_mapped;
                seen.is_mapped = true;
                cover(&mut seen.any, first_page, last_page) || is_first
            }
            RawKind::Cache {
                inode,
                first_page,
                last_page,
            } => cover(&mut self.seen(inode).cached, first_page, last_page),
            RawKind::DeviceRead {
                start_byte,
                len_bytes,
            } => {
                let last_byte = start_byte.saturating_add(len_bytes.saturating_sub(1));
                cover(&mut self.device, start_byte, last_byte)
                    || self.keeps_again(start_byte, last_byte)
            }
            // Each belongs to an event that is kept or not, which is not known here.
            RawKind::DeviceDone { .. } | RawKind::UserFault { .. } => true,
        }
    }

    fn keeps_again(&mut self, start_byte: u64, last_byte: u64) -> bool {
        let is_meant = start_byte < self.each_read_of.end && last_byte >= self.each_read_of.start;
        self.repeated += u64::from(is_meant);
        is_meant && self.repeated <= SEARCHES_IN_VAIN_MAX
    }

    fn seen(&mut self, inode: u64) -> &mut Seen {
        self.inodes.entry(inode).or_default()
    }
}

impl Seen {
    fn use_surely(&mut self, first_page: u64, last_page: u64) -> bool {
        cover(&mut self.any, first_page, last_page);
        cover(&mut self.certain, first_page, last_page)
    }
}

/// Adds a range; whether any of it is new.
fn cover(coverage: &mut Coverage, first: u64, last: u64) -> bool {
    let mut is_new = false;
    coverage.cover(first, last, |_, _| is_new = true);
    is_new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_tells_of_something_new_is_a_first_access() {
        let read = |inode, first_page, last_page| RawKind::Read {
            inode,
            first_page,
            last_page,
        };
        let map = |first_page, last_page| RawKind::Map {
            inode: 1,
            first_page,
            last_page,
        };
        let fault = |page| RawKind::Fault { inode: 1, page };
        let cache = |first_page, last_page| RawKind::Cache {
            inode: 1,
            first_page,
            last_page,
        };
        let device = |start_byte, len_bytes| RawKind::DeviceRead {
            start_byte,
            len_bytes,
        };
        let mut first = FirstAccesses::new(8192..12288);
        for (step, (kind, expected)) in [
            (read(1, 0, 3), true),
            (read(1, 1, 2), false),
            (read(2, 1, 2), true),
            (cache(0, 3), true),
            // The first mapping of all counts, though all its pages were read.
            (map(0, 3), true),
            (map(0, 3), false),
            (map(2, 9), true),
            (fault(5), true),
            (fault(5), false),
            (map(4, 6), false),
            (read(1, 4, 9), true),
            (read(1, 4, 9), false),
            (cache(2, 3), false),
            (device(0, 4096), true),
            (device(512, 512), false),
            (device(4000, 512), true),
            (device(u64::MAX, 9), true),
            // Of listings each read counts.
            (device(8192, 512), true),
            (device(8192, 512), true),
            (device(8000, 193), true),
            (device(8000, 192), false),
            (device(12287, 1), true),
            (device(12288, 1), true),
            (device(12288, 1), false),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(first.keeps(kind), expected, "step {step}: {kind:?}");
        }
        let kept = (0..SEARCHES_IN_VAIN_MAX).filter(|_| first.keeps(device(8192, 512)));
        assert_eq!(kept.count() as u64, SEARCHES_IN_VAIN_MAX - 1);
    }
}
