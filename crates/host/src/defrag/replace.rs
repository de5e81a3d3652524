//! A new file in the place of an old one, under all its names.
//!
//! Each name is exchanged with one of the new file (`renameat2(2)`, `RENAME_EXCHANGE`), so that it
//! stands for a whole file at every moment, and nothing is lost until the old file's last name
//! goes. Before that it is looked at once more whether anybody waits to open the old file, who
//! would write where nobody reads any more: then all names are exchanged back. That comes after the
//! directories were written to the disk, which takes longer than a process needs from finding a
//! name to asking for its file.
//!
//! All this is done in directories that are open and have a name of the old file: whoever may
//! rename what is above could else lead root to the same name elsewhere.
//!
//! After a kill, the janitor removes the hidden names, and a [`Journal`] tells the next run which
//! names still stand for the old file.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, openat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::journal::Journal;
use super::{copy, directory, hidden};
use crate::leased_file::{LeasedFile, Refusal};
use crate::scratch::hidden_name;
use crate::{Error, Janitor, Leftover};

impl LeasedFile {
    /// Puts a new file in the place of this one.
    ///
    /// * `new`: whole and on the disk, on the same file system; it may be without a name.
    /// * `names`: all names of this file.
    /// * `kept`: a name beside the first that this file gets, if it is not to vanish; nothing may
    ///   stand there.
    ///
    /// # Errors
    ///
    /// [`Refusal::Opened`] if somebody opened this file, [`Refusal::Renamed`] if its names changed,
    /// [`Error::Io`]. All names stand for this file then.
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

/// Ends what a killed run began: if some names of the file that a name stands for were exchanged
/// and others not, the others are. Returns how many those were.
///
/// # Errors
///
/// [`Refusal::Diverged`] if one of the two files was changed since, so that nobody knows which is
/// meant; those of [`LeasedFile::take`]; [`Error::Io`].
pub fn relink(name: &Path, janitor: &Janitor) -> Result<usize, Error> {
    let Some(journal) = Journal::beside(name)? else {
        return Ok(0);
    };
    let (new_names, old_names) = journal.names();
    if let (Some(new_name), Some(old_name)) = (new_names.first(), old_names.first()) {
        let new = LeasedFile::take(new_name)?;
        let old = LeasedFile::take(old_name)?;
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
    old: &LeasedFile,
    new: &File,
    names: &[PathBuf],
    kept: Option<&Path>,
    janitor: &Janitor,
) -> Result<(), Error> {
    let mut exchange = Exchange {
        janitor,
        directories: Vec::new(),
        pairs: Vec::new(),
        exchanged: 0,
    };
    for name in names {
        exchange.link(old, new, name)?;
    }
    exchange.all(old)?;
    for directory in &exchange.directories {
        let synced = File::open(format!("/proc/self/fd/{}", directory.1.as_raw_fd()));
        synced
            .and_then(|directory| directory.sync_all())
            .map_err(Error::io("write back", &directory.0))?;
    }
    old.check_alone()?;
    old.check_names(&exchange.hidden_names())?;
    if let (Some(kept), Some(on_its_way)) = (kept, exchange.pairs.first()) {
        let directory = &on_its_way.directory;
        let name = kept.file_name().unwrap_or_default();
        linkat(
            directory,
            &on_its_way.hidden,
            directory,
            name,
            AtFlags::empty(),
        )
        .map_err(Error::errno("keep the old file as", kept))?;
    }
    exchange.exchanged = 0;
    Ok(())
}

/// A name of the old file, and the one that it is exchanged with.
struct Pair {
    directory: Rc<OwnedFd>,
    path: PathBuf,
    name: OsString,
    hidden: OsString,
}

impl Pair {
    fn hidden_path(&self) -> PathBuf {
        self.path.with_file_name(&self.hidden)
    }

    fn swap(&self) -> Result<(), Errno> {
        let directory = &self.directory;
        let flags = RenameFlags::EXCHANGE;
        renameat_with(directory, &self.hidden, directory, &self.name, flags)
    }

    /// Whether a name in the directory stands for a file.
    fn is(&self, name: &OsString, file: &LeasedFile) -> bool {
        let found = statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW);
        let id = |metadata: &Metadata| (metadata.dev(), metadata.ino());
        found.is_ok_and(|found| (found.st_dev, found.st_ino) == id(file.metadata()))
    }
}

/// Names on their way; on drop those that were exchanged are exchanged back, and the hidden ones
/// go.
struct Exchange<'a> {
    janitor: &'a Janitor,
    /// Those that are open, each once.
    directories: Vec<(PathBuf, Rc<OwnedFd>)>,
    pairs: Vec<Pair>,
    /// How many of them were exchanged.
    exchanged: usize,
}

impl Exchange<'_> {
    /// Gives the new file a hidden name beside one of the old file.
    fn link(&mut self, old: &LeasedFile, new: &File, path: &Path) -> Result<(), Error> {
        let hidden = hidden(path, &hidden_name());
        let pair = Pair {
            directory: self.directory(directory(path))?,
            path: path.to_owned(),
            name: path.file_name().unwrap_or_default().to_owned(),
            hidden: hidden.file_name().unwrap_or_default().to_owned(),
        };
        if !pair.is(&pair.name, old) {
            return Err(old.refused(Refusal::Renamed));
        }
        self.janitor.watch(Leftover::File(hidden.clone()));
        let open = format!("/proc/self/fd/{}", new.as_raw_fd());
        let (to, flags) = (&pair.directory, AtFlags::SYMLINK_FOLLOW);
        linkat(CWD, open.as_str(), to, &pair.hidden, flags)
            .map_err(Error::errno("give a name to the copy at", &hidden))?;
        self.pairs.push(pair);
        Ok(())
    }

    fn directory(&mut self, path: &Path) -> Result<Rc<OwnedFd>, Error> {
        if let Some((_, open)) = self.directories.iter().find(|(known, _)| known == path) {
            return Ok(Rc::clone(open));
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = openat(CWD, path, flags, Mode::empty());
        let open = Rc::new(open.map_err(Error::errno("open", path))?);
        self.directories.push((path.to_owned(), Rc::clone(&open)));
        Ok(open)
    }

    fn all(&mut self, old: &LeasedFile) -> Result<(), Error> {
        for pair in &self.pairs {
            old.check_alone()?;
            pair.swap().map_err(Error::errno(
                "exchange (as ext4, XFS, Btrfs and F2FS can) the name of",
                &pair.path,
            ))?;
            self.exchanged += 1;
            // Somebody may have put another file there since it was looked at.
            if !pair.is(&pair.hidden, old) {
                return Err(old.refused(Refusal::Renamed));
            }
        }
        Ok(())
    }

    fn hidden_names(&self) -> Vec<PathBuf> {
        self.pairs.iter().map(Pair::hidden_path).collect()
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        let exchanged = self.pairs.iter().take(self.exchanged).rev();
        let mut stuck = BTreeSet::new();
        for pair in exchanged {
            if pair.swap().is_err() {
                stuck.insert(pair.hidden_path());
            }
        }
        for pair in &self.pairs {
            let hidden = pair.hidden_path();
            // Both files are whole and the same. What cannot be exchanged back keeps its hidden
            // name, as that may be the last one of a file that somebody writes to.
            let unlinked = || unlinkat(&pair.directory, &pair.hidden, AtFlags::empty());
            if stuck.contains(&hidden) || unlinked().is_ok() {
                self.janitor.forget(&Leftover::File(hidden));
            }
        }
    }
}
