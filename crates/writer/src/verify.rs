//! Whether an image holds what its source holds.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use coldpress_codec::{Workers, ordered};
use coldpress_format::{Body, DeviceNumber, File, Inode, InodeRef};
use coldpress_image::{FileBlock, Image};
use coldpress_layout::{Kind, NodeId};

use crate::error::{self, Error};
use crate::progress::{Meter, Progress};
use crate::shared_xattrs::XattrSet;
use crate::source::Source;
use crate::warning::Warning;

/// A way in which an image is not its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path in the image.
    pub path: Vec<u8>,
    /// What differs.
    pub what: What,
}

/// What of a file differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// The image does not have it.
    Missing,
    /// The source does not have it.
    Unexpected,
    /// It is another type of file, or another device.
    Type,
    /// A number of its metadata.
    Metadata {
        /// `mode`, `owner`, ...
        field: &'static str,
        /// What the source says.
        expected: u64,
        /// What the image says.
        found: u64,
    },
    /// Its symlink target.
    Target,
    /// Its xattrs.
    Xattrs,
    /// Its names are one inode in the source and several in the image, or the other way round.
    HardLink,
    /// Its bytes, from this one on.
    Content {
        /// Offset of the first block that differs.
        offset: u64,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`: ", self.path.escape_ascii())?;
        match &self.what {
            What::Missing => write!(formatter, "is not in the image"),
            What::Unexpected => write!(formatter, "is only in the image"),
            What::Type => write!(formatter, "is of another type"),
            What::Metadata {
                field,
                expected,
                found,
            } => {
                write!(formatter, "{field} is {found}, must be {expected}")
            }
            What::Target => write!(formatter, "has another symlink target"),
            What::Xattrs => write!(formatter, "has other xattrs"),
            What::HardLink => write!(formatter, "is linked to other names"),
            What::Content { offset } => {
                write!(formatter, "has other content in the block at byte {offset}")
            }
        }
    }
}

/// Compares an image with its source: names, types, modes, owners, times, links, xattrs, content.
///
/// Returns every difference, by path.
///
/// * `changed`: files of which length and content are not compared, since the source does not have
///   them any more as they were read.
///
/// # Errors
///
/// [`Error`] if either cannot be read, or the caller stops it.
///
/// # Cost
///
/// Reads and decompresses everything, on as many threads as the machine has; memory for a few
/// blocks each.
pub fn verify(
    image: &Image,
    source: &Source,
    changed: &BTreeMap<NodeId, Warning>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Vec<Difference>, Error> {
    let mut comparison = Comparison {
        image,
        source,
        changed,
        differences: Vec::new(),
        refs: vec![None; source.tree.nodes.len()],
        nodes: HashMap::new(),
        files: Vec::new(),
        same_xattrs: HashSet::new(),
    };
    comparison.compare_trees()?;
    let Comparison {
        mut differences,
        mut files,
        ..
    } = comparison;
    // In the order of the data area, so that each fragment block is decompressed once or twice.
    files.sort_by_key(|(file, _, _)| (file.tail.map(|tail| tail.fragment), file.start));
    let threads = std::thread::available_parallelism().unwrap_or(std::num::NonZeroUsize::MIN);
    let window = threads.saturating_mul(std::num::NonZeroUsize::MIN.saturating_add(3));
    let mut meter = Meter::new(source.content_bytes(), progress);
    ordered(
        files.into_iter().map(Ok),
        &Workers { threads, window },
        || Ok(Vec::new()),
        |buffer, (file, node, path)| {
            let offset = compare_content(image, source, &file, node, buffer)?;
            Ok((file.size_bytes, path, offset))
        },
        |(size_bytes, path, offset)| {
            if let Some(offset) = offset {
                differences.push(Difference {
                    path,
                    what: What::Content { offset },
                });
            }
            meter.add(size_bytes)
        },
    )?;
    differences.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(differences)
}

struct Comparison<'a> {
    image: &'a Image,
    source: &'a Source,
    changed: &'a BTreeMap<NodeId, Warning>,
    differences: Vec<Difference>,
    /// For each node the inode that its first name led to.
    refs: Vec<Option<InodeRef>>,
    /// For each inode the node that led to it.
    nodes: HashMap<InodeRef, NodeId>,
    /// Files whose content is to be compared.
    files: Vec<(File, NodeId, Vec<u8>)>,
    /// Sets of the image and of the source that are the same.
    same_xattrs: HashSet<(Option<u32>, *const XattrSet)>,
}

impl Comparison<'_> {
    fn compare_trees(&mut self) -> Result<(), Error> {
        let root = self.image.superblock().root_inode;
        let mut pending = Vec::new();
        self.compare_node(NodeId::ROOT, root, Vec::new(), &mut pending)?;
        while let Some((node, inode, path)) = pending.pop() {
            let Body::Directory(directory) = &inode.body else {
                continue;
            };
            let found = self.image.entries(directory)?;
            let mut found = found.into_iter().peekable();
            let tree = &self.source.tree;
            for (name, child) in tree.entries(node) {
                while let Some(extra) = found.next_if(|entry| entry.name < *name) {
                    self.differ(&join(&path, &extra.name), What::Unexpected);
                }
                let path = join(&path, name);
                match found.next_if(|entry| entry.name == *name) {
                    None => self.differ(&path, What::Missing),
                    Some(entry) => self.compare_node(*child, entry.inode, path, &mut pending)?,
                }
            }
            for extra in found {
                self.differ(&join(&path, &extra.name), What::Unexpected);
            }
        }
        Ok(())
    }

    fn compare_node(
        &mut self,
        node: NodeId,
        at: InodeRef,
        path: Vec<u8>,
        pending: &mut Vec<(NodeId, Inode, Vec<u8>)>,
    ) -> Result<(), Error> {
        if let Some(first) = self.refs[node.index()].replace(at) {
            if first != at {
                self.differ(&path, What::HardLink);
            }
            return Ok(());
        }
        if self.nodes.insert(at, node).is_some() {
            self.differ(&path, What::HardLink);
        }
        let inode = self.image.inode(at)?;
        self.compare_metadata(node, &inode, &path)?;
        match (&self.source.tree.nodes[node.index()].kind, &inode.body) {
            (Kind::Directory { .. }, Body::Directory(_)) => pending.push((node, inode, path)),
            (Kind::File { .. }, Body::File(_)) if self.changed.contains_key(&node) => {}
            (Kind::File { size_bytes }, Body::File(file)) => {
                if *size_bytes == file.size_bytes {
                    self.files.push((file.clone(), node, path));
                } else {
                    let (expected, found) = (*size_bytes, file.size_bytes);
                    self.differ(
                        &path,
                        What::Metadata {
                            field: "size",
                            expected,
                            found,
                        },
                    );
                }
            }
            (Kind::Symlink { target }, Body::Symlink(found)) => {
                if target != found {
                    self.differ(&path, What::Target);
                }
            }
            (Kind::BlockDevice { major, minor }, Body::BlockDevice(number))
            | (Kind::CharDevice { major, minor }, Body::CharDevice(number))
                if *number
                    == (DeviceNumber {
                        major: *major,
                        minor: *minor,
                    }) => {}
            (Kind::Fifo, Body::Fifo) | (Kind::Socket, Body::Socket) => {}
            _ => self.differ(&path, What::Type),
        }
        Ok(())
    }

    fn compare_metadata(&mut self, node: NodeId, inode: &Inode, path: &[u8]) -> Result<(), Error> {
        let expected = &self.source.tree.nodes[node.index()];
        let (uid, gid) = self.image.owner(inode)?;
        for (field, expected, found) in [
            ("mode", u32::from(expected.mode), u32::from(inode.mode)),
            ("owner", expected.uid, uid),
            ("group", expected.gid, gid),
            ("modification time", expected.mtime_s, inode.mtime_s),
        ] {
            if expected != found {
                let (expected, found) = (expected.into(), found.into());
                self.differ(
                    path,
                    What::Metadata {
                        field,
                        expected,
                        found,
                    },
                );
            }
        }
        let pair = (inode.xattr, Arc::as_ptr(&expected.xattrs));
        if self.same_xattrs.contains(&pair) {
            return Ok(());
        }
        let mut xattrs = self.image.xattrs(inode)?;
        if !xattrs.is_sorted() {
            Arc::make_mut(&mut xattrs).sort();
        }
        if xattrs == expected.xattrs {
            self.same_xattrs.insert(pair);
        } else {
            self.differ(path, What::Xattrs);
        }
        Ok(())
    }

    fn differ(&mut self, path: &[u8], what: What) {
        let path = if path.is_empty() {
            b"/".to_vec()
        } else {
            path.to_vec()
        };
        self.differences.push(Difference { path, what });
    }
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    [directory, b"/", name].concat()
}

/// Returns the offset of the first block that differs.
fn compare_content(
    image: &Image,
    source: &Source,
    file: &File,
    node: NodeId,
    buffer: &mut Vec<u8>,
) -> Result<Option<u64>, Error> {
    let original = source.open(node)?;
    let path = || source.path(node);
    let (mut offset, mut first) = (0, None);
    image.for_each_block(file, &mut |block| -> Result<(), Error> {
        let start = offset;
        let len = match block {
            FileBlock::Data(bytes) => bytes.len() as u64,
            FileBlock::Hole(len) => len,
        };
        offset += len;
        if first.is_some() {
            return Ok(());
        }
        let is_hole = matches!(block, FileBlock::Hole(_));
        if is_hole && original.is_hole(start, len) {
            return Ok(());
        }
        let len = usize::try_from(len).expect("a piece is at most a block");
        buffer.resize(len, 0);
        let read = original.read_at(buffer, start);
        let read = read.map_err(|error| error::source("read", &path())(error))?;
        let equal = read == len
            && match block {
                FileBlock::Data(bytes) => bytes == buffer.as_slice(),
                FileBlock::Hole(_) => buffer.iter().all(|byte| *byte == 0),
            };
        if !equal {
            first = Some(start);
        }
        Ok(())
    })?;
    Ok(first.or((offset != file.size_bytes).then_some(offset)))
}
