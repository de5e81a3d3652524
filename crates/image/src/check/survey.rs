//! Reading every inode and listing that can be reached, noting what they say about each other.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::vec;

use coldpress_format::{
    Body, Corrupt, Directory, Entry, File, Inode, InodeKind, InodeRef, Part, Rule, parse_listing,
};

use super::data::{Extent, Length};
use super::listing::check_index;
use super::{Findings, equal, within};
use crate::error::Error;
use crate::file::{data_blocks, tail_len};
use crate::image::Image;
use crate::walk::{Bounds, push_name};

/// Paths in problems are cut to about this: `PATH_MAX` of Linux.
const PATH_MAX_BYTES: usize = 4096;
/// Inodes between two calls of the progress callback.
const PROGRESS_INODES: u64 = 1024;
/// The most bytes of xattrs that are read: sets may share values, so a small image may hold sets
/// of any size together.
const XATTRS_MAX_BYTES: u64 = 1 << 30;

/// An inode that was found.
pub(super) struct Node {
    /// Its number.
    pub(super) number: u32,
    /// Where it lies.
    pub(super) at: InodeRef,
    kind: InodeKind,
    link_count: u32,
    /// Entries that name it.
    named: u32,
    /// Entries of a directory's listing.
    entries: u32,
    /// Index of the directory that names it first, and the name; the root's is its own.
    parent: usize,
    name: Box<[u8]>,
}

impl Node {
    fn new(parent: usize, entry: &Entry, inode: &Inode) -> Self {
        Self {
            number: inode.number,
            at: entry.inode,
            kind: inode.body.kind(),
            link_count: inode.link_count,
            named: 1,
            entries: 0,
            parent,
            name: entry.name.as_slice().into(),
        }
    }

    /// Checks the link count: of directories writers disagree whether files count.
    pub(super) fn check_links(&self, at: (Part, u64)) -> Result<(), Corrupt> {
        let found = u64::from(self.link_count);
        if self.kind == InodeKind::Directory {
            return within(at, "link count", found, (2, 2 + u64::from(self.entries)));
        }
        equal(at, "link count", found, self.named.into())
    }
}

/// What was found.
pub(super) struct Survey {
    /// The inodes in walking order, the root first.
    pub(super) nodes: Vec<Node>,
    /// The data blocks; the owner is the index of a node.
    pub(super) extents: Vec<Extent>,
    /// For each fragment block, how many bytes of it tail ends use.
    pub(super) fragment_bytes: Vec<u64>,
    /// Whether everything could be read.
    pub(super) complete: bool,
    by_number: HashMap<u32, usize>,
    xattr_sets: HashSet<u32>,
    xattr_bytes: u64,
    bounds: Bounds,
}

impl Survey {
    /// The path of an inode, the first of several; the end of it, if it is very long.
    pub(super) fn path(&self, node: &Node) -> Option<Vec<u8>> {
        let mut names = Vec::new();
        let (mut node, mut len, mut path) = (node, 0, Vec::new());
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
        let mut path = self.path(self.nodes.get(parent)?)?;
        if !name.is_empty() {
            push_name(&mut path, name);
        }
        Some(path)
    }
}

/// A directory whose entries are being visited.
struct Level {
    node: usize,
    entries: vec::IntoIter<Entry>,
}

/// Visits every inode once, depth-first.
pub(super) fn survey(
    image: &Image,
    findings: &mut Findings,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Survey, Error> {
    let mut survey = Survey {
        nodes: Vec::new(),
        extents: Vec::new(),
        fragment_bytes: vec![0; image.fragments().len()],
        complete: true,
        by_number: HashMap::new(),
        xattr_sets: HashSet::new(),
        xattr_bytes: 0,
        bounds: Bounds::default(),
    };
    let at = image.superblock().root_inode;
    let mut levels = Vec::new();
    match image.root() {
        Ok(inode) => {
            let root = Entry {
                name: Vec::new(),
                inode: at,
                number: inode.number,
                kind: InodeKind::Directory,
            };
            let found = visit_inode(&mut survey, image, 0, &root, &inode, findings);
            levels.extend(found);
        }
        Err(error) => {
            survey.complete = false;
            findings.add(|| Some(b"/".to_vec()), error);
        }
    }
    let mut visits = 0_u64;
    while let Some(level) = levels.last_mut() {
        visits += 1;
        if visits.is_multiple_of(PROGRESS_INODES) && progress(0).is_break() {
            return Err(Error::Interrupted);
        }
        let (parent, entry) = (level.node, level.entries.next());
        match entry {
            Some(entry) => levels.extend(visit(&mut survey, image, parent, &entry, findings)),
            None => drop(levels.pop()),
        }
    }
    Ok(survey)
}

/// Visits what an entry names; returns the listing if it is a directory to go into.
fn visit(
    survey: &mut Survey,
    image: &Image,
    parent: usize,
    entry: &Entry,
    findings: &mut Findings,
) -> Option<Level> {
    let start = image.inode_start(entry.inode);
    // Known by number and place: a hard link, whose inode need not be read again.
    let known = survey.by_number.get(&entry.number).copied();
    if let Some(node) = known.and_then(|index| survey.nodes.get_mut(index))
        && node.at == entry.inode
    {
        node.named = node.named.saturating_add(1);
        let kind = node.kind;
        let checked = if kind == InodeKind::Directory {
            Err(Corrupt::new(Part::Inode, start, Rule::Loop))
        } else {
            let (found, expected) = (entry.kind as u64, kind as u64);
            equal(
                (Part::DirectoryEntry, start),
                "type of an entry",
                found,
                expected,
            )
        };
        if let Err(corrupt) = checked {
            findings.add(|| survey.path_in(parent, &entry.name), corrupt.into());
        }
        return None;
    }
    let read = image.inode(entry.inode).and_then(|inode| {
        survey.bounds.read(image, entry.inode, &inode)?;
        Ok(inode)
    });
    match read {
        Ok(inode) => visit_inode(survey, image, parent, entry, &inode, findings),
        Err(error) => {
            survey.complete = false;
            findings.add(|| survey.path_in(parent, &entry.name), error);
            None
        }
    }
}

/// Notes an inode that was not seen before.
fn visit_inode(
    survey: &mut Survey,
    image: &Image,
    parent: usize,
    entry: &Entry,
    inode: &Inode,
    findings: &mut Findings,
) -> Option<Level> {
    let start = image.inode_start(entry.inode);
    let at = (Part::Inode, start);
    let index = survey.nodes.len();
    let (number, node_at, kind) = (inode.number, entry.inode, inode.body.kind());
    let mut checks = vec![
        equal(
            at,
            "inode number (an entry says another)",
            number.into(),
            entry.number.into(),
        ),
        equal(
            at,
            "inode type (an entry says another)",
            kind as u64,
            entry.kind as u64,
        ),
        within(
            at,
            "inode number",
            number.into(),
            (1, image.superblock().inode_count.into()),
        ),
    ];
    if let Some(other) = survey.by_number.insert(number, index) {
        let other = survey.nodes.get(other).map_or(0, |node| node.at.word());
        let field = "inode reference (another inode has the same number)";
        checks.push(equal(at, field, node_at.word(), other));
    }
    survey.nodes.push(Node::new(parent, entry, inode));
    let mut errors: Vec<Error> = image.owner(inode).err().into_iter().collect();
    if let Some(set) = inode.xattr {
        errors.extend(check_xattrs(survey, image, set).err());
    }
    let mut level = None;
    match &inode.body {
        Body::File(file) => errors.extend(note_file(survey, image, index, file, start)),
        Body::Directory(directory) => {
            if index != parent {
                let expected = survey.nodes.get(parent).map_or(0, |node| node.number);
                let found = directory.parent;
                checks.push(equal(
                    at,
                    "parent's inode number",
                    found.into(),
                    expected.into(),
                ));
            }
            match read_directory(survey, image, node_at, directory) {
                Ok((entries, index_checked)) => {
                    checks.push(index_checked);
                    if let Some(node) = survey.nodes.get_mut(index) {
                        node.entries = u32::try_from(entries.len()).unwrap_or(u32::MAX);
                    }
                    level = Some(Level {
                        node: index,
                        entries: entries.into_iter(),
                    });
                }
                Err(error) => {
                    survey.complete = false;
                    errors.push(error);
                }
            }
        }
        _ => {}
    }
    let corrupts = checks.into_iter().filter_map(Result::err).map(Error::from);
    for error in corrupts.chain(errors) {
        findings.add(|| survey.path_in(parent, &entry.name), error);
    }
    level
}

/// Reads a listing and checks the index of its names.
fn read_directory(
    survey: &mut Survey,
    image: &Image,
    at: InodeRef,
    directory: &Directory,
) -> Result<(Vec<Entry>, Result<(), Corrupt>), Error> {
    survey.bounds.enter(image, at, directory)?;
    let listing = image.listing(directory)?;
    let entries = parse_listing(&listing.bytes, image.listing_start(directory))?;
    let table_start = image.directory_table.start;
    let checked = check_index(directory, &listing, image.inode_start(at), table_start);
    Ok((entries, checked))
}

/// Reads a set of xattrs that no inode before named.
fn check_xattrs(survey: &mut Survey, image: &Image, set: u32) -> Result<(), Error> {
    if !survey.xattr_sets.insert(set) || survey.xattr_bytes > XATTRS_MAX_BYTES {
        return Ok(());
    }
    let pairs = image.xattr_set(set)?;
    let bytes = pairs
        .iter()
        .map(|(name, value)| (name.len() + value.len()) as u64);
    survey.xattr_bytes += bytes.sum::<u64>();
    let start = image.superblock().xattr_table_start.unwrap_or(0);
    let high = XATTRS_MAX_BYTES;
    let field = "bytes of all xattrs (the rest is not checked)";
    Ok(within(
        (Part::XattrTable, start),
        field,
        survey.xattr_bytes,
        (0, high),
    )?)
}

/// Notes the blocks of a file.
fn note_file(
    survey: &mut Survey,
    image: &Image,
    owner: usize,
    file: &File,
    start: u64,
) -> Vec<Error> {
    let block_size = image.superblock().block_size;
    let at = (Part::Inode, start);
    let mut errors = Vec::new();
    let mut expect = |checked: Result<(), Corrupt>| match checked {
        Ok(()) => true,
        Err(corrupt) => {
            errors.push(corrupt.into());
            false
        }
    };
    let sparse = (0, file.size_bytes);
    expect(within(at, "sparse bytes", file.sparse_bytes, sparse));
    if let Some(tail) = file.tail {
        let len = tail_len(file, block_size) as u64;
        // The kernel refuses a tail end of no bytes.
        expect(within(at, "length of the tail end", len, (1, u64::MAX)));
        if expect(image.fragment_of(tail).map(drop)) {
            let index = usize::try_from(tail.fragment).unwrap_or(usize::MAX);
            let end = u64::from(tail.offset) + len;
            if let Some(needed) = survey.fragment_bytes.get_mut(index) {
                *needed = end.max(*needed);
            }
        }
    }
    let size: u64 = file
        .blocks
        .iter()
        .map(|word| u64::from(word.size_bytes()))
        .sum();
    if size == 0 {
        return errors;
    }
    if expect(
        image
            .data_area()
            .check(Part::DataBlock, file.start, size)
            .map(drop),
    ) {
        let blocks = data_blocks(file, block_size).filter(|block| !block.word.is_sparse());
        survey.extents.extend(blocks.map(|block| Extent {
            start: block.start,
            word: block.word,
            length: Length::Exactly(block.len),
            owner: Some(owner),
        }));
    }
    errors
}
