//! A file that is read from its beginning to its end, decompressed where that is asked for.

use coldpress_format::{File, Part, TailEnd};

use crate::error::Error;
use crate::file::{DataBlock, data_blocks, tail_bytes, tail_len};
use crate::image::Image;

/// Memory for the block that is read.
#[derive(Default)]
pub(super) struct Buffer {
    /// As it lies in the image.
    pub(super) stored: Vec<u8>,
    content: Vec<u8>,
}

/// What of a file comes next.
pub(super) enum Piece {
    End,
    /// So many zeros.
    Hole(u64),
    /// A data block that is not decompressed yet.
    Block(DataBlock),
    /// A tail end of this length that is not looked up yet.
    Tail(TailEnd, usize),
    /// The bytes of the buffer from this one on.
    Bytes(usize),
}

/// A file that is read from its beginning to its end.
pub(super) struct Cursor<'a> {
    image: &'a Image,
    blocks: Box<dyn Iterator<Item = DataBlock> + 'a>,
    tail: Option<(TailEnd, usize)>,
    pub(super) piece: Piece,
    /// Whether the bytes on disk of the data block that comes next were read.
    is_read: bool,
    pub(super) buffer: &'a mut Buffer,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(image: &'a Image, file: &'a File, buffer: &'a mut Buffer) -> Self {
        let block_size = image.superblock().block_size;
        let len = tail_len(file, block_size);
        Self {
            image,
            blocks: Box::new(data_blocks(file, block_size)),
            tail: file.tail.map(|tail| (tail, len)).filter(|_| len > 0),
            piece: Piece::End,
            is_read: false,
            buffer,
        }
    }

    /// Goes on if what came before is taken.
    pub(super) fn advance(&mut self) {
        if !matches!(self.piece, Piece::End) {
            return;
        }
        self.is_read = false;
        self.piece = match self.blocks.next() {
            Some(block) if block.word.is_sparse() => Piece::Hole(block.len.into()),
            Some(block) => Piece::Block(block),
            None => match self.tail.take() {
                Some((tail, len)) => Piece::Tail(tail, len),
                None => Piece::End,
            },
        };
    }

    /// Reads the bytes on disk of the data block that comes next.
    pub(super) fn read(&mut self) -> Result<(), Error> {
        if let Piece::Block(block) = &self.piece {
            let (start, size_bytes) = (block.start, block.word.size_bytes());
            self.read_bytes(Part::DataBlock, start, size_bytes)?;
            self.is_read = true;
        }
        Ok(())
    }

    pub(super) fn read_bytes(
        &mut self,
        part: Part,
        start: u64,
        size_bytes: u32,
    ) -> Result<(), Error> {
        let area = self.image.data_area();
        area.check(part, start, size_bytes.into())?;
        let stored = &mut self.buffer.stored;
        stored.resize(usize::try_from(size_bytes).unwrap_or(usize::MAX), 0);
        self.image.store.read_exact(stored, start)
    }

    /// Makes bytes of a data block or a tail end.
    pub(super) fn decode(&mut self) -> Result<(), Error> {
        if let Piece::Block(block) = self.piece {
            if !self.is_read {
                self.read()?;
            }
            let Buffer { stored, content } = &mut *self.buffer;
            content.resize(usize::try_from(block.len).unwrap_or(usize::MAX), 0);
            self.image.decode_data_block(&block, stored, content)?;
            self.piece = Piece::Bytes(0);
        } else if let Piece::Tail(tail, len) = self.piece {
            let fragment = self.image.fragment_of(tail)?;
            let block = self.image.fragment_block(&fragment)?;
            let bytes = tail_bytes(&block, tail, len, fragment.start)?;
            self.buffer.content.clear();
            self.buffer.content.extend_from_slice(bytes);
            self.piece = Piece::Bytes(0);
        }
        Ok(())
    }

    /// The bytes at hand; none of a hole.
    pub(super) fn bytes(&self) -> &[u8] {
        match self.piece {
            Piece::Bytes(from) => self.buffer.content.get(from..).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Bytes of the file up to the end of what comes next.
    pub(super) fn len(&self) -> u64 {
        match &self.piece {
            Piece::End => 0,
            Piece::Hole(len) => *len,
            Piece::Block(block) => block.len.into(),
            Piece::Tail(_, len) => *len as u64,
            Piece::Bytes(_) => self.bytes().len() as u64,
        }
    }

    /// Leaves `len` bytes behind.
    pub(super) fn take(&mut self, len: u64) {
        if len >= self.len() {
            self.piece = Piece::End;
            return;
        }
        match &mut self.piece {
            Piece::Hole(left) => *left -= len,
            Piece::Bytes(from) => *from += usize::try_from(len).unwrap_or(usize::MAX),
            _ => self.piece = Piece::End,
        }
    }

    /// Leaves all that comes next behind; returns how many bytes that were.
    pub(super) fn take_all(&mut self) -> u64 {
        let len = self.len();
        self.piece = Piece::End;
        len
    }
}
