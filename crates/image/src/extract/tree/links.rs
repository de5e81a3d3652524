//! Further names of what was created.

use std::collections::HashSet;
use std::os::fd::AsFd;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::{Link, Tree};
use crate::error::Error;
use crate::extract::Extracted;

impl Tree<'_> {
    /// Gives inodes their further names.
    ///
    /// * `missing`: the files that were left out.
    pub(in crate::extract) fn link(
        &self,
        missing: &HashSet<usize>,
        extracted: &mut Extracted,
    ) -> Result<(), Error> {
        for link in &self.links {
            let is_missing = link.of.file.is_some_and(|file| missing.contains(&file));
            let linked = if is_missing {
                // Something else may stand under its name.
                let error = Errno::NOENT;
                let error = self
                    .destination
                    .error("link", link.directory, &link.name, error);
                Err(error)
            } else {
                self.link_one(link)
            };
            match linked {
                Ok(()) => extracted.hard_links += 1,
                Err(error) => self.leave_out(error, extracted)?,
            }
        }
        Ok(())
    }

    fn link_one(&self, link: &Link) -> Result<(), Error> {
        let from = self.destination.directory(link.of.directory)?;
        let to = self.destination.directory(link.directory)?;
        let make = || {
            let flags = AtFlags::empty();
            rustix::fs::linkat(&from, &*link.of.name, &to, &*link.name, flags)
        };
        let place = (link.directory, to.as_fd());
        let linked = self.destination.replace(place, &link.name, &make);
        linked.map_err(|error| {
            self.destination
                .error("link", link.directory, &link.name, error)
        })
    }
}
