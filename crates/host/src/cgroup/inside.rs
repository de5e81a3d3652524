//! This process as a member of a cgroup, for what it reads itself.

use std::fs;
use std::path::PathBuf;

use super::{Cgroup, Version};
use crate::Error;

/// While this lives, this process, with all its threads, is a member of a cgroup.
#[derive(Debug)]
pub struct Inside<'a> {
    _cgroup: &'a Cgroup,
    /// The member file of the group where it was before.
    home: PathBuf,
}

impl Cgroup {
    /// Makes this process a member, so that what it reads is slowed down and counted as that of a
    /// program.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] without root.
    pub fn enter(&self) -> Result<Inside<'_>, Error> {
        let parent = self.path.with_file_name("");
        let home = match self.version {
            // It was made below the group of this process.
            Version::V1 => parent,
            Version::V2 => {
                let path = std::path::Path::new("/proc/self/cgroup");
                let own = fs::read_to_string(path).map_err(Error::io("read", path))?;
                let group = own.lines().find_map(|line| line.strip_prefix("0::/"));
                parent.join(group.unwrap_or(""))
            }
        };
        let members = self.path.join("cgroup.procs");
        fs::write(&members, "0").map_err(Error::io("put this process into", &members))?;
        Ok(Inside {
            _cgroup: self,
            home: home.join("cgroup.procs"),
        })
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // A drop cannot report; whoever kills the members spares this process.
        let _ = fs::write(&self.home, "0");
    }
}
