//! Walking two trees side by side.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::iter::Peekable;
use std::vec;

use coldpress_format::{Body, Directory, Entry, File, Inode, InodeRef};

use super::content::Pair;
use super::order::{LayoutDifference, Positions, data_start, tail_place};
use super::{Contrast, DiffError, DiffOptions, Side, TreeDifference};
use crate::error::Error;
use crate::image::Image;
use crate::walk::{Bounds, push_name, walk};
use crate::xattr::Xattr;

/// One of the trees.
struct Tree<'a> {
    image: &'a Image,
    side: Side,
    bounds: Bounds,
    /// For each inode that is no directory, that of the other tree which had its first name.
    twins: HashMap<InodeRef, InodeRef>,
}

/// A directory of both trees whose entries are being compared.
struct Level {
    left: Peekable<vec::IntoIter<Entry>>,
    right: Peekable<vec::IntoIter<Entry>>,
    path_len: usize,
}

/// Two trees, and what was found of them.
pub(super) struct Trees<'a> {
    left: Tree<'a>,
    right: Tree<'a>,
    options: DiffOptions,
    levels: Vec<Level>,
    path: Vec<u8>,
    /// How many paths were compared.
    place: usize,
    /// Differences with the places of their paths.
    pub(super) differences: Vec<(usize, TreeDifference)>,
    /// Files whose content is to be compared.
    pub(super) pairs: Vec<Pair>,
    pending_bytes: usize,
    layout: LayoutDifference,
    data: Positions,
    tails: Positions,
    inodes: Positions,
}

impl<'a> Trees<'a> {
    /// Begins with the root directories.
    pub(super) fn new(
        left: &'a Image,
        right: &'a Image,
        options: DiffOptions,
    ) -> Result<Self, DiffError> {
        let mut trees = Self {
            left: Tree::new(left, Side::Left),
            right: Tree::new(right, Side::Right),
            options,
            levels: Vec::new(),
            path: b"/".to_vec(),
            place: 0,
            differences: Vec::new(),
            pairs: Vec::new(),
            pending_bytes: 0,
            layout: LayoutDifference::default(),
            data: Positions::default(),
            tails: Positions::default(),
            inodes: Positions::default(),
        };
        left.root().map_err(DiffError::of(Side::Left))?;
        right.root().map_err(DiffError::of(Side::Right))?;
        let roots = (left.superblock().root_inode, right.superblock().root_inode);
        trees.compare(roots.0, roots.1)?;
        Ok(trees)
    }

    /// Goes on until what was found takes `bytes` of memory; `false` at the end.
    pub(super) fn fill(&mut self, bytes: usize) -> Result<bool, DiffError> {
        self.pending_bytes = 0;
        while let Some(level) = self.levels.last_mut() {
            self.path.truncate(level.path_len);
            let order = match (level.left.peek(), level.right.peek()) {
                (Some(one), Some(other)) => one.name.cmp(&other.name),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => {
                    self.levels.pop();
                    continue;
                }
            };
            let one = level.left.next_if(|_| order.is_le());
            let other = level.right.next_if(|_| order.is_ge());
            match (one, other) {
                (Some(one), Some(other)) => {
                    push_name(&mut self.path, &one.name);
                    self.compare(one.inode, other.inode)?;
                }
                (Some(one), None) => self.only_in(Side::Left, &one.name),
                (None, Some(other)) => self.only_in(Side::Right, &other.name),
                (None, None) => {}
            }
            if self.pending_bytes >= bytes {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn only_in(&mut self, side: Side, name: &[u8]) {
        push_name(&mut self.path, name);
        self.place += 1;
        self.differ(Contrast::OnlyIn(side));
    }

    /// Compares what the path names in both trees.
    fn compare(&mut self, one: InodeRef, other: InodeRef) -> Result<(), DiffError> {
        self.place += 1;
        let left = self.left.inode(one, &self.path)?;
        let right = self.right.inode(other, &self.path)?;
        let is_directory = matches!(left.body, Body::Directory(_));
        if !is_directory && self.is_known(one, other) {
            return Ok(());
        }
        let numbers = (left.number, right.number);
        self.layout.renumbered += u64::from(numbers.0 != numbers.1);
        self.inodes.push(one.word(), other.word(), one);
        self.compare_metadata(&left, &right)?;
        match (left.body, right.body) {
            (Body::Directory(left), Body::Directory(right)) => {
                self.enter((one, left), (other, right))?;
            }
            (Body::File(left), Body::File(right)) => {
                if left.size_bytes == right.size_bytes {
                    let left = self.left.file(one, &self.path)?;
                    let right = self.right.file(other, &self.path)?;
                    self.lay(&left, &right, one);
                    self.keep(Pair {
                        place: self.place,
                        path: self.path.clone(),
                        left,
                        right,
                    });
                } else {
                    self.differ(Contrast::Length(left.size_bytes, right.size_bytes));
                }
            }
            (Body::Symlink(left), Body::Symlink(right)) => {
                if left != right {
                    self.differ(Contrast::Target(left, right));
                }
            }
            (Body::BlockDevice(left), Body::BlockDevice(right))
            | (Body::CharDevice(left), Body::CharDevice(right)) => {
                if left != right {
                    let (left, right) = ((left.major, left.minor), (right.major, right.minor));
                    self.differ(Contrast::Device(left, right));
                }
            }
            (Body::Fifo, Body::Fifo) | (Body::Socket, Body::Socket) => {}
            (left, right) => self.differ(Contrast::Type(left.kind(), right.kind())),
        }
        Ok(())
    }

    /// Whether these two were compared under another name; tells if one has other names.
    fn is_known(&mut self, one: InodeRef, other: InodeRef) -> bool {
        let is_known = self.left.twins.contains_key(&one);
        let left = *self.left.twins.entry(one).or_insert(other);
        let right = *self.right.twins.entry(other).or_insert(one);
        if (left, right) == (other, one) {
            return is_known;
        }
        if self.options.links {
            self.differ(Contrast::HardLink);
        }
        false
    }

    fn compare_metadata(&mut self, left: &Inode, right: &Inode) -> Result<(), DiffError> {
        if self.options.modes && left.mode != right.mode {
            self.differ(Contrast::Mode(left.mode, right.mode));
        }
        if self.options.owners {
            let one = self.left.owner(left, &self.path)?;
            let other = self.right.owner(right, &self.path)?;
            if one.0 != other.0 {
                self.differ(Contrast::Owner(one.0, other.0));
            }
            if one.1 != other.1 {
                self.differ(Contrast::Group(one.1, other.1));
            }
        }
        if self.options.times && left.mtime_s != right.mtime_s {
            self.differ(Contrast::Time(left.mtime_s, right.mtime_s));
        }
        if self.options.xattrs && (left.xattr.is_some() || right.xattr.is_some()) {
            let one = self.left.xattrs(left, &self.path)?;
            let other = self.right.xattrs(right, &self.path)?;
            let differing = one.symmetric_difference(&other);
            let mut names: Vec<_> = differing.map(|(name, _)| name.clone()).collect();
            names.dedup();
            if !names.is_empty() {
                self.differ(Contrast::Xattrs(names));
            }
        }
        Ok(())
    }

    fn enter(
        &mut self,
        (one, left): (InodeRef, Directory),
        (other, right): (InodeRef, Directory),
    ) -> Result<(), DiffError> {
        let level = Level {
            left: self.left.entries(one, &left, &self.path)?,
            right: self.right.entries(other, &right, &self.path)?,
            path_len: self.path.len(),
        };
        self.levels.push(level);
        Ok(())
    }

    /// Notes where a file lies.
    fn lay(&mut self, left: &File, right: &File, at: InodeRef) {
        if let (Some(one), Some(other)) = (data_start(left), data_start(right)) {
            self.data.push(one, other, at);
        }
        match (tail_place(left), tail_place(right)) {
            (Some(one), Some(other)) => self.tails.push(one, other, at),
            (None, None) => {}
            _ => {
                self.layout.tails_packed_differently += 1;
                let first = &mut self.layout.first_packed_differently;
                first.get_or_insert_with(|| self.path.clone());
            }
        }
    }

    fn keep(&mut self, pair: Pair) {
        if self.options.content && pair.left.size_bytes > 0 {
            self.pending_bytes += pair.bytes();
            self.pairs.push(pair);
        }
    }

    fn differ(&mut self, what: Contrast) {
        let path = self.path.clone();
        self.pending_bytes += size_of::<TreeDifference>() + path.len();
        let difference = TreeDifference { path, what };
        self.differences.push((self.place, difference));
    }

    /// How the files that both have lie, after the walk.
    pub(super) fn layout(mut self) -> Result<LayoutDifference, DiffError> {
        self.layout.sharing = self.data.sharing();
        let image = self.left.image;
        let named = |at: Option<InodeRef>| match at {
            None => Ok(None),
            Some(at) => path_of(image, at).map_err(DiffError::of(Side::Left)),
        };
        self.layout.data_order = named(self.data.first_out_of_order())?;
        self.layout.tail_order = named(self.tails.first_out_of_order())?;
        self.layout.inode_order = named(self.inodes.first_out_of_order())?;
        Ok(self.layout)
    }
}

impl<'a> Tree<'a> {
    fn new(image: &'a Image, side: Side) -> Self {
        Self {
            image,
            side,
            bounds: Bounds::default(),
            twins: HashMap::new(),
        }
    }

    fn failed<'p>(&self, path: &'p [u8]) -> impl Fn(Error) -> DiffError + use<'p> {
        let side = self.side;
        move |error| DiffError::of(side)(error.in_file(path))
    }

    /// Reads an inode without a block list.
    fn inode(&mut self, at: InodeRef, path: &[u8]) -> Result<Inode, DiffError> {
        let inode = self.image.inode_head(at).map_err(self.failed(path))?;
        let bounded = self.bounds.read(self.image, at, &inode);
        bounded.map_err(self.failed(path))?;
        Ok(inode)
    }

    fn file(&self, at: InodeRef, path: &[u8]) -> Result<File, DiffError> {
        let file = self.image.file(at).map_err(self.failed(path))?;
        Ok(file.unwrap_or_default())
    }

    fn owner(&self, inode: &Inode, path: &[u8]) -> Result<(u32, u32), DiffError> {
        self.image.owner(inode).map_err(self.failed(path))
    }

    fn xattrs(&self, inode: &Inode, path: &[u8]) -> Result<BTreeSet<Xattr>, DiffError> {
        let found = self.image.xattrs(inode).map_err(self.failed(path))?;
        Ok(found.iter().cloned().collect())
    }

    fn entries(
        &mut self,
        at: InodeRef,
        directory: &Directory,
        path: &[u8],
    ) -> Result<Peekable<vec::IntoIter<Entry>>, DiffError> {
        let bounded = self.bounds.enter(self.image, at, directory);
        bounded.map_err(self.failed(path))?;
        let entries = self.image.entries(directory).map_err(self.failed(path))?;
        Ok(entries.into_iter().peekable())
    }
}

/// The first path of an inode.
fn path_of(image: &Image, at: InodeRef) -> Result<Option<Vec<u8>>, Error> {
    let mut path = None;
    walk(image, &mut |visited| {
        if visited.at == at && path.is_none() {
            path = Some(visited.path.to_vec());
        }
        Ok(())
    })?;
    Ok(path)
}
