//! A new file in the place of an old one, under all its names.
//!
//! Each name is exchanged with one of the new file (`renameat2(2)`, `RENAME_EXCHANGE`), so that it stands for a whole file at
//! every moment, and nothing is lost until the old file's last name goes. Before that it is looked at once more whether
//! anybody waits to open the old file, who would write where nobody reads any more: then all names are exchanged back.
//! That comes after the directories were written to the disk, which takes longer than a process needs from finding a
//! name to asking for its file.
//!
//! After a kill, the janitor removes the hidden names, and a [`Journal`] tells the next run which names still stand for
//! the old file.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process;

use rustix::fs::{AtFlags, CWD, RenameFlags, linkat, renameat_with};
use rustix::io::Errno;

use super::journal::Journal;
use super::{copy, directory, hidden};
use crate::held::{Held, Refusal};
use crate::{Error, Janitor, Leftover};

impl Held {
    /// Puts a new file in the place of this one.
    ///
    /// * `new`: whole and on the disk, on the same file system; it may be without a name.
    /// * `names`: all names of this file.
    /// * `kept`: a name that this file gets, if it is not to vanish; nothing may stand there.
    ///
    /// # Errors
    ///
    /// [`Refusal::Opened`] if somebody opened this file, [`Refusal::Renamed`] if its names changed, [`Error::Io`]. All names
    /// stand for this file then.
    pub fn replace_with(
        &self,
        new: &File,
        names: &[PathBuf],
        kept: Option<&Path>,
        janitor: &Janitor,
    ) -> Result<(), Error> {
        self.check_names(names)?;
        // One name is exchanged at once; there is no half.
        let journal = match names {
            [_] => None,
            _ => Some(Journal::write(self, new, names)?),
        };
        let done = exchange(self, new, names, kept, janitor);
        match journal {
            // What could not be exchanged back needs it.
            Some(journal) if done.is_ok() || journal.names().0.is_empty() => {
                done.and(journal.remove())
            }
            _ => done,
        }
    }
}

/// Ends what a killed run began: if some names of the file that a name stands for were exchanged and others not, the
/// others are. Returns how many those were.
///
/// # Errors
///
/// [`Refusal::Diverged`] if one of the two files was changed since, so that nobody knows which is meant; those of
/// [`Held::take`]; [`Error::Io`].
pub fn relink(name: &Path, janitor: &Janitor) -> Result<usize, Error> {
    let Some(journal) = Journal::beside(name)? else {
        return Ok(0);
    };
    let (new_names, old_names) = journal.names();
    if let (Some(new_name), Some(old_name)) = (new_names.first(), old_names.first()) {
        let new = Held::take(new_name)?;
        let old = Held::take(old_name)?;
        let is_same = copy::is_same_content(&old, new.file())?
            && old
                .has_metadata_of(new.file())
                .map_err(Error::io("look at", old_name))?;
        if !is_same {
            return Err(old.refused(Refusal::Diverged));
        }
        old.check_names(&old_names)?;
        exchange(&old, new.file(), &old_names, None, janitor)?;
    }
    journal.remove()?;
    Ok(if new_names.is_empty() {
        0
    } else {
        old_names.len()
    })
}

fn exchange(
    old: &Held,
    new: &File,
    names: &[PathBuf],
    kept: Option<&Path>,
    janitor: &Janitor,
) -> Result<(), Error> {
    let mut exchange = Exchange {
        janitor,
        hidden: Vec::new(),
        exchanged: 0,
    };
    for name in names {
        exchange.link(new, name)?;
    }
    exchange.all(old)?;
    let directories: BTreeSet<&Path> = names.iter().map(|name| directory(name)).collect();
    for directory in directories {
        File::open(directory)
            .and_then(|directory| directory.sync_all())
            .map_err(Error::io("write back", directory))?;
    }
    old.check_alone()?;
    old.check_names(&exchange.hidden_names())?;
    if let (Some(kept), Some((hidden, _))) = (kept, exchange.hidden.first()) {
        fs::hard_link(hidden, kept).map_err(Error::io("keep the old file as", kept))?;
    }
    exchange.exchanged = 0;
    Ok(())
}

/// Names on their way; on drop those that were exchanged are exchanged back, and the hidden ones go.
struct Exchange<'a> {
    janitor: &'a Janitor,
    /// Each hidden name and the one that it is exchanged with.
    hidden: Vec<(PathBuf, PathBuf)>,
    /// How many of them were.
    exchanged: usize,
}

impl Exchange<'_> {
    /// Gives the new file a hidden name beside one of the old file.
    fn link(&mut self, new: &File, name: &Path) -> Result<(), Error> {
        let hidden = hidden(name, &format!(".coldpress-{}", process::id()));
        let open = format!("/proc/self/fd/{}", new.as_raw_fd());
        // It must not be watched if it is somebody else's.
        if hidden.symlink_metadata().is_ok() {
            let error = std::io::ErrorKind::AlreadyExists.into();
            return Err(Error::io("give a name to the copy at", &hidden)(error));
        }
        self.janitor.watch(Leftover::File(hidden.clone()));
        linkat(CWD, open.as_str(), CWD, &hidden, AtFlags::SYMLINK_FOLLOW)
            .map_err(Error::errno("give a name to the copy at", &hidden))?;
        self.hidden.push((hidden, name.to_owned()));
        Ok(())
    }

    fn all(&mut self, old: &Held) -> Result<(), Error> {
        for (hidden, name) in &self.hidden {
            old.check_alone()?;
            swap(hidden, name).map_err(Error::errno(
                "exchange (as ext4, XFS, Btrfs and F2FS can) the name of",
                name,
            ))?;
            self.exchanged += 1;
            // Somebody may have put another file there since it was looked at.
            if !old.is_at(hidden) {
                return Err(old.refused(Refusal::Renamed));
            }
        }
        Ok(())
    }

    fn hidden_names(&self) -> Vec<PathBuf> {
        self.hidden
            .iter()
            .map(|(hidden, _)| hidden.clone())
            .collect()
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        let exchanged = self.hidden.iter().take(self.exchanged).rev();
        let mut stuck = BTreeSet::new();
        for (hidden, name) in exchanged {
            if swap(hidden, name).is_err() {
                stuck.insert(hidden.clone());
            }
        }
        for (hidden, _) in &self.hidden {
            // Both files are whole and the same. What cannot be exchanged back keeps its hidden name, as that may be
            // the last one of a file that somebody writes to.
            if stuck.contains(hidden) || fs::remove_file(hidden).is_ok() {
                self.janitor.forget(&Leftover::File(hidden.clone()));
            }
        }
    }
}

fn swap(one: &Path, other: &Path) -> Result<(), Errno> {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)
}
