//! A file system with all its trees.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::error::{Error, Rule, check_inside};
use crate::tree::{File, Section, Tree};
use crate::volume::{DESCRIPTORS_AT, Descriptor, Naming};
use crate::{Fetch, SECTOR, SECTOR_BYTES};

/// Descriptors that are read. There are rarely more than four.
const DESCRIPTORS_MAX: usize = 32;

/// A file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iso {
    /// That of the primary volume comes first.
    pub trees: Vec<Tree>,
    /// Byte at which El Torito's catalogue begins.
    pub boot_catalog: Option<u64>,
    /// Byte after the last descriptor.
    pub descriptors_end: u64,
}

impl Iso {
    /// Reads all trees; `None` if there is no ISO 9660 file system.
    ///
    /// * `read`: fetches bytes at a place, or fails. It is asked only for what lies in the file.
    /// * `file_bytes`: of the file.
    ///
    /// # Errors
    ///
    /// What `read` says, and [`Error`] for what cannot be true: numbers whose forms differ, records
    /// across sectors, places outside of the file, directories to which several records lead, or
    /// too much of it.
    ///
    /// # Cost
    ///
    /// Reads each directory once; holds at most 64 MiB of paths and directories for each tree.
    pub fn read<E: From<Error>>(
        read: &mut Fetch<'_, E>,
        file_bytes: u64,
    ) -> Result<Option<Self>, E> {
        let mut volumes = Vec::new();
        let mut boot_catalog = None;
        let mut start = DESCRIPTORS_AT;
        let mut sector = [0; SECTOR];
        let part = "volume descriptor";
        loop {
            if start == DESCRIPTORS_AT && file_bytes < start + SECTOR_BYTES {
                return Ok(None);
            }
            check_inside(part, start, start, SECTOR_BYTES, file_bytes)?;
            read(start, &mut sector)?;
            let found = Descriptor::parse(&sector, start)?;
            let is_first = start == DESCRIPTORS_AT;
            match found {
                None if is_first => return Ok(None),
                Some(Descriptor::Volume(volume)) => volumes.push(volume),
                Some(Descriptor::Boot(place)) => boot_catalog = boot_catalog.or(Some(place)),
                Some(Descriptor::Other) => {}
                Some(Descriptor::End) | None => break,
            }
            start += SECTOR_BYTES;
            if start - DESCRIPTORS_AT >= DESCRIPTORS_MAX as u64 * SECTOR_BYTES {
                let limit = DESCRIPTORS_MAX;
                return Err(Error::new(part, start, Rule::NoEnd { limit }).into());
            }
        }
        if volumes.is_empty() {
            let rule = Rule::NoPrimary { found: 255 };
            return Err(Error::new(part, DESCRIPTORS_AT, rule).into());
        }
        let trees = volumes.into_iter();
        let trees = trees.map(|volume| Tree::read(read, volume, file_bytes));
        Ok(Some(Self {
            trees: trees.collect::<Result<_, E>>()?,
            boot_catalog,
            descriptors_end: start + SECTOR_BYTES,
        }))
    }

    /// The tree that Linux shows: that with Rock Ridge, else Joliet's, else the first.
    pub fn shown(&self) -> Option<&Tree> {
        let named = |naming| self.trees.iter().find(|it| it.volume.naming == naming);
        let shown = named(Naming::RockRidge).or_else(|| named(Naming::Joliet));
        shown.or_else(|| self.trees.first())
    }

    /// The file of a path in the tree that Linux shows.
    pub fn find(&self, path: &[u8]) -> Option<&File> {
        self.shown()?.files.iter().find(|file| file.path == path)
    }

    /// Bytes at which the records of a piece of a file begin, in all trees.
    pub fn records(&self, data: &Range<u64>) -> BTreeSet<u64> {
        let sections = self.sections().filter(|section| section.data == *data);
        sections.map(|section| section.record).collect()
    }

    /// What lies where these bytes are, but is not the same: the first of it.
    pub fn other_at(&self, data: &Range<u64>) -> Option<Range<u64>> {
        let files = self.sections().map(|section| section.data.clone());
        let directories = self.trees.iter().flat_map(|tree| tree.directories.clone());
        let catalog = self.boot_catalog.map(|start| start..start + SECTOR_BYTES);
        let descriptors = 0..self.descriptors_end;
        let mut all = files
            .filter(|other| other != data)
            .chain(directories)
            .chain(catalog)
            .chain([descriptors]);
        all.find(|other| other.start < data.end && data.start < other.end)
    }

    fn sections(&self) -> impl Iterator<Item = &Section> {
        let files = self.trees.iter().flat_map(|tree| &tree.files);
        files.flat_map(|file| &file.sections)
    }
}
