//! What somebody who reads images can do.

use coldpress_format::Compressor;
use serde::Serialize;

/// Whether something is so, as far as anyone said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Known {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// Nobody said so.
    Unknown,
}

impl From<bool> for Known {
    fn from(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}

/// The compressors that kernels may have, the most compatible first.
pub const COMPRESSORS: [Compressor; 5] = [
    Compressor::Gzip,
    Compressor::Lzo,
    Compressor::Lz4,
    Compressor::Xz,
    Compressor::Zstd,
];

/// A filter of xz: its number in the xz format and its name, which in capitals is that of the
/// kernel's option `CONFIG_XZ_DEC_`.
pub const FILTERS: [(u64, &str); 8] = [
    (4, "x86"),
    (5, "powerpc"),
    (6, "ia64"),
    (7, "arm"),
    (8, "armthumb"),
    (9, "sparc"),
    (10, "arm64"),
    (11, "riscv"),
];

/// Who reads images.
#[derive(Clone, Debug)]
pub struct Reader {
    /// As it is called in sentences.
    pub name: String,
    /// A kernel, or a program that decompresses by itself.
    pub is_kernel: bool,
    /// Whether it reads SquashFS at all.
    pub squashfs: Known,
    /// In the order of [`COMPRESSORS`].
    pub compressors: [Known; COMPRESSORS.len()],
    /// In the order of [`FILTERS`].
    pub filters: [Known; FILTERS.len()],
    /// Whether it shows extended attributes.
    pub xattrs: Known,
    /// Bytes of a page of memory; `None` if that does not matter or is not known.
    pub page_bytes: Option<u32>,
    /// Whether it verifies block devices by hash trees.
    pub dm_verity: Known,
    /// Whether it has the rules of the snap store.
    pub is_snap_store: bool,
    /// Where all this was learnt, and when.
    pub source: String,
}

impl Reader {
    /// One of which nothing is known.
    pub fn unknown(name: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            is_kernel: true,
            squashfs: Known::Unknown,
            compressors: [Known::Unknown; COMPRESSORS.len()],
            filters: [Known::Unknown; FILTERS.len()],
            xattrs: Known::Unknown,
            page_bytes: None,
            dm_verity: Known::Unknown,
            is_snap_store: false,
            source: source.into(),
        }
    }

    /// Whether it decompresses this.
    pub fn compressor(&self, compressor: Compressor) -> Known {
        let mut known = COMPRESSORS.iter().zip(self.compressors);
        // No kernel of Linux itself ever had lzma.
        known
            .find(|(name, _)| **name == compressor)
            .map_or(Known::No, |(_, known)| known)
    }

    /// Whether it undoes the filter of this number.
    pub fn filter(&self, number: u64) -> Known {
        let mut known = FILTERS.iter().zip(self.filters);
        known
            .find(|((id, _), _)| *id == number)
            .map_or(Known::Unknown, |(_, known)| known)
    }

    /// Names of the compressors of which this is known.
    pub fn compressors_that_are(&self, known: Known) -> Vec<&'static str> {
        let all = COMPRESSORS.iter().zip(self.compressors);
        all.filter(|(_, found)| *found == known)
            .map(|(compressor, _)| compressor.name())
            .collect()
    }

    /// Names of the filters of which this is known.
    pub fn filters_that_are(&self, known: Known) -> Vec<&'static str> {
        let all = FILTERS.iter().zip(self.filters);
        all.filter(|(_, found)| *found == known)
            .map(|((_, name), _)| *name)
            .collect()
    }
}
