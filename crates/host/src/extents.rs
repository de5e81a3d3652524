//! Where the bytes of a plain file lie on its disk, as the kernel tells it (FIEMAP).
//!
//! Extents are told in pieces, so that a file of millions of them takes no more memory than one of
//! few. Bytes of the disk are those of the file system's device; btrfs counts in a space of its own
//! that may lie on several.

mod seeks;

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::io::Errno;

pub use seeks::{FileSeeks, Laid, Seeks, seeks};

use crate::{Error, syscall};

// <linux/fiemap.h>
const FLAG_SYNC: u32 = 1;
const EXTENT_LAST: u32 = 0x1;
const EXTENT_UNKNOWN: u32 = 0x2;
const EXTENT_DELALLOC: u32 = 0x4;
const EXTENT_ENCODED: u32 = 0x8;
const EXTENT_INLINE: u32 = 0x200;
const EXTENT_TAIL: u32 = 0x400;
const EXTENT_UNWRITTEN: u32 = 0x800;
const EXTENT_SHARED: u32 = 0x2000;

/// Bytes of a file that follow each other on the disk, as the file system notes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// First byte of the file.
    pub offset: u64,
    /// Bytes of the file, whole blocks: the last extent may reach past the file's end.
    pub len_bytes: u64,
    /// Where they lie.
    pub place: Place,
    /// Whether space is reserved and nothing was written: it reads as zeros, without the disk.
    pub is_unwritten: bool,
    /// Whether other files, or snapshots, have the same blocks.
    pub is_shared: bool,
    /// Whether the file system keeps them compressed.
    pub is_encoded: bool,
}

/// Where an extent lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// At this byte of the device.
    Disk(u64),
    /// In the metadata of the file.
    Inline,
    /// Nowhere yet, or where the file system does not tell.
    Unknown,
}

/// A file's extents, summed up. Those that follow each other on the disk count as one, however the
/// file system notes them; behind a hole, an extent that lies at once behind the last one, or as
/// far behind as the hole is long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extents {
    /// The file's size.
    pub size_bytes: u64,
    /// How many there are. 0 for a file that is empty or all hole.
    pub count: u64,
    /// Space of all of them, past the file's end too.
    pub allocated_bytes: u64,
    /// Bytes of the file for which there is no space.
    pub hole_bytes: u64,
    /// Space that is reserved and never written.
    pub unwritten_bytes: u64,
    /// Space that other files have too.
    pub shared_bytes: u64,
    /// Bytes that the file system compresses.
    pub encoded_bytes: u64,
}

impl Extents {
    /// Looks at a file. Needs no more than that it may be read.
    ///
    /// * `path`: its name, for errors.
    ///
    /// # Errors
    ///
    /// As of [`for_each_extent`].
    ///
    /// # Cost
    ///
    /// Writes back what is only in memory; then one call for 512 extents.
    pub fn of(file: &File, path: &Path) -> Result<Self, Error> {
        let metadata = file.metadata().map_err(Error::io("look at", path))?;
        let mut tally = Tally::new(metadata.len());
        for_each_extent(file, path, &mut |extent| tally.add(extent))?;
        Ok(tally.sum)
    }

    /// How many more there are than the one that would do: the fragmentation.
    pub fn beyond_one(&self) -> u64 {
        self.count.saturating_sub(1)
    }

    /// The mean size of an extent; 0 without any.
    pub fn mean_bytes(&self) -> u64 {
        self.allocated_bytes.checked_div(self.count).unwrap_or(0)
    }
}

/// Calls `each` for all extents of a file, in the order of their offsets. Holes have none.
///
/// # Errors
///
/// [`Error::NoExtents`] on file systems that do not tell, as tmpfs; [`Error::Io`].
pub fn for_each_extent(
    file: &File,
    path: &Path,
    each: &mut dyn FnMut(Extent),
) -> Result<(), Error> {
    let (mut start, mut flags) = (0, FLAG_SYNC);
    loop {
        let mapped = syscall::fiemap(file.as_fd(), start, flags).map_err(|error| {
            let no_extents = [Errno::OPNOTSUPP, Errno::NOTTY, Errno::NOSYS];
            let code = error.raw_os_error();
            if no_extents.iter().any(|it| Some(it.raw_os_error()) == code) {
                Error::NoExtents { path: path.into() }
            } else {
                Error::io("ask for the extents of", path)(error)
            }
        })?;
        let Some(last) = mapped.last() else {
            return Ok(());
        };
        let next = last.logical.saturating_add(last.length);
        let is_end = last.flags & EXTENT_LAST != 0 || next <= start;
        for mapped in &mapped {
            each(Extent::from(mapped));
        }
        if is_end {
            return Ok(());
        }
        (start, flags) = (next, 0);
    }
}

impl From<&syscall::MappedExtent> for Extent {
    fn from(mapped: &syscall::MappedExtent) -> Self {
        let has = |flags: u32| mapped.flags & flags != 0;
        Self {
            offset: mapped.logical,
            len_bytes: mapped.length,
            place: if has(EXTENT_INLINE | EXTENT_TAIL) {
                Place::Inline
            } else if has(EXTENT_UNKNOWN | EXTENT_DELALLOC) {
                Place::Unknown
            } else {
                Place::Disk(mapped.physical)
            },
            is_unwritten: has(EXTENT_UNWRITTEN),
            is_shared: has(EXTENT_SHARED),
            is_encoded: has(EXTENT_ENCODED),
        }
    }
}

impl Extent {
    /// First byte of the file behind it.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len_bytes)
    }

    /// Whether the disk need not seek to read it behind another one that comes before it in the
    /// file.
    fn follows(&self, before: &Extent) -> bool {
        let (Place::Disk(start), Place::Disk(start_before)) = (self.place, before.place) else {
            return false;
        };
        let end_before = start_before.saturating_add(before.len_bytes);
        let hole_bytes = self.offset.saturating_sub(before.end());
        start == end_before || start == end_before.saturating_add(hole_bytes)
    }
}

/// Extents while they are counted.
struct Tally {
    sum: Extents,
    last: Option<Extent>,
}

impl Tally {
    fn new(size_bytes: u64) -> Self {
        Self {
            sum: Extents {
                size_bytes,
                hole_bytes: size_bytes,
                ..Extents::default()
            },
            last: None,
        }
    }

    fn add(&mut self, extent: Extent) {
        let sum = &mut self.sum;
        let follows = self.last.is_some_and(|last| extent.follows(&last));
        sum.count += u64::from(!follows);
        let inside = extent
            .end()
            .min(sum.size_bytes)
            .saturating_sub(extent.offset);
        sum.hole_bytes = sum.hole_bytes.saturating_sub(inside);
        let len_bytes = extent.len_bytes;
        sum.allocated_bytes = sum.allocated_bytes.saturating_add(len_bytes);
        for (total, counts) in [
            (&mut sum.unwritten_bytes, extent.is_unwritten),
            (&mut sum.shared_bytes, extent.is_shared),
            (&mut sum.encoded_bytes, extent.is_encoded),
        ] {
            *total = total.saturating_add(if counts { len_bytes } else { 0 });
        }
        self.last = Some(extent);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A plain extent.
    pub(crate) fn extent(offset: u64, start: u64, len_bytes: u64) -> Extent {
        Extent {
            offset,
            len_bytes,
            place: Place::Disk(start),
            is_unwritten: false,
            is_shared: false,
            is_encoded: false,
        }
    }

    fn sum(size_bytes: u64, extents: &[Extent]) -> Extents {
        let mut tally = Tally::new(size_bytes);
        for extent in extents {
            tally.add(*extent);
        }
        tally.sum
    }

    #[test]
    fn extents_that_follow_each_other_on_the_disk_are_one() {
        for (what, extents, count) in [
            ("none", &[][..], 0),
            ("one", &[extent(0, 8, 4)], 1),
            ("noted in two", &[extent(0, 8, 4), extent(4, 12, 4)], 1),
            ("apart", &[extent(0, 8, 4), extent(4, 16, 4)], 2),
            ("backwards", &[extent(0, 8, 4), extent(4, 4, 4)], 2),
            (
                "at once behind a hole",
                &[extent(0, 8, 4), extent(8, 12, 4)],
                1,
            ),
            (
                "as far as the hole",
                &[extent(0, 8, 4), extent(8, 16, 4)],
                1,
            ),
            (
                "farther than the hole",
                &[extent(0, 8, 4), extent(8, 20, 4)],
                2,
            ),
        ] {
            assert_eq!(sum(100, extents).count, count, "{what}");
        }
    }

    #[test]
    fn what_has_no_space_is_hole_and_what_lies_past_the_end_is_not_of_the_file() {
        let reserved = Extent {
            is_unwritten: true,
            ..extent(16, 40, 8)
        };
        let sum = sum(18, &[extent(4, 8, 4), reserved]);
        assert_eq!(sum.hole_bytes, 4 + 8);
        assert_eq!((sum.allocated_bytes, sum.unwritten_bytes), (12, 8));
        assert_eq!((sum.count, sum.beyond_one(), sum.mean_bytes()), (2, 1, 6));
        let inline = Extent {
            place: Place::Inline,
            ..extent(0, 0, 60)
        };
        assert_eq!(self::sum(60, &[inline]).count, 1);
        assert_eq!(self::sum(60, &[]).mean_bytes(), 0);
    }
}
