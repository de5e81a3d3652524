//! Everything but the content of regular files: directories, links, devices, and a list of what
//! is to be written.

mod finish;
mod links;
mod special;

use std::collections::HashMap;
use std::ops::ControlFlow;

use coldpress_codec::{Work, WorkObserver, WorkSpan};
use coldpress_format::{Body, InodeRef, TailEnd};

use super::ExtractOptions;
use super::choose::{Choice, Chooser, TakenBy};
use super::confine::leads_outside;
use super::destination::Destination;
use super::metadata::Restoring;
use super::report::{Extracted, is_of_one_path};
use crate::error::Error;
use crate::file::tail_len;
use crate::image::Image;
use crate::walk::{Step, Visited, walk_into};

/// Inodes between two calls of the progress callback while nothing is written yet.
const PROGRESS_INODES: u64 = 256;

/// A regular file to write.
pub(super) struct FileNode {
    /// Index of its directory.
    pub(super) directory: usize,
    /// Its name there.
    pub(super) name: Box<[u8]>,
    /// Where its inode lies.
    pub(super) at: InodeRef,
    /// Image byte of its first data block.
    pub(super) start: u64,
    /// Its length.
    pub(super) size_bytes: u64,
    /// Its tail end, if that has a byte.
    pub(super) tail: Option<TailEnd>,
    /// How many data blocks it has.
    pub(super) block_count: u64,
}

/// A further name of an inode.
struct Link {
    directory: usize,
    name: Box<[u8]>,
    of: First,
}

/// The name under which an inode was or will be created.
#[derive(Clone)]
struct First {
    directory: usize,
    name: Box<[u8]>,
    /// Its index, if it is a regular file.
    file: Option<usize>,
}

/// A directory that the walk is in.
struct Level {
    name: Box<[u8]>,
    at: InodeRef,
    /// Its index, once it is made.
    made: Option<usize>,
    taken_by: TakenBy,
}

/// What was created, and what is still to do.
pub(super) struct Tree<'a> {
    pub(super) image: &'a Image,
    pub(super) restoring: Restoring<'a>,
    pub(super) destination: Destination,
    pub(super) files: Vec<FileNode>,
    pub(super) keep_going: bool,
    watch: Option<&'a dyn WorkObserver>,
    confine_symlinks: bool,
    restore_existing: bool,
    /// The inode of each directory of the destination.
    directories: Vec<InodeRef>,
    links: Vec<Link>,
    /// The first name of each inode that may have several.
    first_names: HashMap<InodeRef, First>,
}

impl<'a> Tree<'a> {
    /// Creates directories, symbolic links, devices, pipes and sockets, and notes the rest.
    pub(super) fn create(
        image: &'a Image,
        destination: Destination,
        options: &ExtractOptions<'a>,
        extracted: &mut Extracted,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self, Error> {
        let mut tree = Self {
            image,
            restoring: Restoring::new(image, options),
            destination,
            files: Vec::new(),
            keep_going: options.keep_going,
            watch: options.watch,
            confine_symlinks: options.confine_symlinks,
            restore_existing: options.restore_existing,
            directories: Vec::new(),
            links: Vec::new(),
            first_names: HashMap::new(),
        };
        let chooser = Chooser::new(options);
        let mut levels = Vec::new();
        let mut visits = 0_u64;
        let _busy = WorkSpan::with(options.watch, Work::Open);
        walk_into(image, &mut |step| {
            visits += 1;
            if visits.is_multiple_of(PROGRESS_INODES) && progress(0).is_break() {
                return Err(Error::Interrupted);
            }
            let visited = match step {
                Step::At(visited) => visited,
                Step::Damaged(error) => {
                    tree.leave_out(error, extracted)?;
                    return Ok(false);
                }
            };
            levels.truncate(visited.depth);
            match tree.visit(&visited, &chooser, &mut levels, extracted) {
                Ok(enter) => Ok(enter && options.max_depth != Some(visited.depth)),
                Err(error) => {
                    tree.leave_out(error, extracted)?;
                    Ok(false)
                }
            }
        })?;
        Ok(tree)
    }

    /// This thread is busy while the value lives.
    pub(super) fn busy(&self, work: Work) -> WorkSpan<'_> {
        WorkSpan::with(self.watch, work)
    }

    /// Notes an error if the extraction goes on in spite of it, or hands it back.
    pub(super) fn leave_out(&self, error: Error, extracted: &mut Extracted) -> Result<(), Error> {
        if !self.keep_going || !is_of_one_path(&error) {
            return Err(error);
        }
        extracted.note_left_out(error);
        Ok(())
    }

    /// Creates what is chosen; returns whether something below may be.
    fn visit(
        &mut self,
        visited: &Visited,
        chooser: &Chooser,
        levels: &mut Vec<Level>,
        extracted: &mut Extracted,
    ) -> Result<bool, Error> {
        let above = levels.last().map(|level| level.taken_by);
        let (choice, taken_by) = chooser.choose(visited, above.unwrap_or_default());
        if choice == Choice::Leave {
            return Ok(false);
        }
        let name = visited.path.rsplit(|byte| *byte == b'/').next();
        let name = name.unwrap_or_default();
        if let Body::Directory(_) = visited.inode.body {
            levels.push(Level {
                name: name.into(),
                at: visited.at,
                made: None,
                taken_by,
            });
            if choice != Choice::Pass {
                self.make_directories(levels, extracted)?;
            }
            return Ok(true);
        }
        let parent = self.make_directories(levels, extracted)?;
        self.create_file(parent, name, visited, extracted)?;
        Ok(false)
    }

    /// Makes the directories that the walk is in, as far as they are missing; returns the index of
    /// the innermost.
    fn make_directories(
        &mut self,
        levels: &mut [Level],
        extracted: &mut Extracted,
    ) -> Result<usize, Error> {
        let made = levels.iter().rposition(|level| level.made.is_some());
        let first_missing = made.map_or(0, |made| made + 1);
        let mut parent = made.and_then(|made| levels.get(made)?.made);
        for level in levels.iter_mut().skip(first_missing) {
            let index = match parent {
                None => 0,
                Some(parent) => self.destination.create_directory(parent, &level.name)?,
            };
            extracted.directories += 1;
            self.directories.push(level.at);
            level.made = Some(index);
            parent = level.made;
        }
        Ok(parent.unwrap_or(0))
    }

    /// Creates anything but a directory, or notes that it is to be.
    fn create_file(
        &mut self,
        parent: usize,
        name: &[u8],
        visited: &Visited,
        extracted: &mut Extracted,
    ) -> Result<(), Error> {
        let (at, inode) = (visited.at, visited.inode);
        if let Body::Symlink(target) = &inode.body
            && self.confine_symlinks
            && leads_outside(target, visited.depth.saturating_sub(1))
        {
            extracted.note_left_out(Error::LeadsOutside {
                path: visited.path.to_vec(),
                target: target.clone(),
            });
            return Ok(());
        }
        let first = First {
            directory: parent,
            name: name.into(),
            file: matches!(inode.body, Body::File(_)).then_some(self.files.len()),
        };
        if inode.link_count != 1
            && let Some(of) = self.first_names.get(&at)
        {
            self.links.push(Link {
                directory: parent,
                name: name.into(),
                of: of.clone(),
            });
            return Ok(());
        }
        if let Body::File(file) = &inode.body {
            let block_size = self.image.superblock().block_size;
            let tail_len = tail_len(file, block_size);
            self.files.push(FileNode {
                directory: parent,
                name: name.into(),
                at,
                start: file.start,
                size_bytes: file.size_bytes,
                tail: file.tail.filter(|_| tail_len > 0),
                block_count: file.block_count(block_size),
            });
        } else if self.create_special(parent, name, visited, extracted)? {
            *match inode.body {
                Body::Symlink(_) => &mut extracted.symlinks,
                Body::Fifo => &mut extracted.fifos,
                Body::Socket => &mut extracted.sockets,
                _ => &mut extracted.devices,
            } += 1;
        } else {
            return Ok(());
        }
        if inode.link_count != 1 {
            self.first_names.insert(at, first);
        }
        Ok(())
    }
}
