//! An archive of either kind, and the parts that it consists of.

use std::ops::Range;

use coldpress_image::ReadAt;
use coldpress_trace::FileAccess;

use crate::asar::Asar;
use crate::error::Error;
use crate::jimage::Jimage;
use crate::placement::used;
use crate::start_log::StartLog;
use crate::zip::Zip;

/// What an archive begins or ends with is not looked for in shorter files.
const ARCHIVE_BYTES_MIN: u64 = 22;

/// An archive whose parts can be moved.
#[derive(Clone, Debug)]
pub enum Archive {
    /// A ZIP archive.
    Zip(Zip),
    /// An archive of Electron.
    Asar(Asar),
    /// The modules of a JDK, which only `jlink` writes.
    Jimage(Jimage),
}

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Bytes of the archive that belong to it.
    pub range: Range<u64>,
}

impl<'a> Part<'a> {
    fn new(name: &'a [u8], range: &Range<u64>) -> Self {
        let range = range.clone();
        Self { name, range }
    }
}

impl Archive {
    /// Reads an archive; `None` if it is none.
    ///
    /// # Errors
    ///
    /// If it is damaged, or cannot be read.
    pub fn read(source: &dyn ReadAt) -> Result<Option<Self>, Error> {
        let size = source
            .size_bytes()
            .map_err(|error| Error::Read { start: 0, error })?;
        if size < ARCHIVE_BYTES_MIN {
            return Ok(None);
        }
        if let Some(asar) = Asar::read(source)? {
            return Ok(Some(Self::Asar(asar)));
        }
        if let Some(jimage) = Jimage::read(source)? {
            return Ok(Some(Self::Jimage(jimage)));
        }
        Ok(Zip::read(source)?.map(Self::Zip))
    }

    /// Whether a file of this name is worth a look.
    pub fn is_likely(name: &[u8]) -> bool {
        const ENDS: [&[u8]; 11] = [
            b".ja",
            b".jar",
            b".zip",
            b".asar",
            b".xpi",
            b".war",
            b".whl",
            b".pyz",
            b".apk",
            b".egg",
            b"/lib/modules",
        ];
        ENDS.iter().any(|end| name.ends_with(end))
    }

    /// The files in it.
    pub fn parts(&self) -> Vec<Part<'_>> {
        match self {
            Self::Zip(zip) => {
                let entries = zip.entries.iter();
                let parts = entries.map(|entry| Part::new(&entry.name, &entry.range));
                parts.collect()
            }
            Self::Asar(asar) => {
                let files = asar.files.iter();
                files
                    .map(|file| Part::new(&file.name, &file.range))
                    .collect()
            }
            Self::Jimage(jimage) => {
                let resources = jimage.resources.iter();
                resources
                    .map(|(name, range)| Part::new(name, range))
                    .collect()
            }
        }
    }

    /// Places among the parts of those whose pages a start touched, in its order.
    pub fn used_by_pages(&self, file: &FileAccess) -> Vec<usize> {
        let ranges: Vec<_> = self.parts().into_iter().map(|part| part.range).collect();
        used(&ranges, file)
    }

    /// Places among the parts of those that a log names, in its order, and how many lines name
    /// none.
    ///
    /// * `path`: of the archive, whose end the log names.
    pub fn used_by_log(&self, log: &StartLog, path: &[u8]) -> (Vec<usize>, usize) {
        let names: Vec<&[u8]> = self.parts().into_iter().map(|part| part.name).collect();
        log.used(path, &names)
    }
}
