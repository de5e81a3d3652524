//! What an older image has of a source, for orders that keep it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use coldpress_format::File;
use coldpress_image::{Image, walk};
use coldpress_layout::{Former, FormerItem, Item, NodeId};

use crate::error::Error;
use crate::options::Options;
use crate::progress::Progress;
use crate::reuse::check_settings;
use crate::source::Source;
use crate::verify::{What, verify};

/// Compares an older image with a source, and tells what of it did not change.
///
/// # Errors
///
/// [`Error::Image`] if the image is damaged, [`Error::NotReusable`] if it has another compressor or
/// block size than `options` say, so that nothing of it could stay as it is; [`Error`] if the
/// source cannot be read, or the caller stops it.
///
/// # Cost
///
/// As [`verify`]: reads and decompresses everything once.
pub fn former(
    image: &Image,
    source: &Source,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Former, Error> {
    check_settings(image, options)?;
    let mut found = Found {
        source,
        changed: changed(image, source, progress)?,
        items: Vec::new(),
        fragments: HashMap::new(),
    };
    let mut seen = HashSet::new();
    walk(image, &mut |visited| {
        // Of several names each may be a file of its own in the source, but blocks are read once.
        let is_new = visited.inode.link_count <= 1 || seen.insert(visited.at);
        let node = source.tree.find(visited.path);
        if let Some(file) = visited.file(image)?.filter(|_| is_new || node.is_some()) {
            found.note(image, &file, node, is_new);
        }
        Ok(())
    })?;
    Ok(found.finish(options))
}

/// The files of a source that the image does not have, or has with other content.
fn changed(
    image: &Image,
    source: &Source,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<HashSet<NodeId>, Error> {
    let differences = verify(image, source, &BTreeMap::new(), progress)?;
    let is_content = |what: &What| match what {
        What::Missing | What::Type | What::Content { .. } => true,
        What::Metadata { field, .. } => *field == "size",
        _ => false,
    };
    let changed = differences.iter().filter(|it| is_content(&it.what));
    Ok(changed
        .filter_map(|difference| source.tree.find(&difference.path))
        .collect())
}

/// What was found so far.
struct Found<'a> {
    source: &'a Source,
    changed: HashSet<NodeId>,
    items: Vec<FormerItem>,
    /// By image byte.
    fragments: HashMap<u64, Fragment>,
}

/// A fragment block.
#[derive(Default)]
struct Fragment {
    size_bytes: u64,
    tails: Vec<FormerTail>,
}

/// A tail end in a fragment block.
struct FormerTail {
    offset: u32,
    len: u32,
    /// Whose it is, if that did not change.
    node: Option<NodeId>,
}

impl Found<'_> {
    /// * `node`: what the source has at the path.
    fn note(&mut self, image: &Image, file: &File, node: Option<NodeId>, is_new: bool) {
        let node = node.filter(|node| self.source.tree.file_size(*node).is_some());
        let is_same = node.is_some_and(|node| !self.changed.contains(&node));
        if let Some(node) = node
            && !file.blocks.is_empty()
        {
            let sizes = file.blocks.iter().map(|word| u64::from(word.size_bytes()));
            self.items.push(FormerItem {
                item: Item::Blocks(node),
                start: file.start,
                size_bytes: sizes.sum(),
                is_same,
            });
        }
        let tail = file.tail.filter(|_| is_new || is_same);
        let Some((tail, stored)) = tail.and_then(|it| Some((it, image.stored_fragment(it)?)))
        else {
            return;
        };
        let fragment = self.fragments.entry(stored.start).or_default();
        fragment.size_bytes = stored.word.size_bytes().into();
        fragment.tails.push(FormerTail {
            offset: tail.offset,
            len: image.superblock().block_size.tail_bytes(file.size_bytes),
            node: node.filter(|_| is_same),
        });
    }

    fn finish(mut self, options: &Options) -> Former {
        for (start, fragment) in self.fragments {
            let size_bytes = fragment.size_bytes;
            let (members, is_same) = fragment.members();
            self.items.push(FormerItem {
                item: Item::Fragment(members),
                start,
                size_bytes,
                is_same,
            });
        }
        Former::new(&self.source.tree, options.block_size, self.items)
    }
}

impl Fragment {
    /// Whose unchanged tail ends it has, and whether these follow each other and are all.
    fn members(mut self) -> (Vec<NodeId>, bool) {
        // Files with the same tail end may share it: one that did not change is enough.
        let tails = &mut self.tails;
        tails.sort_by_key(|tail| (tail.offset, tail.node.is_none(), tail.node));
        tails.dedup_by_key(|tail| tail.offset);
        let (mut end, mut is_same) = (0, true);
        for tail in tails {
            is_same &= tail.offset == end && tail.node.is_some();
            end = tail.offset.saturating_add(tail.len);
        }
        let members = self.tails.into_iter().filter_map(|tail| tail.node);
        (members.collect(), is_same)
    }
}
