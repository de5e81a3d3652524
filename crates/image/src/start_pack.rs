//! The start pack of an image: its index, and its pieces.

use coldpress_format::{
    BlockSize, BlockWord, Corrupt, File, PACK_MAGIC, PackFile, PackHeader, PackIndex, PackPiece,
    PackRun, Part, Rule, SUPERBLOCK_SIZE, pack_start,
};

use crate::decoders::Decoders;
use crate::error::Error;
use crate::image::Image;
use crate::source::ReadAdvice;

/// Bytes that are read at first: in most packs header, piece table and index.
const FIRST_READ_BYTES: u64 = 64 << 10;

/// The pages that a start touches, as they lie after the image.
///
/// Format: docs/start-pack.md.
pub struct StartPack {
    start: u64,
    header: PackHeader,
    /// Those of pages, and where each begins.
    pieces: Vec<(PackPiece, u64)>,
    index: PackIndex,
    places: Vec<(u32, u32)>,
    decoders: Decoders,
}

impl Image {
    /// The start pack; `None` if the image has none.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if there is one that breaks a rule, or that belongs to another image;
    /// [`Error::Read`]. The image itself can be used in any case.
    ///
    /// # Cost
    ///
    /// Usually one read of 64 KiB. Holds some 24 bytes for each piece of 1 MiB, 24 for each run of
    /// pages, and the paths of the files.
    pub fn start_pack(&self) -> Result<Option<StartPack>, Error> {
        let start = pack_start(self.superblock().bytes_used);
        let left_bytes = self.store.size_bytes()?.saturating_sub(start);
        let mut first = vec![0; usize_of(left_bytes.min(FIRST_READ_BYTES))];
        self.store.read_exact(&mut first, start)?;
        if !first.starts_with(&PACK_MAGIC) {
            return Ok(None);
        }
        let header = PackHeader::parse(&first, pack_digest, start)?;
        let fail = |rule| Error::from(Corrupt::new(Part::StartPack, start, rule));
        if header.size_bytes > left_bytes {
            let (needed, found) = (header.size_bytes, left_bytes);
            return Err(fail(Rule::Truncated { needed, found }));
        }
        if self.superblock_digest()? != header.superblock_digest {
            let of = "superblock of the image to which the start pack belongs";
            return Err(fail(Rule::WrongDigest { of }));
        }
        let table = self.pack_table(&header, start, &first)?;
        let pieces = pieces(&header, &table, start)?;
        let index_pieces = usize_of(header.index_piece_count.into()).min(pieces.len());
        let (index_pieces, pieces) = pieces.split_at(index_pieces);
        let decoders = Decoders::new(header.compressor, BlockSize::MAX)?;
        let (mut bytes, mut stored, mut content) = (Vec::new(), Vec::new(), Vec::new());
        for (piece, at) in index_pieces {
            self.read_pack_piece(&decoders, (piece, *at), &mut stored, &mut content)?;
            bytes.extend_from_slice(&content);
        }
        let index = PackIndex::parse(&bytes, start)?;
        let entries: Vec<_> = pieces.iter().map(|(piece, _)| *piece).collect();
        Ok(Some(StartPack {
            start,
            header,
            places: index.places(&entries, start)?,
            pieces: pieces.to_vec(),
            index,
            decoders,
        }))
    }

    /// What says which image it is, as a start pack notes it: BLAKE3 of the superblock's bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Read`].
    pub fn superblock_digest(&self) -> Result<[u8; 32], Error> {
        let mut superblock = [0; SUPERBLOCK_SIZE];
        self.store.read_exact(&mut superblock, 0)?;
        Ok(pack_digest(&superblock))
    }

    /// What says where the content of a file lies, as a start pack notes it.
    pub fn content_digest(&self, file: &File) -> [u8; 16] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&file.size_bytes.to_le_bytes());
        hasher.update(&file.start.to_le_bytes());
        for word in &file.blocks {
            hasher.update(&word.word().to_le_bytes());
        }
        if let Some(tail) = file.tail {
            let fragment = self.stored_fragment(tail);
            let place = fragment.map_or((0, BlockWord::SPARSE), |found| (found.start, found.word));
            hasher.update(&place.0.to_le_bytes());
            hasher.update(&place.1.word().to_le_bytes());
            hasher.update(&tail.offset.to_le_bytes());
        }
        half(*hasher.finalize().as_bytes())
    }

    fn pack_table(&self, header: &PackHeader, start: u64, first: &[u8]) -> Result<Vec<u8>, Error> {
        let table_start = start.saturating_add(PackHeader::SIZE as u64);
        let end = usize_of(header.pieces_offset());
        let table = if let Some(table) = first.get(PackHeader::SIZE..end) {
            table.to_vec()
        } else {
            // At most 1.5 MiB, and there: the size of the pack was compared.
            let mut table = vec![0; usize_of(header.table_bytes())];
            self.store.read_exact(&mut table, table_start)?;
            table
        };
        if pack_digest(&table) != header.table_digest {
            let of = "piece table";
            let rule = Rule::WrongDigest { of };
            return Err(Corrupt::new(Part::StartPack, table_start, rule).into());
        }
        Ok(table)
    }

    fn read_pack_piece(
        &self,
        decoders: &Decoders,
        (piece, at): (&PackPiece, u64),
        stored: &mut Vec<u8>,
        content: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let fail = |rule| Error::from(Corrupt::new(Part::StartPack, at, rule));
        stored.resize(usize_of(piece.size.size_bytes().into()), 0);
        self.store.read_exact(stored, at)?;
        if pack_piece_digest(stored) != piece.digest {
            let of = "piece";
            return Err(fail(Rule::WrongDigest { of }));
        }
        let len = usize_of(piece.len_bytes.into());
        if piece.size.is_compressed() {
            content.resize(len, 0);
            let decoded = decoders.with(|decoder| decoder.decompress(stored, content))?;
            let limit = piece.len_bytes.into();
            let found = decoded.map_err(|_| fail(Rule::Undecodable { limit }))?;
            content.truncate(found);
        } else {
            content.clone_from(stored);
        }
        if content.len() == len {
            return Ok(());
        }
        let (field, found) = ("decompressed length", content.len() as u64);
        let expected = piece.len_bytes.into();
        Err(fail(Rule::Mismatch {
            field,
            found,
            expected,
        }))
    }
}

impl StartPack {
    /// The header.
    pub fn header(&self) -> &PackHeader {
        &self.header
    }

    /// Image byte at which it lies.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Image byte after it.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.header.size_bytes)
    }

    /// The files of which it holds pages.
    pub fn files(&self) -> &[PackFile] {
        &self.index.files
    }

    /// The runs of pages in the order of the pieces, each with its piece and its offset in it.
    pub fn runs(&self) -> impl Iterator<Item = (&PackRun, (u32, u32))> {
        self.index.runs.iter().zip(self.places.iter().copied())
    }

    /// Bytes that a run takes in its piece: the last page of a file may be shorter.
    pub fn run_bytes(&self, run: &PackRun) -> u64 {
        self.index.run_bytes(run)
    }

    /// The pieces of pages, each with its image byte.
    pub fn pieces(&self) -> &[(PackPiece, u64)] {
        &self.pieces
    }

    /// Lets the source read the tables of the image and the first bytes of the pack, as one piece:
    /// that is what a start reads first. Returns the image byte up to which it reads.
    pub fn expect_start(&self, image: &Image, read_bytes: u64) -> u64 {
        let tables = image.superblock().inode_table_start;
        let first = if self.start.saturating_sub(tables) <= read_bytes {
            tables
        } else {
            self.start
        };
        let end = self.end().min(self.start.saturating_add(read_bytes));
        image.advise(ReadAdvice::WillNeed(first..end));
        end
    }

    /// Reads a piece of pages: what lies on disk into `stored`, what that holds into `content`.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if there is no such piece, or its bytes are not those that were written;
    /// [`Error::Read`].
    ///
    /// # Cost
    ///
    /// One read, one digest and one decompression of at most 1 MiB.
    pub fn read_piece(
        &self,
        image: &Image,
        piece: u32,
        stored: &mut Vec<u8>,
        content: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let found = usize::try_from(piece).ok();
        let Some((entry, at)) = found.and_then(|index| self.pieces.get(index)) else {
            let rule = Rule::OutOfRange {
                field: "piece",
                found: piece.into(),
                low: 0,
                high: (self.pieces.len() as u64).saturating_sub(1),
            };
            return Err(Corrupt::new(Part::StartPack, self.start, rule).into());
        };
        image.read_pack_piece(&self.decoders, (entry, *at), stored, content)
    }
}

impl std::fmt::Debug for StartPack {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("StartPack")
            .field("start", &self.start)
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

/// The entries of the piece table, each with its image byte.
fn pieces(header: &PackHeader, table: &[u8], start: u64) -> Result<Vec<(PackPiece, u64)>, Error> {
    let mut at = start.saturating_add(header.pieces_offset());
    let mut entry_start = start.saturating_add(PackHeader::SIZE as u64);
    let mut pieces = Vec::new();
    for bytes in table.chunks(PackPiece::SIZE) {
        let piece = PackPiece::parse(bytes, entry_start)?;
        pieces.push((piece, at));
        at = at.saturating_add(piece.size.size_bytes().into());
        entry_start = entry_start.saturating_add(PackPiece::SIZE as u64);
    }
    let (found, expected) = (at.saturating_sub(start), header.size_bytes);
    if found == expected {
        return Ok(pieces);
    }
    let field = "size of all pieces with header and table";
    let rule = Rule::Mismatch {
        field,
        found,
        expected,
    };
    Err(Corrupt::new(Part::StartPack, start, rule).into())
}

/// BLAKE3, as the header of a start pack holds it.
pub fn pack_digest(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}

/// The first half of BLAKE3, as the entry of a piece holds it.
pub fn pack_piece_digest(stored: &[u8]) -> [u8; 16] {
    half(pack_digest(stored))
}

fn half(digest: [u8; 32]) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    half
}

fn usize_of(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
