//! What writers do where the format leaves them free.
//!
//! The format says neither how inodes are numbered nor in which order they lie, nor what the root
//! directory's parent is. Each writer has ways of its own, seen in images of mksquashfs 4.5.1 and
//! 4.7.5, gensquashfs and tar2sqfs 1.2.0 and coldpress.

use std::collections::HashSet;

use coldpress_codec::{Recipe, Tuning};
use coldpress_format::{BlockSize, Body, Compressor, Inode, InodeRef};
use coldpress_image::Image;

use super::Tool;
use crate::error::Error;

/// Habits of the writer of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that was seen"
)]
pub struct Habits {
    /// The number that the root directory states for its parent, which it does not have.
    pub root_parent: u32,
    /// The number of inodes.
    pub inode_count: u32,
    /// How inodes are numbered.
    pub numbering: Numbering,
    /// Whether directories count every entry as a link to them, not only directories.
    pub links_count_entries: bool,
    /// Whether a file has several names.
    pub has_hard_links: bool,
    /// Whether everything belongs to user and group 0.
    pub is_all_root: bool,
    /// Whether the root directory has another time than the image.
    pub root_has_own_time: bool,
    /// Whether something else has.
    pub files_have_own_times: bool,
    /// Whether there are files of more than a block with a partial last one, and none of those is a
    /// tail end in a fragment block.
    pub large_files_lack_tails: bool,
}

/// How inodes are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// As they lie in the inode table.
    Table,
    /// As a walk meets them, directories before what they hold, the root last.
    Walk,
    /// Either: the tree is too flat to tell.
    TableAndWalk,
    /// Otherwise.
    Other,
}

/// Reads the tree.
pub(super) fn read(image: &Image) -> Result<Habits, Error> {
    let root = image.root()?;
    // `Image::root` refuses anything else.
    let (root_parent, entry_count) = match &root.body {
        Body::Directory(directory) => (directory.parent, image.entries(directory)?.len()),
        _ => (0, 0),
    };
    let root_links = root.link_count as usize;
    let mut numbers: Vec<(InodeRef, u32)> = Vec::new();
    let mut seen = HashSet::new();
    let (mut is_walk, mut next) = (true, 1);
    let mut has_hard_links = false;
    let mut root_directories = 0;
    let mut is_all_root = true;
    let time_s = image.superblock().modification_time_s;
    let mut files_have_own_times = false;
    let (mut has_large, mut has_large_tail) = (false, false);
    coldpress_image::walk(image, &mut |visited| {
        let is_directory = matches!(visited.inode.body, Body::Directory(_));
        root_directories += usize::from(is_directory && visited.depth == 1);
        if !seen.insert(visited.at) {
            has_hard_links = true;
            return Ok(());
        }
        is_all_root &= image.owner(visited.inode)? == (0, 0);
        if let Some(has_tail) = large_tail(visited.inode, image.superblock().block_size) {
            has_large = true;
            has_large_tail |= has_tail;
        }
        if visited.depth > 0 {
            files_have_own_times |= visited.inode.mtime_s != time_s;
            is_walk &= visited.inode.number == next;
            next += 1;
        }
        numbers.push((visited.at, visited.inode.number));
        Ok(())
    })?;
    numbers.sort_unstable();
    let is_table = (1..)
        .zip(&numbers)
        .all(|(place, (_, number))| place == *number);
    Ok(Habits {
        root_parent,
        inode_count: image.superblock().inode_count,
        numbering: match (is_table, is_walk) {
            (true, true) => Numbering::TableAndWalk,
            (true, false) => Numbering::Table,
            (false, true) => Numbering::Walk,
            (false, false) => Numbering::Other,
        },
        links_count_entries: root_links == entry_count + 2 && root_directories < entry_count,
        has_hard_links,
        is_all_root,
        root_has_own_time: root.mtime_s != time_s,
        files_have_own_times,
        large_files_lack_tails: has_large && !has_large_tail,
    })
}

/// Whether a file of more than a block has its partial last one in a fragment block; `None` for
/// what has none.
fn large_tail(inode: &Inode, block_size: BlockSize) -> Option<bool> {
    let Body::File(file) = &inode.body else {
        return None;
    };
    let block_bytes = u64::from(block_size.bytes());
    let is_large = file.size_bytes > block_bytes && !file.size_bytes.is_multiple_of(block_bytes);
    is_large.then_some(file.tail.is_some())
}

impl Habits {
    /// The tool that has them, with what its blocks say.
    pub(super) fn tool(&self, recipe: Option<Recipe>) -> Tool {
        let is_table = matches!(self.numbering, Numbering::Table | Numbering::TableAndWalk);
        if self.root_parent == 0 && is_table {
            // gensquashfs makes copies of hard links, and gives the root directory the time of the
            // image.
            return if self.has_hard_links || self.root_has_own_time {
                Tool::Tar2sqfs
            } else {
                Tool::SquashfsToolsNg
            };
        }
        if self.root_parent != self.inode_count.wrapping_add(1) {
            return Tool::Unknown;
        }
        match (self.numbering, recipe.and_then(maker)) {
            (Numbering::Table, None | Some(Tool::Coldpress)) => Tool::Coldpress,
            (Numbering::Walk, None | Some(Tool::Mksquashfs)) => Tool::Mksquashfs,
            (Numbering::TableAndWalk, Some(tool)) => tool,
            (Numbering::TableAndWalk, None) => Tool::MksquashfsOrColdpress,
            _ => Tool::Unknown,
        }
    }
}

/// The tool that alone has an encoder; `None` if several do.
fn maker(recipe: Recipe) -> Option<Tool> {
    match recipe {
        Recipe::Zlib { .. } | Recipe::Liblzma { .. } => Some(Tool::Mksquashfs),
        Recipe::Encoder(settings) => match (settings.compressor, settings.tuning) {
            (Compressor::Gzip | Compressor::Lzo | Compressor::Xz, _) | (_, Tuning::Gzip(_)) => {
                Some(Tool::Coldpress)
            }
            _ => None,
        },
    }
}
