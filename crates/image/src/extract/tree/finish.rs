//! Metadata of directories, when all that they hold is there.

use std::os::fd::{AsFd as _, BorrowedFd};

use coldpress_codec::Work;
use coldpress_format::InodeRef;

use super::Tree;
use crate::error::Error;
use crate::extract::metadata::Target;
use crate::extract::report::Extracted;

impl Tree<'_> {
    /// Restores what the inodes say about directories, children before their parents: a time must
    /// not change again, and a mode may forbid what is still to do. Those that were there keep what
    /// they have, unless the caller wants those of its own to be as in the image.
    pub(in crate::extract) fn finish_directories(
        &self,
        extracted: &mut Extracted,
    ) -> Result<(), Error> {
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

/// Whether a directory belongs to the caller.
fn is_own(directory: BorrowedFd<'_>) -> bool {
    let owner = rustix::fs::fstat(directory).map(|stat| stat.st_uid);
    owner.is_ok_and(|owner| owner == rustix::process::geteuid().as_raw())
}
