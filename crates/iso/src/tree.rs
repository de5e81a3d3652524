//! A tree of directories.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use crate::error::{Error, Rule, check_inside};
use crate::record::Record;
use crate::rock_ridge::{Attributes, Extras, extras, skipped_bytes};
use crate::volume::{Naming, Volume};
use crate::{Fetch, SECTOR, SECTOR_BYTES};

/// Bytes of all directories, and of all paths, of one tree; more are not read.
const BYTES_MAX: u64 = 32 << 20;
/// Bytes of the longest record, and so of the least that a directory's own record takes.
const RECORD_MAX: usize = 255;

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Byte of the file system at which its directory record begins.
    pub record: u64,
    /// Bytes of the file system that it takes.
    pub data: Range<u64>,
}

/// Something in a directory that is none itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Without a slash at the beginning. Plain names are in lower case, and without `;1`.
    pub path: Vec<u8>,
    /// One, or several if it goes on elsewhere; of symlinks one that is empty.
    pub sections: Vec<Section>,
    /// What Rock Ridge says of it, if there is Rock Ridge.
    pub attributes: Option<Attributes>,
}

impl File {
    /// Its bytes.
    pub fn size_bytes(&self) -> u64 {
        let sizes = self.sections.iter().map(|it| it.data.end - it.data.start);
        sizes.sum()
    }
}

/// The tree of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Its descriptor.
    pub volume: Volume,
    /// In the order of their records.
    pub files: Vec<File>,
    /// The bytes of each directory.
    pub directories: Vec<Range<u64>>,
}

/// A tree while it is read.
struct Walk<'a, E> {
    read: &'a mut Fetch<'a, E>,
    file_bytes: u64,
    naming: Naming,
    /// Bytes to pass over in system use areas.
    skipped: usize,
    visited: BTreeSet<u64>,
    waiting: VecDeque<(Vec<u8>, Range<u64>)>,
    directory_bytes: u64,
    path_bytes: u64,
    files: Vec<File>,
}

impl Tree {
    pub(crate) fn read<E: From<Error>>(
        read: &mut Fetch<'_, E>,
        mut volume: Volume,
        file_bytes: u64,
    ) -> Result<Self, E> {
        let root = Record::parse(&volume.root, volume.root_start(), file_bytes)?;
        let root = root.ok_or_else(|| {
            let (found, expected) = (0, 34);
            let rule = Rule::Short { found, expected };
            Error::new("root directory record", volume.root_start(), rule)
        })?;
        let mut walk = Walk {
            read,
            file_bytes,
            naming: volume.naming,
            skipped: 0,
            visited: BTreeSet::new(),
            waiting: VecDeque::new(),
            directory_bytes: 0,
            path_bytes: 0,
            files: Vec::new(),
        };
        walk.enter(Vec::new(), root.data, root.start)?;
        let mut directories = Vec::new();
        while let Some((path, place)) = walk.waiting.pop_front() {
            walk.directory(&path, &place)?;
            directories.push(place);
        }
        volume.naming = walk.naming;
        Ok(Self {
            volume,
            files: walk.files,
            directories,
        })
    }
}

impl<E: From<Error>> Walk<'_, E> {
    /// Lets a directory wait to be read.
    fn enter(&mut self, path: Vec<u8>, place: Range<u64>, record: u64) -> Result<(), Error> {
        let failed = |rule| Err(Error::new("directory record", record, rule));
        if !self.visited.insert(place.start) {
            return failed(Rule::Cycle { place: place.start });
        }
        self.directory_bytes += place.end - place.start;
        if self.directory_bytes > BYTES_MAX {
            let (limit, what) = (BYTES_MAX, "directories");
            return failed(Rule::Many { limit, what });
        }
        self.waiting.push_back((path, place));
        Ok(())
    }

    fn directory(&mut self, path: &[u8], place: &Range<u64>) -> Result<(), E> {
        let len = usize::try_from(place.end - place.start).unwrap_or_default();
        let mut bytes = vec![0; len];
        (self.read)(place.start, &mut bytes)?;
        let mut start = place.start;
        // A record that says that the next one is of the same file.
        let mut unfinished: Option<(u64, Vec<u8>)> = None;
        for sector in bytes.chunks(SECTOR) {
            let mut rest = sector;
            let mut at = start;
            start += SECTOR_BYTES;
            while let Some(record) = Record::parse(rest, at, self.file_bytes)? {
                let len = rest.first().copied().unwrap_or(0);
                rest = rest.get(usize::from(len)..).unwrap_or_default();
                at += u64::from(len);
                if record.is_parent() {
                    continue;
                }
                if record.is_self() {
                    self.begin(path, &record);
                    continue;
                }
                let before = unfinished.take();
                if record.goes_on {
                    unfinished = Some((record.start, record.name.to_vec()));
                }
                if let Some((at, name)) = before {
                    if name != record.name || record.is_directory {
                        let error = Error::new("directory record", at, Rule::Unfinished);
                        return Err(error.into());
                    }
                    if let Some(file) = self.files.last_mut() {
                        file.sections.push(Section {
                            record: record.start,
                            data: record.data,
                        });
                    }
                    continue;
                }
                self.entry(path, record)?;
            }
        }
        match unfinished {
            None => Ok(()),
            Some((at, _)) => Err(Error::new("directory record", at, Rule::Unfinished).into()),
        }
    }

    /// The root's own record says whether there is Rock Ridge.
    fn begin(&mut self, path: &[u8], record: &Record<'_>) {
        let is_root = path.is_empty() && self.naming == Naming::Plain;
        if let Some(skipped) = skipped_bytes(record.system_use).filter(|_| is_root) {
            self.naming = Naming::RockRidge;
            self.skipped = skipped;
        }
    }

    fn entry(&mut self, path: &[u8], record: Record<'_>) -> Result<(), E> {
        let extras = if self.naming == Naming::RockRidge {
            let system_use = record.system_use.get(self.skipped..).unwrap_or_default();
            extras(self.read, system_use, record.start, self.file_bytes)?
        } else {
            Extras::default()
        };
        // Another record stands for it, where it belongs.
        if extras.is_relocated {
            return Ok(());
        }
        let mut full = path.to_vec();
        if !path.is_empty() {
            full.push(b'/');
        }
        full.extend(extras.name.unwrap_or_else(|| self.name(record.name)));
        self.path_bytes += full.len() as u64;
        if self.path_bytes > BYTES_MAX {
            let (limit, what) = (BYTES_MAX, "paths");
            let rule = Rule::Many { limit, what };
            return Err(Error::new("directory record", record.start, rule).into());
        }
        let place = match extras.child {
            Some(place) => self.relocated(place, record.start)?,
            None if record.is_directory => record.data,
            None => {
                self.files.push(File {
                    path: full,
                    sections: vec![Section {
                        record: record.start,
                        data: record.data,
                    }],
                    attributes: extras.attributes,
                });
                return Ok(());
            }
        };
        Ok(self.enter(full, place, record.start)?)
    }

    /// The bytes of a directory whose own record is at a byte.
    fn relocated(&mut self, place: u64, record: u64) -> Result<Range<u64>, E> {
        let part = "directory record";
        check_inside(part, record, place, RECORD_MAX as u64, self.file_bytes)?;
        let mut bytes = [0; RECORD_MAX];
        (self.read)(place, &mut bytes)?;
        let own = Record::parse(&bytes, place, self.file_bytes)?;
        Ok(own.map_or(place..place, |own| own.data))
    }

    fn name(&self, name: &[u8]) -> Vec<u8> {
        if self.naming == Naming::Joliet {
            let units = name.chunks(2).map(|unit| match unit {
                [high, low] => u16::from(*high) << 8 | u16::from(*low),
                _ => 0,
            });
            let letters = char::decode_utf16(units);
            let letters = letters.map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER));
            let name: String = letters.collect();
            return name.strip_suffix(";1").unwrap_or(&name).into();
        }
        // As Linux shows them.
        let name = name.strip_suffix(b";1").unwrap_or(name);
        name.strip_suffix(b".").unwrap_or(name).to_ascii_lowercase()
    }
}
