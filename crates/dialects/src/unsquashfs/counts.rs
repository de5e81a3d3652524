//! The lines that unsquashfs prints before and behind an extraction.

use std::collections::HashSet;

use coldpress_format::Body;
use coldpress_image::{Extracted, Image, walk_chosen};

use super::cursor::Verdict;
use super::selection::Selection;

/// What is to be extracted.
#[derive(Debug, Default)]
pub struct Work {
    /// Names of everything but directories.
    names: u64,
    blocks: u64,
    /// Bytes of files; those with several names count once.
    pub content_bytes: u64,
}

impl Work {
    /// Counts it.
    ///
    /// # Errors
    ///
    /// If the image is damaged.
    pub fn scan(image: &Image, selection: &Selection) -> anyhow::Result<Self> {
        let block_bytes = u64::from(image.superblock().block_size.bytes());
        let mut work = Self::default();
        let mut linked = HashSet::new();
        let mut cursor = selection.cursor();
        walk_chosen(image, &mut |visited| -> anyhow::Result<bool> {
            let verdict = cursor.visit(visited);
            let inode = visited.inode;
            let is_directory = matches!(inode.body, Body::Directory(_));
            if verdict == Verdict::Leave || is_directory {
                return Ok(verdict == Verdict::Enter);
            }
            work.names += 1;
            let is_new = inode.link_count == 1 || linked.insert(inode.number);
            if let (Body::File(file), true) = (&inode.body, is_new) {
                work.blocks = work
                    .blocks
                    .saturating_add(file.size_bytes.div_ceil(block_bytes));
                work.content_bytes = work.content_bytes.saturating_add(file.size_bytes);
            }
            Ok(false)
        })?;
        Ok(work)
    }

    /// The first lines of unsquashfs.
    pub fn text(&self, threads: usize) -> String {
        let s = if threads == 1 { "" } else { "s" };
        let Self { names, blocks, .. } = self;
        format!(
            "Parallel unsquashfs: Using {threads} processor{s}\n\
             {names} inodes ({blocks} blocks) to write\n\n"
        )
    }
}

/// The last lines of unsquashfs.
pub fn created(extracted: &Extracted) -> String {
    let counts = [
        (extracted.files, "file", "files"),
        (extracted.directories, "directory", "directories"),
        (extracted.symlinks, "symlink", "symlinks"),
        (extracted.devices, "device", "devices"),
        (extracted.fifos, "fifo", "fifos"),
        (extracted.sockets, "socket", "sockets"),
        (extracted.hard_links, "hardlink", "hardlinks"),
    ];
    let lines = counts.iter().map(|(count, one, many)| {
        let what = if *count == 1 { one } else { many };
        format!("created {count} {what}\n")
    });
    "\n".to_owned() + &lines.collect::<String>()
}
