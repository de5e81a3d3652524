//! Writing a pack.

use std::io::{Seek, SeekFrom, Write};
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};

use coldpress_codec::{Encoder, Settings, Workers, ordered};
use coldpress_format::{BlockSize, BlockWord, File, PACK_PAGE_BYTES, PackHeader, PackPiece};
use coldpress_image::{Image, pack_digest, pack_piece_digest};
use coldpress_trace::WorkingSet;

use crate::choose::choose;
use crate::error::Error;
use crate::lay_out::{Layout, lay_out};
use crate::touched_pages::touched_pages;

/// Pieces between read and written, for each thread.
const WINDOW_PER_THREAD: usize = 4;
/// How often fewer pages are tried when those chosen were too many.
const TRIES_MAX: u32 = 8;
/// Of the pages that seem to have room so many are tried: others compress a little worse.
const TRIED_SHARE: f64 = 0.98;

/// How a pack is made.
#[derive(Clone, Copy, Debug)]
pub struct PackOptions {
    /// The compressor of its pieces.
    pub settings: Settings,
    /// Bytes that it may have.
    pub limit_bytes: u64,
    /// Threads that compress; the bytes are the same for any number.
    pub threads: NonZeroUsize,
}

/// What a pack holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PackSummary {
    /// Bytes of the pack.
    pub size_bytes: u64,
    /// Files of which it holds pages.
    pub files: u64,
    /// Pages that it holds.
    pub pages: u64,
    /// Pages that the start touched.
    pub touched_pages: u64,
    /// Files of the recording that the image does not have.
    pub missing_files: u64,
}

/// Is called with the pages done and all pages; says whether to go on.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64) -> ControlFlow<()>;

/// Writes the pack of an image, from where `out` stands.
///
/// * `set`: what a start touched, by paths of the image.
///
/// # Errors
///
/// [`Error`]; what was written by then is no pack.
///
/// # Cost
///
/// Decompresses each block at least once, and compresses the pages once, or several times if they
/// have no room. Holds some pieces of 1 MiB, and 24 bytes for each page.
pub fn write_pack<W: Write + Seek>(
    image: &Image,
    set: &WorkingSet,
    options: &PackOptions,
    out: &mut W,
    progress: Progress,
) -> Result<PackSummary, Error> {
    let touched = touched_pages(image, set)?;
    let touched_count: usize = touched.blocks.iter().map(|block| block.pages.len()).sum();
    if touched_count == 0 {
        return Err(Error::NothingTouched);
    }
    let limit_bytes = options.limit_bytes;
    let start = out.stream_position().map_err(Error::Write)?;
    let mut pages_max = touched_count;
    for _ in 0..TRIES_MAX {
        let pages = choose(&touched.blocks, pages_max);
        if pages.is_empty() {
            break;
        }
        let layout = lay_out(&touched.files, &pages);
        let draft = Draft {
            image,
            contents: &touched.contents,
            layout: &layout,
            options,
        };
        out.seek(SeekFrom::Start(start)).map_err(Error::Write)?;
        match draft.write(out, &mut *progress)? {
            Written::Whole { size_bytes } => {
                return Ok(PackSummary {
                    size_bytes,
                    files: layout.index.files.len() as u64,
                    pages: pages.len() as u64,
                    touched_pages: touched_count as u64,
                    missing_files: touched.missing_files,
                });
            }
            Written::TooLarge { fitting_share } => {
                pages_max = share_of(pages.len(), fitting_share * TRIED_SHARE);
            }
        }
    }
    Err(Error::TooSmall { limit_bytes })
}

/// What became of a try.
enum Written {
    Whole {
        size_bytes: u64,
    },
    /// It was given up when it had more bytes than allowed.
    TooLarge {
        /// The part of its pages that there would be room for.
        fitting_share: f64,
    },
}

/// A pack that is being written.
struct Draft<'a> {
    image: &'a Image,
    /// The files that were touched.
    contents: &'a [File],
    layout: &'a Layout,
    options: &'a PackOptions,
}

/// A piece, compressed.
struct Compressed {
    entry: PackPiece,
    stored: Vec<u8>,
    pages: u64,
}

impl Draft<'_> {
    fn write<W: Write + Seek>(&self, out: &mut W, progress: Progress) -> Result<Written, Error> {
        let start = out.stream_position().map_err(Error::Write)?;
        let index_bytes = self.layout.index.write();
        let index_pieces = index_bytes.len().div_ceil(PackPiece::LEN_MAX as usize);
        let count = index_pieces + self.layout.pieces.len();
        let mut header = PackHeader {
            compressor: self.options.settings.compressor,
            piece_count: u32::try_from(count).map_err(|_| Error::TooLarge)?,
            index_piece_count: u32::try_from(index_pieces).map_err(|_| Error::TooLarge)?,
            size_bytes: 0,
            superblock_digest: self.image.superblock_digest()?,
            table_digest: [0; 32],
        };
        let mut table = Vec::new();
        let mut size_bytes = header.pieces_offset();
        let room = vec![0; usize::try_from(size_bytes).map_err(|_| Error::TooLarge)?];
        out.write_all(&room).map_err(Error::Write)?;
        let mut encoder = Encoder::new(&self.options.settings, BlockSize::MAX)?;
        for bytes in index_bytes.chunks(PackPiece::LEN_MAX as usize) {
            let piece = compressed(&mut encoder, bytes, 0)?;
            size_bytes += piece.stored.len() as u64;
            table.extend(piece.entry.write());
            out.write_all(&piece.stored).map_err(Error::Write)?;
        }
        let page_count = self.layout.page_count();
        let (mut pages, mut too_large) = (0, None);
        let index_end = size_bytes;
        let limit_bytes = self.options.limit_bytes;
        let written = ordered(
            self.layout.pieces.iter().cloned().map(Ok),
            &workers(self.options.threads),
            || Ok(Encoder::new(&self.options.settings, BlockSize::MAX)?),
            |encoder, runs| self.piece(encoder, runs),
            |piece: Compressed| {
                size_bytes += piece.stored.len() as u64;
                pages += piece.pages;
                if size_bytes > limit_bytes {
                    let room = limit_bytes.saturating_sub(index_end);
                    too_large =
                        Some(ratio(room, size_bytes - index_end) * ratio(pages, page_count));
                    return Err(Error::Interrupted);
                }
                table.extend(piece.entry.write());
                out.write_all(&piece.stored).map_err(Error::Write)?;
                match progress(pages, page_count) {
                    ControlFlow::Continue(()) => Ok(()),
                    ControlFlow::Break(()) => Err(Error::Interrupted),
                }
            },
        );
        if let Some(fitting_share) = too_large {
            return Ok(Written::TooLarge { fitting_share });
        }
        written?;
        header.size_bytes = size_bytes;
        header.table_digest = pack_digest(&table);
        out.seek(SeekFrom::Start(start)).map_err(Error::Write)?;
        out.write_all(&header.write(pack_digest))
            .map_err(Error::Write)?;
        out.write_all(&table).map_err(Error::Write)?;
        let end = SeekFrom::Start(start + size_bytes);
        out.seek(end).map_err(Error::Write)?;
        Ok(Written::Whole { size_bytes })
    }

    /// Reads the pages of a piece and compresses them.
    fn piece(&self, encoder: &mut Encoder, runs: Range<usize>) -> Result<Compressed, Error> {
        let (mut content, mut pages) = (Vec::new(), 0);
        let index = &self.layout.index;
        for run in &index.runs[runs] {
            // Indexes of `lay_out`, which counted the same files.
            let file = &self.contents[self.layout.origins[run.file as usize]];
            let len = usize::try_from(index.run_bytes(run)).map_err(|_| Error::TooLarge)?;
            let from = content.len();
            content.resize(from + len, 0);
            let offset = run.first_page * PACK_PAGE_BYTES;
            self.image.read_at(file, offset, &mut content[from..])?;
            pages += u64::from(run.page_count);
        }
        compressed(encoder, &content, pages)
    }
}

fn compressed(encoder: &mut Encoder, content: &[u8], pages: u64) -> Result<Compressed, Error> {
    let mut stored = Vec::new();
    let shrank = encoder.compress(content, &mut stored)?;
    if !shrank {
        stored = content.to_vec();
    }
    let size = |len: usize| u32::try_from(len).map_err(|_| Error::TooLarge);
    let entry = PackPiece {
        size: BlockWord::new(size(stored.len())?, shrank),
        len_bytes: size(content.len())?,
        digest: pack_piece_digest(&stored),
    };
    Ok(Compressed {
        entry,
        stored,
        pages,
    })
}

fn workers(threads: NonZeroUsize) -> Workers {
    let window = threads.saturating_mul(NonZeroUsize::new(WINDOW_PER_THREAD).unwrap_or(threads));
    Workers { threads, window }
}

fn ratio(part: u64, whole: u64) -> f64 {
    // Counts below 2^52.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let ratio = part as f64 / whole.max(1) as f64;
    ratio
}

fn share_of(count: usize, share: f64) -> usize {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate, and at least one less"
    )]
    let part = (count as f64 * share) as usize;
    part.min(count.saturating_sub(1))
}
