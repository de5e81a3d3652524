//! Everything but the content of regular files: directories, links, devices, and a list of what
//! is to be written.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::os::fd::AsFd;

use coldpress_format::{Body, DeviceNumber, Inode, InodeRef, TailEnd};
use rustix::fs::{AtFlags, Dev, FileType, Mode};
use rustix::io::Errno;

use super::destination::Destination;
use super::metadata::{Target, restore};
use super::{Attribute, ExtractOptions, Extracted, NotRestored};
use crate::error::Error;
use crate::file::tail_len;
use crate::image::Image;
use crate::walk::{Visited, walk_into};

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
    of: (usize, Box<[u8]>),
}

/// What was created, and what is still to do.
pub(super) struct Tree<'a> {
    pub(super) image: &'a Image,
    pub(super) options: &'a ExtractOptions,
    pub(super) destination: Destination,
    pub(super) files: Vec<FileNode>,
    /// The inode of each directory of the destination.
    directories: Vec<InodeRef>,
    links: Vec<Link>,
    /// The first name of each inode that may have several.
    first_names: HashMap<InodeRef, (usize, Box<[u8]>)>,
}

impl<'a> Tree<'a> {
    /// Creates directories, symbolic links, devices, pipes and sockets, and notes the rest.
    pub(super) fn create(
        image: &'a Image,
        destination: Destination,
        options: &'a ExtractOptions,
        extracted: &mut Extracted,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self, Error> {
        let mut tree = Self {
            image,
            options,
            destination,
            files: Vec::new(),
            directories: Vec::new(),
            links: Vec::new(),
            first_names: HashMap::new(),
        };
        let chosen: Vec<_> = options.paths.iter().map(|path| normalize(path)).collect();
        let mut ancestors = Vec::new();
        let mut visits = 0_u64;
        walk_into(image, &mut |visited| {
            visits += 1;
            if visits.is_multiple_of(PROGRESS_INODES) && progress(0).is_break() {
                return Err(Error::Interrupted);
            }
            if !is_chosen(&chosen, visited) {
                return Ok(false);
            }
            ancestors.truncate(visited.depth);
            let parent = ancestors.last().copied().unwrap_or(0);
            let directory = tree.visit(visited, parent, extracted)?;
            ancestors.extend(directory);
            Ok(true)
        })?;
        Ok(tree)
    }

    /// Creates one thing; returns the index of a directory.
    fn visit(
        &mut self,
        visited: &Visited,
        parent: usize,
        extracted: &mut Extracted,
    ) -> Result<Option<usize>, Error> {
        let (at, inode) = (visited.at, visited.inode);
        let name = visited
            .path
            .rsplit(|byte| *byte == b'/')
            .next()
            .unwrap_or_default();
        if let Body::Directory(_) = inode.body {
            extracted.directories += 1;
            let root = visited.depth == 0;
            let index = if root {
                0
            } else {
                self.destination.create_directory(parent, name)?
            };
            self.directories.push(at);
            return Ok(Some(index));
        }
        if inode.link_count != 1 {
            if let Some(of) = self.first_names.get(&at) {
                self.links.push(Link {
                    directory: parent,
                    name: name.into(),
                    of: of.clone(),
                });
                return Ok(None);
            }
            self.first_names.insert(at, (parent, name.into()));
        }
        if let Body::File(file) = &inode.body {
            extracted.files += 1;
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
            return Ok(None);
        }
        if self.create_special(parent, name, visited, extracted)? {
            *match inode.body {
                Body::Symlink(_) => &mut extracted.symlinks,
                Body::Fifo => &mut extracted.fifos,
                Body::Socket => &mut extracted.sockets,
                _ => &mut extracted.devices,
            } += 1;
        } else {
            self.first_names.remove(&at);
        }
        Ok(None)
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
        match self.destination.replace(directory.as_fd(), name, &create) {
            Ok(()) => {}
            Err(error @ Errno::PERM) if is_device(visited.inode) => {
                extracted.not_restored.push(NotRestored {
                    path: self.destination.path(parent, name),
                    what: Attribute::Device,
                    error: error.into(),
                });
                return Ok(false);
            }
            Err(error) => return Err(self.destination.error("create", parent, name, error)),
        }
        let target = Target::Named(directory.as_fd(), name);
        let not_restored = &mut extracted.not_restored;
        let path = || self.destination.path(parent, name);
        restore(
            self.image,
            self.options,
            target,
            visited.inode,
            &path,
            not_restored,
        )
        .map_err(|error| error.in_file(visited.path))?;
        Ok(true)
    }

    /// Gives inodes their further names.
    pub(super) fn link(&self, extracted: &mut Extracted) -> Result<(), Error> {
        for link in &self.links {
            let (of_directory, of_name) = &link.of;
            let from = self.destination.directory(*of_directory)?;
            let to = self.destination.directory(link.directory)?;
            let make = || {
                let flags = AtFlags::empty();
                rustix::fs::linkat(&from, &**of_name, &to, &*link.name, flags)
            };
            self.destination
                .replace(to.as_fd(), &link.name, &make)
                .map_err(|error| {
                    self.destination
                        .error("link", link.directory, &link.name, error)
                })?;
            extracted.hard_links += 1;
        }
        Ok(())
    }

    /// Restores what the inodes say about directories, children before their parents: a time must
    /// not change again, and a mode may forbid what is still to do.
    pub(super) fn finish_directories(&self, extracted: &mut Extracted) -> Result<(), Error> {
        for (index, at) in self.directories.iter().enumerate().rev() {
            if index == 0 && self.destination.keep_root {
                continue;
            }
            let inode = self.image.inode(*at)?;
            let directory = self.destination.directory(index)?;
            let target = Target::Open(directory.as_fd());
            let path = || self.destination.path(index, b"");
            let not_restored = &mut extracted.not_restored;
            restore(
                self.image,
                self.options,
                target,
                &inode,
                &path,
                not_restored,
            )?;
        }
        Ok(())
    }
}

fn is_device(inode: &Inode) -> bool {
    matches!(inode.body, Body::BlockDevice(_) | Body::CharDevice(_))
}

/// The path with one slash before each name and none at the end; the root is empty.
fn normalize(path: &[u8]) -> Vec<u8> {
    let mut normal = Vec::new();
    for name in path
        .split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty())
    {
        normal.push(b'/');
        normal.extend_from_slice(name);
    }
    normal
}

/// Whether a path is to be created: it is one of the chosen ones, below one, or a directory above.
fn is_chosen(chosen: &[Vec<u8>], visited: &Visited) -> bool {
    let below = |path: &[u8], top: &[u8]| {
        path.strip_prefix(top)
            .is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
    };
    let path = if visited.depth == 0 {
        b""
    } else {
        visited.path
    };
    let directory = matches!(visited.inode.body, Body::Directory(_));
    chosen.is_empty()
        || chosen
            .iter()
            .any(|chosen| below(path, chosen) || directory && below(chosen, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_paths_include_what_is_below_and_the_directories_above() {
        let inode = Inode {
            mode: 0,
            uid_index: 0,
            gid_index: 0,
            mtime_s: 0,
            number: 1,
            link_count: 2,
            xattr: None,
            body: Body::Directory(coldpress_format::Directory::default()),
        };
        let chosen = [normalize(b"//usr/bin/")];
        for (path, depth, expected) in [
            (&b"/"[..], 0, true),
            (b"/usr", 1, true),
            (b"/us", 1, false),
            (b"/usr/bin", 2, true),
            (b"/usr/bin/x", 3, true),
            (b"/usr/bin2", 2, false),
            (b"/usr/lib", 2, false),
        ] {
            let visited = Visited {
                path,
                at: InodeRef {
                    block_start: 0,
                    offset: 0,
                },
                inode: &inode,
                depth,
            };
            assert_eq!(is_chosen(&chosen, &visited), expected, "{path:?}");
        }
    }
}
