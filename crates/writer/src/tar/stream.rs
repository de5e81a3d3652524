//! The bytes of an archive, one after the other.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use coldpress_image::ReadAt;

use super::defect::TarDefect;
use super::header::{BLOCK_BYTES, Block};
use super::pump::Pump;
use crate::digest::Hasher;
use crate::duplicates::Hash;
use crate::error::{self, Error};
use crate::layers::index::{IndexReader, IndexWriter, Record};

/// Bytes of a file that are read at once: a header and the few small files behind it.
const READ_BYTES: usize = 64 << 10;

/// An archive that is read from its beginning to its end.
pub(crate) struct Stream<'a> {
    /// Its name, for messages.
    path: PathBuf,
    feed: Feed,
    /// Bytes at hand, of which those in front of `used` are used up.
    chunk: Vec<u8>,
    used: usize,
    /// Bytes used up since the beginning.
    position: u64,
    /// Inodes so far, for `progress`.
    pub(crate) inodes: u64,
    progress: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
    /// Takes all bytes as they come.
    pub(crate) hasher: Option<Hasher>,
    /// Takes all bytes but contents, as they are used up.
    pub(crate) index: Option<IndexWriter>,
}

/// Where the next bytes come from.
enum Feed {
    /// Uncompressed bytes, of which parts can be passed over: the byte to read next, and the end.
    Seekable {
        bytes: Arc<dyn ReadAt>,
        next: u64,
        end: u64,
    },
    /// The index of a layer, which has no contents.
    Index(Box<IndexReader>),
    /// Everything else.
    Pump(Pump),
}

impl<'a> Stream<'a> {
    /// Uncompressed bytes that can be read at any position.
    ///
    /// * `start`: the byte where the archive begins.
    /// * `end`: how many bytes there are.
    pub(crate) fn seekable(
        bytes: Arc<dyn ReadAt>,
        start: u64,
        end: u64,
        path: PathBuf,
        progress: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Self {
        let next = start;
        Self::new(Feed::Seekable { bytes, next, end }, path, progress)
    }

    /// A pipe, or a compressed file.
    pub(crate) fn once(
        file: File,
        path: PathBuf,
        progress: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Self {
        Self::of_pump(Pump::of_file(file), path, progress)
    }

    /// What a thread reads ahead.
    pub(crate) fn of_pump(
        pump: Pump,
        path: PathBuf,
        progress: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Self {
        Self::new(Feed::Pump(pump), path, progress)
    }

    /// What an earlier reading of a layer left.
    pub(crate) fn of_index(
        index: IndexReader,
        path: PathBuf,
        progress: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Self {
        Self::new(Feed::Index(Box::new(index)), path, progress)
    }

    fn new(feed: Feed, path: PathBuf, progress: &'a mut dyn FnMut(u64) -> ControlFlow<()>) -> Self {
        Self {
            path,
            feed,
            chunk: Vec::new(),
            used: 0,
            position: 0,
            inodes: 1,
            progress,
            hasher: None,
            index: None,
        }
    }

    /// Whether all bytes pass by, also those that nobody asks for.
    pub(crate) fn reads_all(&self) -> bool {
        matches!(self.feed, Feed::Pump(_))
    }

    /// Bytes from the beginning of the archive.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The archive's name, for messages.
    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// An error at a byte of this archive.
    pub(crate) fn error(&self, at_bytes: u64, defect: TarDefect) -> Error {
        Error::Tar {
            path: self.path.clone(),
            at_bytes,
            defect,
        }
    }

    /// The next block; `None` at the end.
    pub(crate) fn block(&mut self) -> Result<Option<Block>, Error> {
        if self.peek()?.is_empty() {
            return Ok(None);
        }
        let mut block = [0; BLOCK_BYTES];
        self.read_exact(&mut block, "a header")?;
        Ok(Some(block))
    }

    /// Reads exactly as many bytes.
    ///
    /// * `what`: what they are, for the message if the archive ends.
    pub(crate) fn read_exact(
        &mut self,
        mut buffer: &mut [u8],
        what: &'static str,
    ) -> Result<(), Error> {
        while !buffer.is_empty() {
            let bytes = self.peek()?;
            if bytes.is_empty() {
                return Err(self.error(self.position, TarDefect::Truncated { what }));
            }
            let len = bytes.len().min(buffer.len());
            let (filled, rest) = buffer.split_at_mut(len);
            filled.copy_from_slice(&bytes[..len]);
            buffer = rest;
            self.consume(len);
        }
        Ok(())
    }

    /// Hands a content to `take`, in pieces.
    pub(crate) fn pass_content(
        &mut self,
        len: u64,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let index = self.index.take();
        let passed = self.pass(len, "a file", take);
        self.index = index;
        passed
    }

    /// Notes that a content has passed by. An index that cannot be written is given up.
    pub(crate) fn note_content(&mut self, len_bytes: u64, hash: Hash) {
        if let Some(index) = &mut self.index
            && index.content(len_bytes, hash).is_err()
        {
            self.index = None;
        }
    }

    /// The hash of the content that begins here, if there is an index.
    pub(crate) fn coming_hash(&self) -> Option<Hash> {
        match &self.feed {
            Feed::Index(index) if self.used == self.chunk.len() => match index.next {
                Record::Content { hash, .. } => Some(hash),
                _ => None,
            },
            _ => None,
        }
    }

    /// Hands the next `len` bytes to `take`, in pieces.
    pub(crate) fn pass(
        &mut self,
        mut len: u64,
        what: &'static str,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while len > 0 {
            let bytes = self.peek()?;
            if bytes.is_empty() {
                return Err(self.error(self.position, TarDefect::Truncated { what }));
            }
            let piece = bytes.len().min(usize::try_from(len).unwrap_or(usize::MAX));
            take(&bytes[..piece])?;
            self.consume(piece);
            len -= piece as u64;
        }
        Ok(())
    }

    /// Passes over `len` bytes, without reading them where that is possible.
    pub(crate) fn skip(&mut self, len: u64, what: &'static str) -> Result<(), Error> {
        let at_hand = (self.chunk.len() - self.used) as u64;
        if let Feed::Seekable { next, end, .. } = &mut self.feed
            && len > at_hand
        {
            let far = next.checked_add(len - at_hand);
            let Some(far) = far.filter(|far| *far <= *end) else {
                return Err(self.error(self.position, TarDefect::Truncated { what }));
            };
            *next = far;
            self.position += len;
            self.chunk.clear();
            self.used = 0;
            return Ok(());
        }
        if let Feed::Index(index) = &mut self.feed
            && at_hand == 0
            && matches!(index.next, Record::Content { len_bytes, .. } if len_bytes == len)
            && let Some(end) = self.position.checked_add(len)
        {
            let advanced = index.advance();
            advanced.map_err(error::source("read the index of", &self.path))?;
            self.position = end;
            return Ok(());
        }
        self.pass(len, what, &mut |_| Ok(()))
    }

    /// Passes over what fills a block. An archive may lack it at its end.
    pub(crate) fn align(&mut self) -> Result<(), Error> {
        while !self.position.is_multiple_of(BLOCK_BYTES as u64) {
            let behind = self.position % BLOCK_BYTES as u64;
            let fill = BLOCK_BYTES - usize::try_from(behind).expect("less than a block");
            let len = self.peek()?.len().min(fill);
            if len == 0 {
                break;
            }
            self.consume(len);
        }
        Ok(())
    }

    /// Reads a stream to its end, so that whoever writes into the pipe can end, and damage of the
    /// compressed data is found.
    pub(crate) fn drain(&mut self) -> Result<(), Error> {
        while self.reads_all() {
            let len = self.peek()?.len();
            if len == 0 {
                break;
            }
            self.consume(len);
        }
        Ok(())
    }

    /// The bytes at hand; none at the end.
    fn peek(&mut self) -> Result<&[u8], Error> {
        if self.used == self.chunk.len() {
            self.poll()?;
            self.used = 0;
            self.fill()?;
        }
        Ok(&self.chunk[self.used..])
    }

    fn fill(&mut self) -> Result<(), Error> {
        let (inodes, progress) = (self.inodes, &mut self.progress);
        let filled = match &mut self.feed {
            Feed::Pump(pump) => match pump.next(&mut || progress(inodes)) {
                Ok(ControlFlow::Continue(chunk)) => {
                    if let Some(hasher) = &mut self.hasher {
                        hasher.update(&chunk);
                    }
                    self.chunk = chunk;
                    Ok(())
                }
                Ok(ControlFlow::Break(())) => return Err(Error::Interrupted),
                Err(error) => Err(("decompress", error)),
            },
            Feed::Index(index) => match &index.next {
                Record::Content { .. } => {
                    let text = "a content is not where it was; `coldpress cache prune` removes it";
                    Err(("read the index of", io::Error::other(text)))
                }
                _ => match index.advance() {
                    Ok(Record::Bytes(bytes)) => {
                        self.chunk = bytes;
                        Ok(())
                    }
                    Ok(_) => {
                        self.chunk.clear();
                        Ok(())
                    }
                    Err(error) => Err(("read the index of", error)),
                },
            },
            Feed::Seekable { bytes, next, end } => {
                let len = (*end - *next).min(READ_BYTES as u64);
                let len = usize::try_from(len).expect("at most 64 KiB");
                self.chunk.resize(len, 0);
                let read = bytes.fill_at(&mut self.chunk, *next);
                // It is shorter than it was.
                self.chunk.truncate(*read.as_ref().unwrap_or(&0));
                *next += self.chunk.len() as u64;
                read.map(drop).map_err(|error| ("read", error))
            }
        };
        filled.map_err(|(action, error)| Error::Source {
            action,
            path: self.path.clone(),
            error: named(error),
        })
    }

    fn consume(&mut self, len: usize) {
        if let Some(index) = &mut self.index
            && index
                .bytes(&self.chunk[self.used..self.used + len])
                .is_err()
        {
            self.index = None;
        }
        self.used += len;
        self.position += len as u64;
    }

    /// Asks whether to go on.
    pub(crate) fn poll(&mut self) -> Result<(), Error> {
        match (self.progress)(self.inodes) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }
}

/// The compressors have different words for the same thing.
pub(crate) fn named(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        let text = "the compressed data ends early; fetch or make it again";
        return io::Error::new(io::ErrorKind::UnexpectedEof, text);
    }
    error
}
