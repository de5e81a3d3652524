//! Which names a file had before they were exchanged one after the other, kept until all are.
//!
//! Names that lie in several directories cannot be exchanged at once. After a kill in between, some
//! stand for the new file and some for the old one; both are whole and the same, but no links of
//! each other any more. Words of the journal, each with a zero byte behind it: `coldpress-links 1`,
//! device, old inode, new inode, all names.
//!
//! Whoever may write to the directory could put a journal there, so one that is not this user's own
//! is no journal, and what it says is believed of files that are the same in content, owner, mode
//! and xattrs only.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{directory, hidden};
use crate::Error;
use crate::leased_file::LeasedFile;

const FIRST_WORD: &[u8] = b"coldpress-links 1";

/// A file has 65,000 links at most on ext4, and names of a few hundred bytes each.
const JOURNAL_BYTES_MAX: u64 = 64 << 20;

/// A journal in its file.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    device: u64,
    old: u64,
    new: u64,
    names: Vec<PathBuf>,
}

impl Journal {
    /// Writes one beside the first name, and waits for the disk.
    pub(super) fn write(old: &LeasedFile, new: &File, names: &[PathBuf]) -> Result<Self, Error> {
        let first = names.first().map_or(old.path(), PathBuf::as_path);
        let path = place(first);
        let metadata = new
            .metadata()
            .map_err(Error::io("look at a copy of", first))?;
        let journal = Self {
            device: metadata.dev(),
            old: old.metadata().ino(),
            new: metadata.ino(),
            names: names.to_vec(),
            path,
        };
        let mut options = File::options();
        options.write(true).create_new(true).mode(0o600);
        let written = options.open(&journal.path).and_then(|mut file| {
            file.write_all(&journal.text())?;
            file.sync_all()?;
            File::open(directory(&journal.path))?.sync_all()
        });
        written.map_err(Error::io("note the names at", &journal.path))?;
        Ok(journal)
    }

    /// The one beside a name, if a killed run left it there.
    pub(super) fn beside(name: &Path) -> Result<Option<Self>, Error> {
        let path = place(name);
        let bytes = match read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(Error::io("read the names in", &path))?,
        };
        let Some(bytes) = bytes else {
            return Ok(None);
        };
        let journal = parse(&bytes, path.clone());
        if journal.is_none() {
            // The run was killed before the journal was whole, so before it exchanged anything.
            fs::remove_file(&path).map_err(Error::io("remove the names in", &path))?;
        }
        Ok(journal)
    }

    /// The names that stand for the new file, and those that still stand for the old one.
    pub(super) fn names(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let of = |inode: u64| {
            let is_it = |name: &&PathBuf| {
                let found = name.symlink_metadata();
                found.is_ok_and(|found| found.dev() == self.device && found.ino() == inode)
            };
            self.names.iter().filter(is_it).cloned().collect()
        };
        (of(self.new), of(self.old))
    }

    /// It has served.
    pub(super) fn remove(self) -> Result<(), Error> {
        fs::remove_file(&self.path).map_err(Error::io("remove the names in", &self.path))
    }

    fn text(&self) -> Vec<u8> {
        let numbers = [self.device, self.old, self.new].map(|number| number.to_string());
        let names = self.names.iter().map(|name| name.as_os_str().as_bytes());
        let words = std::iter::once(FIRST_WORD)
            .chain(numbers.iter().map(String::as_bytes))
            .chain(names);
        words.flat_map(|word| [word, &[0]].concat()).collect()
    }
}

fn place(name: &Path) -> PathBuf {
    hidden(name, ".coldpress-links")
}

/// `None` if it is not this user's own.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // Looked at first: a pipe or a device is not opened.
    if !is_own(&path.symlink_metadata()?) {
        return Ok(None);
    }
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if !is_own(&file.metadata()?) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(JOURNAL_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn is_own(metadata: &Metadata) -> bool {
    let is_ours = metadata.uid() == rustix::process::geteuid().as_raw();
    let is_private = metadata.mode() & 0o7777 == 0o600;
    metadata.is_file() && metadata.nlink() == 1 && is_ours && is_private
}

/// `None` for what is no journal, or a part of one.
fn parse(bytes: &[u8], path: PathBuf) -> Option<Journal> {
    let text = bytes.strip_suffix(&[0])?;
    let mut words = text.split(|byte| *byte == 0);
    let is_known = words.next()? == FIRST_WORD;
    let mut number = || std::str::from_utf8(words.next()?).ok()?.parse().ok();
    let (device, old, new) = (number()?, number()?, number()?);
    let names = words.map(|word| PathBuf::from(OsString::from_vec(word.to_vec())));
    is_known.then(|| Journal {
        names: names.collect(),
        device,
        old,
        new,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_read_as_it_was_written_and_nothing_else_is() {
        let journal = Journal {
            path: "x".into(),
            device: 7,
            old: 8,
            new: u64::MAX,
            names: vec![
                "/a b\n".into(),
                PathBuf::from(OsString::from_vec(vec![0xff])),
            ],
        };
        let text = journal.text();
        let read = parse(&text, "x".into()).unwrap();
        assert_eq!(read.names, journal.names);
        assert_eq!((read.device, read.old, read.new), (7, 8, u64::MAX));
        for len in [0, 1, 17, 18, 20, text.len() - 1] {
            assert!(parse(&text[..len], "x".into()).is_none(), "{len}");
        }
        assert!(parse(&text.to_ascii_uppercase(), "x".into()).is_none());
    }

    #[test]
    fn what_others_may_write_is_no_journal() {
        let stage = tempfile::tempdir().unwrap();
        let name = stage.path().join("file");
        let path = place(&name);
        assert!(Journal::beside(&name).unwrap().is_none());
        let text = b"coldpress-links 1\x001\x002\x003\0/a\0";
        for (mode, is_journal) in [(0o600, true), (0o620, false), (0o602, false)] {
            fs::write(&path, text).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
            fs::set_permissions(&path, mode).unwrap();
            assert_eq!(Journal::beside(&name).unwrap().is_some(), is_journal);
            fs::remove_file(&path).unwrap();
        }
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(Journal::beside(&name).unwrap().is_none());
    }
}
