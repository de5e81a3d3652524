//! Symbolic links, devices, pipes and sockets.

use std::os::fd::AsFd as _;

use coldpress_format::{Body, DeviceNumber, Inode};
use rustix::fs::{Dev, FileType, Mode};
use rustix::io::Errno;

use super::Tree;
use crate::error::Error;
use crate::extract::metadata::Target;
use crate::extract::report::{Attribute, Extracted, NotRestored};
use crate::walk::Visited;

impl Tree<'_> {
    /// Creates a symbolic link, device, pipe or socket; `false` if this process may not.
    pub(super) fn create_special(
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
}

fn is_device(inode: &Inode) -> bool {
    matches!(inode.body, Body::BlockDevice(_) | Body::CharDevice(_))
}
