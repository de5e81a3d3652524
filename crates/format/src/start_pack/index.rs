//! The index of a pack: whose pages it holds, and where.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{PACK_PAGE_BYTES, PackPiece};
use crate::error::{Corrupt, Part, Rule};
use crate::inode::InodeRef;

/// Longest path of a file, as Linux has it.
const PATH_BYTES_MAX: u64 = 4096;

/// The beginning of the index as the pieces hold it.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawPackIndex {
    /// Number of files, which follow.
    pub file_count: U32,
    /// Number of runs, which follow the files.
    pub run_count: U32,
}

/// A file of the index; the bytes of its path follow.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawPackFile {
    /// Reference of its inode.
    pub inode: U64,
    /// Length of the file.
    pub size_bytes: U64,
    /// The first half of the BLAKE3 of where its content lies.
    pub digest: [u8; 16],
    /// Bytes of its path.
    pub path_bytes: U16,
}

/// A run of the index.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawPackRun {
    /// Index of the file.
    pub file: U32,
    /// Number of pages, at least 1.
    pub page_count: U32,
    /// The first page.
    pub first_page: U64,
}

/// A file of which a pack holds pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackFile {
    /// A path that leads to it, from the root of the image.
    pub path: Vec<u8>,
    /// Where its inode lies.
    pub inode: InodeRef,
    /// Its length.
    pub size_bytes: u64,
    /// The first half of the BLAKE3 of where its content lies.
    pub digest: [u8; 16],
}

/// Consecutive pages of a file, all of which lie in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackRun {
    /// Index of the file.
    pub file: u32,
    /// Number of pages, at least 1.
    pub page_count: u32,
    /// The first page.
    pub first_page: u64,
}

/// What a pack holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackIndex {
    /// Files, by their first page in the pack.
    pub files: Vec<PackFile>,
    /// Runs of pages, in the order of the pieces.
    pub runs: Vec<PackRun>,
}

impl PackIndex {
    /// Reads an index.
    ///
    /// * `start`: image byte of the pack, for errors.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if bytes are missing or left over, or a run has no pages or some that its file
    /// does not have.
    pub fn parse(bytes: &[u8], start: u64) -> Result<Self, Corrupt> {
        let mut rest = Rest { bytes, start };
        let head: RawPackIndex = rest.next()?;
        let mut index = Self::default();
        for _ in 0..head.file_count.get() {
            let raw: RawPackFile = rest.next()?;
            let path_bytes = raw.path_bytes.get();
            rest.check("bytes of a path", path_bytes.into(), 1, PATH_BYTES_MAX)?;
            index.files.push(PackFile {
                inode: InodeRef::parse(raw.inode.get(), Part::StartPack, start)?,
                size_bytes: raw.size_bytes.get(),
                digest: raw.digest,
                path: rest.take(path_bytes.into())?.to_vec(),
            });
        }
        for _ in 0..head.run_count.get() {
            let raw: RawPackRun = rest.next()?;
            let (file, pages, first) = (raw.file.get(), raw.page_count.get(), raw.first_page.get());
            let found = usize::try_from(file)
                .ok()
                .and_then(|at| index.files.get(at));
            let Some(found) = found else {
                let high = (index.files.len() as u64).saturating_sub(1);
                return Err(rest.out_of_range("file of a run", file.into(), 0, high));
            };
            let file_pages = found.size_bytes.div_ceil(PACK_PAGE_BYTES);
            let most = file_pages.saturating_sub(first);
            rest.check("pages of a run", pages.into(), 1, most)?;
            index.runs.push(PackRun {
                file,
                page_count: pages,
                first_page: first,
            });
        }
        rest.check("bytes after the index", rest.bytes.len() as u64, 0, 0)?;
        Ok(index)
    }

    /// The index as the pieces hold it.
    pub fn write(&self) -> Vec<u8> {
        let count = |len: usize| U32::new(u32::try_from(len).unwrap_or(u32::MAX));
        let head = RawPackIndex {
            file_count: count(self.files.len()),
            run_count: count(self.runs.len()),
        };
        let mut bytes = head.as_bytes().to_vec();
        for file in &self.files {
            let raw = RawPackFile {
                inode: file.inode.word().into(),
                size_bytes: file.size_bytes.into(),
                digest: file.digest,
                path_bytes: U16::new(u16::try_from(file.path.len()).unwrap_or(u16::MAX)),
            };
            bytes.extend_from_slice(raw.as_bytes());
            bytes.extend_from_slice(&file.path);
        }
        for run in &self.runs {
            let raw = RawPackRun {
                file: run.file.into(),
                page_count: run.page_count.into(),
                first_page: run.first_page.into(),
            };
            bytes.extend_from_slice(raw.as_bytes());
        }
        bytes
    }

    /// Bytes that a run takes in its piece: the last page of a file may be shorter.
    pub fn run_bytes(&self, run: &PackRun) -> u64 {
        let file = usize::try_from(run.file).ok();
        let file = file.and_then(|file| self.files.get(file));
        let start = run.first_page.saturating_mul(PACK_PAGE_BYTES);
        let len = u64::from(run.page_count).saturating_mul(PACK_PAGE_BYTES);
        let size_bytes = file.map_or(0, |file| file.size_bytes);
        size_bytes.saturating_sub(start).min(len)
    }

    /// Where each run lies: the index of its piece among those of pages, and the offset in it.
    ///
    /// * `pieces`: those of pages.
    /// * `start`: image byte of the pack, for errors.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] unless the runs fill the pieces, and none lies in two of them.
    pub fn places(&self, pieces: &[PackPiece], start: u64) -> Result<Vec<(u32, u32)>, Corrupt> {
        let mut places = Vec::with_capacity(self.runs.len());
        let mut numbered = (0_u32..).zip(pieces);
        let (mut piece, mut offset, mut len) = (0_u32, 0_u64, 0_u64);
        let mismatch = |found, expected| {
            let field = "pages of a piece";
            let rule = Rule::Mismatch {
                field,
                found,
                expected,
            };
            Corrupt::new(Part::StartPack, start, rule)
        };
        for run in &self.runs {
            if offset == len {
                let next = numbered.next().ok_or_else(|| mismatch(1, 0))?;
                (piece, offset, len) = (next.0, 0, next.1.len_bytes.into());
            }
            // A piece has at most 1 MiB.
            places.push((piece, u32::try_from(offset).unwrap_or(u32::MAX)));
            offset = offset.saturating_add(self.run_bytes(run));
            if offset > len {
                return Err(mismatch(offset, len));
            }
        }
        if offset == len && numbered.next().is_none() {
            return Ok(places);
        }
        Err(mismatch(offset, len))
    }
}

/// What is left of an index.
struct Rest<'a> {
    bytes: &'a [u8],
    start: u64,
}

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Corrupt> {
        let (needed, found) = (len as u64, self.bytes.len() as u64);
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or_else(|| {
            let rule = Rule::Truncated { needed, found };
            Corrupt::new(Part::StartPack, self.start, rule)
        })?;
        self.bytes = rest;
        Ok(taken)
    }

    fn next<T: FromBytes + Unaligned>(&mut self) -> Result<T, Corrupt> {
        let bytes = self.take(size_of::<T>())?;
        // As long as it has to be.
        T::read_from_bytes(bytes).map_err(|_| self.out_of_range("index", 0, 0, 0))
    }

    fn check(&self, field: &'static str, found: u64, low: u64, high: u64) -> Result<(), Corrupt> {
        Corrupt::check_range(Part::StartPack, self.start, field, found, low..=high)
    }

    fn out_of_range(&self, field: &'static str, found: u64, low: u64, high: u64) -> Corrupt {
        let rule = Rule::OutOfRange {
            field,
            found,
            low,
            high,
        };
        Corrupt::new(Part::StartPack, self.start, rule)
    }
}
