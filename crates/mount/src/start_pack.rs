//! Pages that a start touches, from the start pack of the image.
//!
//! A block is read and decompressed as a whole, whatever is needed of it. While the pack is on its
//! way, reads that need more than it holds are put off: the kernel asks for pages around the one
//! that a program needs, and takes it well that it does not get them. It then asks for the one page
//! alone, which must be answered.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use coldpress_format::{File, InodeRef, PACK_PAGE_BYTES, PackPiece};
use coldpress_image::{Error, Image, StartPack};

use crate::cache::{Cache, Weight, lock};
use crate::content::Content;
use crate::stats::PackCounts;

/// Memory for decompressed pieces of at most 1 MiB.
const PIECES_BYTES: u64 = 32 << 20;
/// Pages that are remembered as put off; beyond, nothing is put off.
const PUT_OFF_MAX: usize = 1 << 20;

/// What a read that a pack might answer gets.
#[derive(Debug)]
pub(crate) enum PackAnswer {
    /// All of it is in the pack.
    Content(Content),
    /// It is put off.
    PutOff,
    /// What the blocks hold.
    AsBlocks,
}

/// A start pack, and what was read of it.
pub(crate) struct PackReader {
    pack: StartPack,
    files: HashMap<InodeRef, PackedFile>,
    pieces: Cache<u32, Piece>,
    /// Whether it is still on its way to those who need it.
    is_arriving: AtomicBool,
    is_damaged: AtomicBool,
    pages: AtomicU64,
    put_off: AtomicU64,
}

/// A file of which there are pages.
struct PackedFile {
    /// Its number in the index.
    index: usize,
    /// By their first page.
    runs: Vec<PackedRun>,
    /// Whether it is the file of which the pack was made.
    is_same: OnceLock<bool>,
    put_off: Mutex<HashSet<u64>>,
}

#[derive(Clone, Copy)]
struct PackedRun {
    pages: (u64, u64),
    piece: u32,
    offset: u32,
}

/// The pages of a piece.
pub(crate) struct Piece(Vec<u8>);

impl Weight for Piece {
    fn weight_bytes(&self) -> u64 {
        self.0.capacity() as u64
    }
}

impl PackReader {
    pub(crate) fn new(pack: StartPack) -> Self {
        let mut files: HashMap<InodeRef, PackedFile> = HashMap::new();
        for (run, (piece, offset)) in pack.runs() {
            let index = usize::try_from(run.file).unwrap_or(usize::MAX);
            let Some(file) = pack.files().get(index) else {
                continue;
            };
            let packed = files.entry(file.inode).or_insert_with(|| PackedFile {
                index,
                runs: Vec::new(),
                is_same: OnceLock::new(),
                put_off: Mutex::default(),
            });
            // Two files at one place: the second is not right, whatever it is.
            if packed.index == index {
                let end = run.first_page.saturating_add(run.page_count.into());
                let pages = (run.first_page, end);
                packed.runs.push(PackedRun {
                    pages,
                    piece,
                    offset,
                });
            }
        }
        for file in files.values_mut() {
            file.runs.sort_by_key(|run| run.pages);
        }
        Self {
            pack,
            files,
            pieces: Cache::new(PIECES_BYTES, PackPiece::LEN_MAX.into()),
            is_arriving: AtomicBool::new(false),
            is_damaged: AtomicBool::new(false),
            pages: AtomicU64::new(0),
            put_off: AtomicU64::new(0),
        }
    }

    pub(crate) fn pack(&self) -> &StartPack {
        &self.pack
    }

    /// Says whether it is on its way: what is not in it is put off meanwhile.
    pub(crate) fn set_arriving(&self, is_arriving: bool) {
        self.is_arriving.store(is_arriving, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> PackCounts {
        PackCounts {
            pages: self.pages.load(Ordering::Relaxed),
            put_off: self.put_off.load(Ordering::Relaxed),
        }
    }

    /// Answers a read of a file that is not empty and within the file.
    ///
    /// * `is_needed`: whether a program waits for all of it; it is then not put off.
    /// * `is_at_hand`: whether the blocks are decompressed, so that reading them costs nothing.
    ///
    /// # Errors
    ///
    /// [`Error`] if the pack is damaged, once: the blocks hold the same, and are used from then on.
    pub(crate) fn answer(
        &self,
        image: &Image,
        (inode, file): (InodeRef, &File),
        range: &Range<u64>,
        is_needed: bool,
        is_at_hand: impl FnOnce() -> bool,
    ) -> Result<PackAnswer, Error> {
        let Some(packed) = self.files.get(&inode) else {
            return Ok(PackAnswer::AsBlocks);
        };
        if self.is_damaged.load(Ordering::Relaxed) || !self.is_same(image, packed, file) {
            return Ok(PackAnswer::AsBlocks);
        }
        let parts = packed.parts(range);
        if let Some(parts) = parts {
            return match self.content(image, &parts) {
                Ok(content) => Ok(PackAnswer::Content(content)),
                Err(_) if self.is_damaged.swap(true, Ordering::Relaxed) => Ok(PackAnswer::AsBlocks),
                Err(error) => Err(error),
            };
        }
        let is_arriving = self.is_arriving.load(Ordering::Relaxed);
        if is_needed || !is_arriving || is_at_hand() || !packed.put_off(range) {
            return Ok(PackAnswer::AsBlocks);
        }
        self.put_off.fetch_add(1, Ordering::Relaxed);
        Ok(PackAnswer::PutOff)
    }

    /// Decompresses a piece, unless it is there.
    ///
    /// # Errors
    ///
    /// [`Error`] if it is damaged.
    pub(crate) fn piece(&self, image: &Image, piece: u32) -> Result<Arc<Piece>, Error> {
        self.pieces.get(piece, || {
            let (mut stored, mut content) = (Vec::new(), Vec::new());
            self.pack
                .read_piece(image, piece, &mut stored, &mut content)?;
            Ok(Piece(content))
        })
    }

    fn is_same(&self, image: &Image, packed: &PackedFile, file: &File) -> bool {
        *packed.is_same.get_or_init(|| {
            let noted = self.pack.files().get(packed.index);
            noted.is_some_and(|noted| {
                noted.size_bytes == file.size_bytes && noted.digest == image.content_digest(file)
            })
        })
    }

    fn content(&self, image: &Image, parts: &[(u32, Range<usize>)]) -> Result<Content, Error> {
        let len = parts.iter().map(|(_, within)| within.len()).sum();
        let mut joined = Vec::with_capacity(len);
        for (piece, within) in parts {
            let piece = self.piece(image, *piece)?;
            // Runs lie within their pieces: that was checked when the index was read.
            joined.extend_from_slice(piece.0.get(within.clone()).unwrap_or_default());
        }
        self.pages
            .fetch_add((len as u64).div_ceil(PACK_PAGE_BYTES), Ordering::Relaxed);
        Ok(Content::joined(joined))
    }
}

impl PackedFile {
    /// Where a range of the file lies in pieces; `None` unless all of it does.
    fn parts(&self, range: &Range<u64>) -> Option<Vec<(u32, Range<usize>)>> {
        let mut parts = Vec::new();
        let mut from = range.start;
        while from < range.end {
            let page = from / PACK_PAGE_BYTES;
            // The last run that begins at this page or before it.
            let after = self.runs.partition_point(|run| run.pages.0 <= page);
            let run = self.runs.get(after.checked_sub(1)?)?;
            if page >= run.pages.1 {
                return None;
            }
            let until = range.end.min(run.pages.1.saturating_mul(PACK_PAGE_BYTES));
            let start = run.pages.0.saturating_mul(PACK_PAGE_BYTES);
            let within = |byte: u64| usize::try_from(byte - start + u64::from(run.offset)).ok();
            parts.push((run.piece, within(from)?..within(until)?));
            from = until;
        }
        Some(parts)
    }

    /// Notes that a range is put off; returns `false` if a part of it was before: somebody needs
    /// it, then.
    fn put_off(&self, range: &Range<u64>) -> bool {
        let mut known = lock(&self.put_off);
        let pages = range.start / PACK_PAGE_BYTES..range.end.div_ceil(PACK_PAGE_BYTES);
        if known.len() >= PUT_OFF_MAX || pages.clone().any(|page| known.contains(&page)) {
            return false;
        }
        known.extend(pages);
        true
    }
}
