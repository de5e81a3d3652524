//! Content from one file to another: where there is any.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::{ControlFlow, Range};
use std::os::unix::fs::FileExt;

use rustix::fs::{Advice, FallocateFlags, SeekFrom, fadvise, fallocate};
use rustix::io::Errno;

use crate::extents::for_each_extent;
use crate::leased_file::{LeasedFile, Refusal};
use crate::{Error, Place};

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 20;

/// What is done with bytes of a file and their offset.
type Each<'a> = dyn FnMut(&[u8], u64) -> Result<(), Error> + 'a;

/// Reserves for a new file all that the old one has space for, what was never written and what lies
/// past its end too.
///
/// With its holes, which are punched afterwards, so that all of it gets one place; without, if they
/// are most of it or there is not so much space.
pub(super) fn reserve(held: &LeasedFile, new: &File) -> Result<(), Error> {
    let ranges = ranges(held)?;
    let size_bytes = held.metadata().len();
    let failed = |action| Error::io(action, held.path());
    let set_len = |len| {
        new.set_len(len)
            .map_err(failed("give its size to a copy of"))
    };
    set_len(size_bytes)?;
    if reserve_at_once(new, &ranges).is_err() {
        // Frees what was reserved of it.
        set_len(0)?;
        set_len(size_bytes)?;
        for range in &ranges {
            allocate(new, FallocateFlags::KEEP_SIZE, range)
                .map_err(failed("reserve space for a copy of"))?;
        }
    }
    Ok(())
}

/// What a file has space for, without what lies in its inode; ranges that touch each other are one.
fn ranges(held: &LeasedFile) -> Result<Vec<Range<u64>>, Error> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for_each_extent(held.file(), held.path(), &mut |extent| {
        let (start, end) = (extent.offset, extent.end());
        match ranges.last_mut() {
            _ if extent.place == Place::Inline || start == end => {}
            Some(last) if last.end == start => last.end = end,
            _ => ranges.push(start..end),
        }
    })?;
    Ok(ranges)
}

fn reserve_at_once(new: &File, ranges: &[Range<u64>]) -> io::Result<()> {
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else {
        return Ok(());
    };
    let space_bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    let all = first.start..last.end;
    if all.end - all.start > space_bytes.saturating_mul(2) {
        return Err(ErrorKind::StorageFull.into());
    }
    allocate(new, FallocateFlags::KEEP_SIZE, &all)?;
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let holes = ranges.iter().zip(ranges.iter().skip(1));
    for (before, behind) in holes {
        allocate(new, punch, &(before.end..behind.start))?;
    }
    Ok(())
}

fn allocate(new: &File, flags: FallocateFlags, range: &Range<u64>) -> io::Result<()> {
    Ok(fallocate(new, flags, range.start, range.end - range.start)?)
}

/// Copies what was written. `copy_file_range(2)` would share the old blocks where the file system
/// can.
pub(super) fn copy(
    held: &LeasedFile,
    new: &File,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(), Error> {
    for_each_piece(held, progress, &mut |bytes, offset| {
        new.write_all_at(bytes, offset)
            .map_err(Error::io("write a copy of", held.path()))
    })
}

/// Compares what was written with what a new file holds on its disk.
pub(super) fn compare(
    held: &LeasedFile,
    new: &File,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(), Error> {
    // What is compared shall come from the disk. It is only advice, and the comparison is one in
    // any case.
    let _ = fadvise(new, 0, None, Advice::DontNeed);
    let mut buffer = vec![0; BUFFER_BYTES];
    for_each_piece(held, progress, &mut |bytes, offset| {
        let read = buffer.get_mut(..bytes.len()).unwrap_or_default();
        new.read_exact_at(read, offset)
            .map_err(Error::io("read back a copy of", held.path()))?;
        if read == bytes {
            return Ok(());
        }
        let error = io::Error::new(
            ErrorKind::InvalidData,
            "it is not what was written; the disk or the memory is faulty",
        );
        Err(Error::io("read back a copy of", held.path())(error))
    })
}

/// Whether two files hold the same bytes.
pub(super) fn is_same_content(held: &LeasedFile, other: &File) -> Result<bool, Error> {
    let mut is_same = other
        .metadata()
        .is_ok_and(|metadata| metadata.len() == held.metadata().len());
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut go_on = |_| ControlFlow::Continue(());
    // Where only the other one was written, this one has to be read as well: everything is.
    each_buffer(
        held,
        0..held.metadata().len(),
        &mut go_on,
        &mut |bytes, offset| {
            let read = buffer.get_mut(..bytes.len()).unwrap_or_default();
            is_same = is_same && other.read_exact_at(read, offset).is_ok() && read == bytes;
            Ok(())
        },
    )?;
    Ok(is_same)
}

/// Calls `each` with all bytes that were written and their offsets.
fn for_each_piece(
    held: &LeasedFile,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    each: &mut Each<'_>,
) -> Result<(), Error> {
    let mut position = 0;
    while let Some(written) = written_behind(held, position)? {
        position = written.end;
        each_buffer(held, written, progress, each)?;
    }
    Ok(())
}

fn each_buffer(
    held: &LeasedFile,
    range: Range<u64>,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    each: &mut Each<'_>,
) -> Result<(), Error> {
    let at_once = |left_bytes: u64| {
        let left_bytes = usize::try_from(left_bytes).unwrap_or(BUFFER_BYTES);
        left_bytes.min(BUFFER_BYTES)
    };
    let mut buffer = vec![0; at_once(range.end - range.start)];
    let mut offset = range.start;
    while offset < range.end {
        let wanted = at_once(range.end - offset);
        let bytes = buffer.get_mut(..wanted).unwrap_or_default();
        held.file()
            .read_exact_at(bytes, offset)
            .map_err(Error::io("read", held.path()))?;
        each(bytes, offset)?;
        held.check_alone()?;
        let len_bytes = bytes.len() as u64;
        if progress(len_bytes).is_break() {
            return Err(Error::Stopped);
        }
        offset += len_bytes;
    }
    Ok(())
}

/// The next bytes that were written; `None` if there are none up to the end.
fn written_behind(held: &LeasedFile, position: u64) -> Result<Option<Range<u64>>, Error> {
    let size_bytes = held.metadata().len();
    let seek = |from| match rustix::fs::seek(held.file(), from) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NXIO) => Ok(None),
        Err(error) => Err(Error::errno("find the content of", held.path())(error)),
    };
    let Some(start) = seek(SeekFrom::Data(position))?.filter(|start| *start < size_bytes) else {
        return Ok(None);
    };
    // A file can grow only if somebody opened it, which is told elsewhere.
    let end = seek(SeekFrom::Hole(start))?.unwrap_or(size_bytes);
    let end = end.min(size_bytes);
    if end <= start {
        return Err(held.refused(Refusal::Opened));
    }
    Ok(Some(start..end))
}
