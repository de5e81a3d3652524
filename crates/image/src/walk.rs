//! Visiting every path of an image.

use std::ops::Deref;
use std::{fmt, mem, vec};

use coldpress_format::{Body, Entry, File, Inode, InodeRef};

use crate::error::{Error, PathText};
use crate::image::Image;

mod bounds;

pub(crate) use bounds::Bounds;

/// A path and what it names.
#[derive(Clone, Copy, Debug)]
pub struct Visited<'a> {
    /// The absolute path.
    pub path: &'a [u8],
    /// Where the inode lies.
    pub at: InodeRef,
    /// The head of the inode: as [`Image::inode_head`] reads it, without the block list of a file.
    pub inode: &'a Inode,
    /// Number of names in the path: 0 for the root.
    pub depth: usize,
}

impl Visited<'_> {
    /// The file with its block list; `None` for anything else.
    ///
    /// # Errors
    ///
    /// As [`Image::inode`], with the path.
    ///
    /// # Cost
    ///
    /// As [`Image::inode`], for each name of the file again.
    pub fn file(&self, image: &Image) -> Result<Option<File>, Error> {
        if !matches!(self.inode.body, Body::File(_)) {
            return Ok(None);
        }
        image
            .file(self.at)
            .map_err(|error| error.in_file(self.path))
    }
}

/// Visits every path depth-first, names in byte order, a directory before what it holds.
///
/// Hard links are visited once for each path. A chain of directories may be of any length: nothing
/// recurses.
///
/// # Errors
///
/// [`Error::Corrupt`] for damaged inodes and listings, and if a directory is reached twice or
/// the listings are together larger than their table: a walk of a hostile image ends. The first
/// error ends it. Whatever `visit` returns.
///
/// # Cost
///
/// Holds the listings of the directories on the path, and the references of those seen and of
/// files with several names and long block lists. Reads no block list.
pub fn walk(
    image: &Image,
    visit: &mut dyn FnMut(&Visited) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut visit = |step: Step<'_>| match step {
        Step::At(visited) => visit(&visited).map(|()| true),
        Step::Damaged(error) => Err(error),
    };
    walk_into(image, &mut visit)
}

/// As [`walk`], but goes into a directory only if `visit` returns `true` for it, and with errors of
/// the caller's.
///
/// # Errors
///
/// As [`walk`].
pub fn walk_chosen<E: From<Error>>(
    image: &Image,
    visit: &mut dyn FnMut(&Visited) -> Result<bool, E>,
) -> Result<(), E> {
    let mut failed = None;
    let walked = walk_into(image, &mut |step| match step {
        Step::At(visited) => visit(&visited).map_err(|error| {
            failed = Some(error);
            Error::Interrupted
        }),
        Step::Damaged(error) => Err(error),
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(walked?),
    }
}

/// What a walk comes to.
pub(crate) enum Step<'a> {
    /// A path.
    At(Visited<'a>),
    /// Something that cannot be read: a listing, which then counts as empty, or an inode.
    Damaged(Error),
}

/// As [`walk`], but goes into a directory only if `visit` returns `true` for it, and past damage
/// if `visit` returns no error for that.
pub(crate) fn walk_into(
    image: &Image,
    visit: &mut dyn FnMut(Step) -> Result<bool, Error>,
) -> Result<(), Error> {
    let mut walker = Walker::new(image)?;
    loop {
        match walker.step()? {
            Moved::To => {
                if !visit(Step::At(walker.visited()))? {
                    walker.skip();
                }
            }
            Moved::Against(error) => {
                visit(Step::Damaged(error))?;
            }
            Moved::Past => return Ok(()),
        }
    }
}

/// Where a step led.
enum Moved {
    /// To a path.
    To,
    /// Against damage; the next step leads past it.
    Against(Error),
    /// Past the last path.
    Past,
}

/// The same visits as those of [`walk`], one at a time: for callers that do other things between
/// them, leave directories out, or begin below the root.
///
/// * `I`: `&Image`, or `Arc<Image>` for a walker that outlives who made it.
pub struct Walker<I> {
    image: I,
    bounds: Bounds,
    levels: Vec<Level>,
    path: Vec<u8>,
    at: InodeRef,
    inode: Inode,
    has_begun: bool,
    /// Whether the directory that was visited last is to be entered.
    enters: bool,
}

impl<I> fmt::Debug for Walker<I> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Walker")
            .field("path", &PathText(&self.path))
            .finish_non_exhaustive()
    }
}

impl<I: Deref<Target = Image> + Clone> Walker<I> {
    /// Begins with the root directory.
    ///
    /// # Errors
    ///
    /// As [`Image::root`].
    pub fn new(image: I) -> Result<Self, Error> {
        let (at, inode) = (image.superblock().root_inode, image.root()?);
        Ok(Self::from_inode(image, b"/", at, inode))
    }

    /// Begins with the inode at `at`, which has the absolute path `path`; depths count from there.
    ///
    /// # Errors
    ///
    /// As [`Image::inode`].
    pub fn below(image: I, path: &[u8], at: InodeRef) -> Result<Self, Error> {
        let inode = image.inode_head(at).map_err(|error| error.in_file(path))?;
        Ok(Self::from_inode(image, path, at, inode))
    }

    fn from_inode(image: I, path: &[u8], at: InodeRef, inode: Inode) -> Self {
        Self {
            image,
            bounds: Bounds::default(),
            levels: Vec::new(),
            path: path.to_vec(),
            at,
            inode,
            has_begun: false,
            enters: true,
        }
    }

    /// The next path; `None` behind the last.
    ///
    /// # Errors
    ///
    /// As [`walk`]. Nothing is visited behind an error.
    pub fn next_path(&mut self) -> Result<Option<Visited<'_>>, Error> {
        match self.step() {
            Ok(Moved::To) => Ok(Some(self.visited())),
            Ok(Moved::Past) => Ok(None),
            Ok(Moved::Against(error)) | Err(error) => {
                self.levels.clear();
                Err(error)
            }
        }
    }

    /// Does not enter the directory that was visited last.
    pub fn skip(&mut self) {
        self.enters = false;
    }

    /// Whether the path that was visited last is the last in its directory.
    pub fn is_last(&self) -> bool {
        let level = self.levels.last();
        level.is_none_or(|level| level.entries.as_slice().is_empty())
    }

    /// What [`Walker::next_path`] returned last, or the first path before that.
    pub fn visited(&self) -> Visited<'_> {
        Visited {
            path: &self.path,
            at: self.at,
            inode: &self.inode,
            depth: self.levels.len(),
        }
    }

    /// Goes on to the next path, or to the next damage.
    fn step(&mut self) -> Result<Moved, Error> {
        let image = self.image.clone();
        let image: &Image = &image;
        if !mem::replace(&mut self.has_begun, true) {
            return Ok(Moved::To);
        }
        if let Body::Directory(directory) = &self.inode.body
            && mem::take(&mut self.enters)
        {
            let entered = self.bounds.enter(image, self.at, directory);
            match entered.and_then(|()| image.entries(directory)) {
                Ok(entries) => self.levels.push(Level {
                    entries: entries.into_iter(),
                    path_len: self.path.len(),
                }),
                Err(error) => return Ok(Moved::Against(error.in_file(&self.path))),
            }
        }
        let Some(entry) = self.next_entry() else {
            return Ok(Moved::Past);
        };
        push_name(&mut self.path, &entry.name);
        self.at = entry.inode;
        match image.inode_head(self.at) {
            Ok(inode) => {
                self.bounds.read(image, self.at, &inode)?;
                self.inode = inode;
                self.enters = true;
                Ok(Moved::To)
            }
            Err(error) => {
                self.bounds.read_damaged(image, self.at)?;
                self.enters = false;
                Ok(Moved::Against(error.in_file(&self.path)))
            }
        }
    }

    /// The next entry of the deepest directory that has one left.
    fn next_entry(&mut self) -> Option<Entry> {
        while let Some(level) = self.levels.last_mut() {
            self.path.truncate(level.path_len);
            if let Some(entry) = level.entries.next() {
                return Some(entry);
            }
            self.levels.pop();
        }
        None
    }
}

/// A directory whose entries are being visited.
struct Level {
    entries: vec::IntoIter<Entry>,
    path_len: usize,
}

/// Appends a name to the path of its directory.
pub(crate) fn push_name(path: &mut Vec<u8>, name: &[u8]) {
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}
