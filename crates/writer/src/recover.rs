//! Recovery files of mksquashfs: the tables of an image that it was appending to when it was
//! killed.
//!
//! Source: the behavior of mksquashfs 4.7.5 and 4.5.1. A recovery file is a line of text, the
//! superblock, and all bytes from the inode table to the end of the image. While mksquashfs
//! appends, the image has no magic number, and its tables may be overwritten.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use coldpress_format::{PADDING_SIZE, SUPERBLOCK_SIZE, Superblock};

use crate::error::{self, Error};

/// The line of text.
const HEADER: &[u8] = b"Squashfs recovery file v1.0\n";
/// Bytes that are copied at once.
const COPY_BYTES: usize = 1 << 16;

/// Gives an image the tables that a recovery file of mksquashfs holds.
///
/// The tables are durable before the superblock is written: what ends the work halfway leaves an
/// image that can be recovered again.
///
/// * `offset_bytes`: byte of the file at which the image begins.
///
/// # Errors
///
/// [`Error::NotRecoverable`] if it is no recovery file, or one of another image; [`Error::Source`]
/// and [`Error::Output`] if one of them cannot be read or written.
pub fn recover(path: &Path, offset_bytes: u64, recovery: &Path) -> Result<(), Error> {
    let refuse = |reason| Error::NotRecoverable {
        path: path.to_path_buf(),
        recovery: recovery.to_path_buf(),
        reason,
    };
    let unread = |error| error::source("read", recovery)(error);
    let fail = |error| Error::Output {
        action: "recover",
        path: path.to_path_buf(),
        error,
    };
    let saved = File::open(recovery).map_err(unread)?;
    let mut beginning = [0; HEADER.len() + SUPERBLOCK_SIZE];
    let read = saved.read_exact_at(&mut beginning, 0);
    read.map_err(|_| refuse("it is not a recovery file, or is cut short"))?;
    let (header, superblock_bytes) = beginning.split_at(HEADER.len());
    if header != HEADER {
        return Err(refuse(
            "it does not begin as recovery files of mksquashfs do",
        ));
    }
    let superblock = Superblock::parse(superblock_bytes);
    let superblock = superblock.map_err(|_| refuse("it holds no superblock of SquashFS 4.0"))?;
    let file = OpenOptions::new().read(true).write(true).open(path);
    let file = file.map_err(fail)?;
    let mut found = [0; SUPERBLOCK_SIZE];
    let read = file.read_exact_at(&mut found, offset_bytes);
    read.map_err(|_| refuse("no image begins there"))?;
    // The magic number is the first thing that mksquashfs takes away.
    if found[4..] != superblock_bytes[4..] {
        return Err(refuse(
            "it belongs to another image, or the image has changed since: if mksquashfs finished, \
             there is nothing to recover",
        ));
    }
    let tables_bytes = superblock.bytes_used - superblock.inode_table_start;
    let saved_bytes = saved.metadata().map_err(unread)?.len();
    if saved_bytes.saturating_sub(beginning.len() as u64) < tables_bytes {
        return Err(refuse("it is cut short"));
    }
    let to = offset_bytes + superblock.inode_table_start;
    if file.metadata().map_err(fail)?.len() < to {
        return Err(refuse(
            "the image is cut short: data is missing, not only tables",
        ));
    }
    copy(&saved, beginning.len() as u64, &file, to, tables_bytes).map_err(fail)?;
    let end = offset_bytes + superblock.bytes_used.next_multiple_of(PADDING_SIZE);
    let finish = || {
        if file.metadata()?.len() < end {
            file.set_len(end)?;
        }
        file.sync_all()?;
        file.write_all_at(superblock_bytes, offset_bytes)?;
        file.sync_all()
    };
    finish().map_err(fail)
}

/// Copies bytes from a place in one file to a place in another.
fn copy(from: &File, mut start: u64, to: &File, mut at: u64, mut left: u64) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    while left > 0 {
        let len = usize::try_from(left).map_or(COPY_BYTES, |left| left.min(COPY_BYTES));
        let piece = &mut buffer[..len];
        from.read_exact_at(piece, start)?;
        to.write_all_at(piece, at)?;
        start += len as u64;
        at += len as u64;
        left -= len as u64;
    }
    Ok(())
}
