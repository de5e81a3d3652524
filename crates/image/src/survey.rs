//! Reading every inode and listing, and noting where each lies, what it refers to, and which rules
//! it breaks.
//!
//! First the tree is walked from the root. Nothing that is damaged ends the walk: the other entries
//! of a listing are visited all the same. Then the inode table is read from its beginning to its
//! end, which finds the inodes that no directory names and the bytes that belong to none.

mod blocks;
mod file;
mod index;
mod inodes;
mod listing;
mod rules;
mod tree;
mod xattrs;

pub(crate) use blocks::{Block, Blocks};
pub(crate) use listing::{ENTRY_BYTES, HEADER_BYTES, Header, Piece, RawEntry, pieces};
pub(crate) use xattrs::{Pair, XattrSpan};

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use coldpress_format::{Body, Inode, InodeKind, InodeRef};

use crate::error::Error;
use crate::extents::{self, Extent, Kind};
use crate::findings::Findings;
use crate::image::Image;
use crate::walk::push_name;

/// Paths in problems are cut to about this: `PATH_MAX` of Linux.
const PATH_MAX_BYTES: usize = 4096;

/// An inode that was found.
#[derive(Debug)]
pub(crate) struct Node {
    /// Its number.
    pub(crate) number: u32,
    /// Where it lies.
    pub(crate) at: InodeRef,
    pub(crate) kind: InodeKind,
    pub(crate) link_count: u32,
    /// Its set of xattrs.
    pub(crate) xattr: Option<u32>,
    /// Entries that name it; 0 if it was found in the inode table only.
    pub(crate) named: u32,
    /// Entries of a directory's listing.
    pub(crate) entries: u32,
    /// The directory that names it first, and the name; the root's is its own.
    parent: usize,
    name: Box<[u8]>,
}

impl Node {
    fn new(at: InodeRef, inode: &Inode, named: u32, (parent, name): (usize, &[u8])) -> Self {
        Self {
            number: inode.number,
            at,
            kind: inode.body.kind(),
            link_count: inode.link_count,
            xattr: inode.xattr,
            named,
            entries: 0,
            parent,
            name: name.into(),
        }
    }
}

/// A tail end in a fragment block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tail {
    /// Index of the fragment block.
    pub(crate) fragment: u32,
    /// Byte in the decompressed fragment block.
    pub(crate) offset: u32,
    pub(crate) len_bytes: u32,
    /// The node of the file.
    pub(crate) node: u32,
}

/// Bytes of a table before compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// Position of the first byte in the table.
    pub(crate) start: u64,
    /// Position behind the last.
    pub(crate) end: u64,
    /// Whose inode or listing they are.
    pub(crate) node: usize,
}

/// A table whose metadata blocks follow each other.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// Its metadata blocks.
    pub(crate) blocks: Blocks,
    /// What lies in it, by position.
    pub(crate) spans: Vec<Span>,
    /// References to what is no metadata block of it: the image byte, and who lies there.
    pub(crate) strays: Vec<(u64, usize)>,
}

/// Where the listing of a directory lies.
struct ListingPlace {
    /// Image byte of the metadata block in which it begins.
    start: u64,
    offset: u64,
    len_bytes: u64,
    node: usize,
}

/// What was found.
pub(crate) struct Survey {
    /// The inodes in walking order, the root first; then those that no directory names.
    pub(crate) nodes: Vec<Node>,
    /// Data and fragment blocks by position.
    pub(crate) extents: Vec<Extent>,
    /// Tail ends by fragment block and offset.
    pub(crate) tails: Vec<Tail>,
    pub(crate) inode_table: Account,
    pub(crate) directory_table: Account,
    /// The metadata blocks of the xattr pairs.
    pub(crate) xattr_blocks: Blocks,
    /// Sets and values of xattrs by position.
    pub(crate) xattr_spans: Vec<XattrSpan>,
    /// Indexes in the id table that inodes name.
    pub(crate) ids_used: HashSet<u16>,
    /// Whether all that the root leads to could be read.
    pub(crate) complete: bool,
    by_number: HashMap<u32, usize>,
    listings: Vec<ListingPlace>,
}

impl Survey {
    fn new() -> Self {
        Self {
            nodes: Vec::new(),
            extents: Vec::new(),
            tails: Vec::new(),
            inode_table: Account::default(),
            directory_table: Account::default(),
            xattr_blocks: Blocks::default(),
            xattr_spans: Vec::new(),
            ids_used: HashSet::new(),
            complete: true,
            by_number: HashMap::new(),
            listings: Vec::new(),
        }
    }

    /// The path of an inode, the first of several; the end of it, if it is very long. `None` if no
    /// directory names it.
    pub(crate) fn path(&self, node: usize) -> Option<Vec<u8>> {
        let mut node = self.nodes.get(node).filter(|node| node.named > 0)?;
        let (mut names, mut len, mut path) = (Vec::new(), 0, Vec::new());
        while !node.name.is_empty() {
            if len > PATH_MAX_BYTES {
                path = b"...".to_vec();
                break;
            }
            len += node.name.len() + 1;
            names.push(&node.name);
            node = self.nodes.get(node.parent)?;
        }
        if names.is_empty() {
            path.push(b'/');
        }
        for name in names.into_iter().rev() {
            push_name(&mut path, name);
        }
        Some(path)
    }

    fn path_in(&self, parent: usize, name: &[u8]) -> Option<Vec<u8>> {
        let mut path = self.path(parent)?;
        if !name.is_empty() {
            push_name(&mut path, name);
        }
        Some(path)
    }

    /// Whether the whole inode table could be read; if not, what lost inodes refer to seems to be
    /// nobody's.
    pub(crate) fn has_all_inodes(&self) -> bool {
        let mut blocks = self.inode_table.blocks.iter();
        !self.nodes.is_empty() && blocks.all(|block| block.len_bytes > 0)
    }

    /// The node with this inode number.
    pub(crate) fn node_of_number(&self, number: u32) -> Option<usize> {
        self.by_number.get(&number).copied()
    }

    /// The tail ends in a fragment block, by offset.
    pub(crate) fn tails_of(&self, fragment: u32) -> &[Tail] {
        let first = self.tails.partition_point(|tail| tail.fragment < fragment);
        let end = self.tails.partition_point(|tail| tail.fragment <= fragment);
        self.tails.get(first..end).unwrap_or_default()
    }

    /// Notes a node; returns its index.
    fn push(&mut self, node: Node) -> usize {
        self.by_number
            .entry(node.number)
            .or_insert(self.nodes.len());
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Notes where the listing of a directory lies.
    fn note_listing(&mut self, image: &Image, inode: &Inode, node: usize) {
        if let Body::Directory(directory) = &inode.body
            && directory.listing_bytes > 0
        {
            self.listings.push(ListingPlace {
                start: image.listing_start(directory),
                offset: directory.offset.into(),
                len_bytes: directory.listing_bytes.into(),
                node,
            });
        }
    }

    /// The directory table and the listings in it.
    fn directory_table(&mut self, image: &Image, findings: &mut Findings) -> Account {
        let listings = std::mem::take(&mut self.listings);
        let mut hints: Vec<u64> = listings.iter().map(|place| place.start).collect();
        hints.sort_unstable();
        let blocks = Blocks::scan(image, image.directory_table, &hints, findings);
        let (mut spans, mut strays) = (Vec::new(), Vec::new());
        for place in listings {
            match blocks.position(place.start, place.offset) {
                Some(start) => spans.push(Span {
                    start,
                    end: start
                        .saturating_add(place.len_bytes)
                        .min(blocks.len_bytes().max(start)),
                    node: place.node,
                }),
                None => strays.push((place.start, place.node)),
            }
        }
        spans.sort_unstable();
        strays.sort_unstable();
        Account {
            blocks,
            spans,
            strays,
        }
    }
}

/// Reads all metadata and notes what it finds; what is wrong is added to `findings`.
///
/// # Errors
///
/// [`Error::Interrupted`] only, if `poll` breaks.
pub(crate) fn survey(
    image: &Image,
    findings: &mut Findings,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Survey, Error> {
    let mut survey = tree::walk(image, findings, poll)?;
    inodes::scan(&mut survey, image, findings, poll)?;
    survey.directory_table = survey.directory_table(image, findings);
    xattrs::scan(&mut survey, image, findings, poll)?;
    for (index, fragment) in (0_u32..).zip(image.fragments()) {
        if !fragment.size.is_sparse() {
            survey.extents.push(Extent {
                start: fragment.start,
                word: fragment.size.word(),
                kind: Kind::Fragment(index),
            });
        }
    }
    extents::sort(&mut survey.extents);
    survey.tails.sort_unstable();
    Ok(survey)
}
