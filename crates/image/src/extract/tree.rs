//! Everything but the content of regular files: directories, links, devices, and a list of what
//! is to be written.

mod links;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};

use coldpress_codec::{Busy, Watch, Work};
use coldpress_format::{Body, DeviceNumber, Inode, InodeRef, TailEnd};
use rustix::fs::{Dev, FileType, Mode};
use rustix::io::Errno;

use super::ExtractOptions;
use super::choose::{Choice, Chooser, TakenBy};
use super::confine::leads_outside;
use super::destination::Destination;
use super::metadata::{Restoring, Target};
use super::report::{Attribute, Extracted, NotRestored, is_of_one_path};
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
    pub(super) block_count: usize,
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
    watch: Option<&'a dyn Watch>,
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
        let _busy = Busy::with(options.watch, Work::Open);
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
    pub(super) fn busy(&self, work: Work) -> Busy<'_> {
        Busy::with(self.watch, work)
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
            let tail_len = tail_len(file, self.image.superblock().block_size);
            self.files.push(FileNode {
                directory: parent,
                name: name.into(),
                at,
                start: file.start,
                size_bytes: file.size_bytes,
                tail: file.tail.filter(|_| tail_len > 0),
                block_count: file.blocks.len(),
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

    /// Creates a symbolic link, device, pipe or socket; `false` if this process may not.
    fn create_special(
        &self,
        parent: usize,
        name: &[u8],
        visited: &Visited,
        extracted: &mut Extracted,
    ) -> Result<bool, Error> {
        let directory = self.destination.directory(parent)?;
        let mode = Mode::RUSR | Mode::WUSR;
        let node = |kind, number: Dev| rustix::fs::mknodat(&directory, name, kind, mode, number);
        let device = |number: DeviceNumber| rustix::fs::makedev(number.major, number.minor);
        let create = || match &visited.inode.body {
            Body::Symlink(target) => rustix::fs::symlinkat(target.as_slice(), &directory, name),
            Body::BlockDevice(number) => node(FileType::BlockDevice, device(*number)),
            Body::CharDevice(number) => node(FileType::CharacterDevice, device(*number)),
            Body::Socket => node(FileType::Socket, 0),
            Body::Fifo | Body::File(_) | Body::Directory(_) => node(FileType::Fifo, 0),
        };
        let place = (parent, directory.as_fd());
        match self.destination.replace(place, name, &create) {
            Ok(()) => {}
            Err(error @ Errno::PERM) if is_device(visited.inode) => {
                extracted.note_not_restored([NotRestored {
                    path: self.destination.path(parent, name),
                    what: Attribute::Device,
                    error: error.into(),
                }]);
                return Ok(false);
            }
            Err(error) => return Err(self.destination.error("create", parent, name, error)),
        }
        let target = Target::Named(directory.as_fd(), name);
        let path = || self.destination.path(parent, name);
        let mut lacks = Vec::new();
        self.restoring
            .restore(target, visited.inode, &path, &mut lacks)
            .map_err(|error| error.in_file(visited.path))?;
        extracted.note_not_restored(lacks);
        Ok(true)
    }

    /// Restores what the inodes say about directories, children before their parents: a time must
    /// not change again, and a mode may forbid what is still to do. Those that were there keep what
    /// they have, unless the caller wants those of its own to be as in the image.
    pub(super) fn finish_directories(&self, extracted: &mut Extracted) -> Result<(), Error> {
        let _busy = self.busy(Work::Metadata);
        for (index, at) in self.directories.iter().enumerate().rev() {
            if self.destination.was_there(index) && !self.restore_existing {
                continue;
            }
            if let Err(error) = self.finish_directory(index, *at, extracted) {
                self.leave_out(error, extracted)?;
            }
        }
        Ok(())
    }

    fn finish_directory(
        &self,
        index: usize,
        at: InodeRef,
        extracted: &mut Extracted,
    ) -> Result<(), Error> {
        let inode = self.image.inode(at)?;
        let directory = self.destination.directory(index)?;
        if self.destination.was_there(index) && !is_own(directory.as_fd()) {
            return Ok(());
        }
        let target = Target::Open(directory.as_fd());
        let path = || self.destination.path(index, b"");
        let mut lacks = Vec::new();
        self.restoring
            .restore(target, &inode, &path, &mut lacks)
            .map_err(|error| error.in_file(&self.destination.image_path(index, b"")))?;
        extracted.note_not_restored(lacks);
        Ok(())
    }
}

fn is_device(inode: &Inode) -> bool {
    matches!(inode.body, Body::BlockDevice(_) | Body::CharDevice(_))
}

/// Whether a directory belongs to the caller.
fn is_own(directory: BorrowedFd<'_>) -> bool {
    let owner = rustix::fs::fstat(directory).map(|stat| stat.st_uid);
    owner.is_ok_and(|owner| owner == rustix::process::geteuid().as_raw())
}
