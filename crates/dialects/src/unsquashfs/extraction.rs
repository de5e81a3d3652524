//! What a request says of the files that are extracted.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::anyhow;
use coldpress_format::{Body, Inode};
use coldpress_image::{Choice, Image, Metadata, Visited, walk_chosen};
use coldpress_report::failure::hint;
use coldpress_report::text::{base_name, quoted};

use super::cursor::{Cursor, Verdict};
use super::request::Request;
use super::selection::Selection;

/// What becomes of a path that is visited, in the order of a walk.
pub fn choice(cursor: &mut Cursor<'_>, visited: &Visited) -> Choice {
    match cursor.visit(visited) {
        Verdict::Leave => Choice::Leave,
        Verdict::Take | Verdict::Enter => Choice::Take,
    }
}

/// Replaces what the command line replaces.
pub fn change(request: &Request, inode: &Inode, metadata: &mut Metadata) {
    let owners = &request.owners;
    metadata.uid = owners.uid.or(metadata.uid);
    metadata.gid = owners.gid.or(metadata.gid);
    metadata.mtime_s = request.time_s.unwrap_or(metadata.mtime_s);
    let is_directory = matches!(inode.body, Body::Directory(_));
    let mode = if is_directory {
        &owners.directory_mode
    } else {
        &owners.file_mode
    };
    if let Some(mode) = mode {
        metadata.mode = mode.apply(metadata.mode, is_directory);
    }
}

/// Whether the destination holds something. What is in the way of the extraction must be replaced.
///
/// Only the entries of the root directory are looked for: a directory that is there is in the way
/// too.
///
/// # Errors
///
/// If something is in the way and may not be replaced.
pub fn is_filled(image: &Image, request: &Request, selection: &Selection) -> anyhow::Result<bool> {
    let destination = &request.destination;
    let Ok(mut there) = destination.read_dir() else {
        return Ok(false);
    };
    if there.next().is_none() {
        return Ok(false);
    }
    if request.force {
        return Ok(true);
    }
    let mut cursor = selection.cursor();
    walk_chosen(image, &mut |visited| -> anyhow::Result<bool> {
        let is_taken = cursor.visit(visited) != Verdict::Leave;
        if visited.depth == 0 {
            return Ok(true);
        }
        let path = destination.join(OsStr::from_bytes(base_name(visited.path)));
        if is_taken && path.symlink_metadata().is_ok() {
            let error = anyhow!("{} exists", quoted(&path));
            return Err(hint(
                error,
                "add -force to replace files and add to directories",
            ));
        }
        Ok(false)
    })?;
    Ok(true)
}
