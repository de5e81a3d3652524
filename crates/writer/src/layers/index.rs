//! What is known of a layer that was read once: its plain bytes without the contents of files, and of
//! each content length and hash.
//!
//! Kept beside the layer, it tells all names of a layer that is not read again. It is compressed by
//! gzip, whose sum shows damage.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

use crate::duplicates::Hash;
use crate::output::Output;

/// Another version of coldpress may read headers in another way, and so makes its own.
const MAGIC: &[u8] = concat!("coldpress layer index ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();
/// Bytes of a record at most: more of them go into several.
const BYTES_MAX: usize = 64 << 10;

const END: u8 = 0;
const BYTES: u8 = 1;
const CONTENT: u8 = 2;

/// Where the index of a layer is kept from one build to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPlace {
    /// The file, in a directory that nobody else writes to.
    pub path: PathBuf,
    /// Whether it serves in place of the layer, which is then read, and compared with its digests,
    /// only if the content of a file is needed.
    pub serves: bool,
}

/// An index that is being made.
pub(crate) struct IndexWriter {
    output: Output,
    packed: GzEncoder<BufWriter<File>>,
    /// Bytes that are not in a record yet.
    rest: Vec<u8>,
}

impl IndexWriter {
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        let output = Output::create(path).map_err(io::Error::other)?;
        let file = BufWriter::new(output.file().try_clone()?);
        let mut packed = GzEncoder::new(file, Compression::fast());
        packed.write_all(MAGIC)?;
        Ok(Self {
            output,
            packed,
            rest: Vec::new(),
        })
    }

    /// Notes bytes that are no content.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.rest.extend_from_slice(bytes);
        if self.rest.len() >= BYTES_MAX {
            self.flush()?;
        }
        Ok(())
    }

    /// Notes that a content follows.
    pub(crate) fn content(&mut self, len_bytes: u64, hash: Hash) -> io::Result<()> {
        self.flush()?;
        self.packed.write_all(&[CONTENT])?;
        self.packed.write_all(&len_bytes.to_le_bytes())?;
        self.packed.write_all(&hash)
    }

    fn flush(&mut self) -> io::Result<()> {
        for bytes in self.rest.chunks(BYTES_MAX) {
            let len = u32::try_from(bytes.len()).expect("at most 64 KiB");
            self.packed.write_all(&[BYTES])?;
            self.packed.write_all(&len.to_le_bytes())?;
            self.packed.write_all(bytes)?;
        }
        self.rest.clear();
        Ok(())
    }

    /// Puts the index in its place.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.packed.write_all(&[END])?;
        self.packed.finish()?.flush()?;
        self.output.commit().map_err(io::Error::other)
    }
}

/// A part of a layer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// Headers, and what stands between contents.
    Bytes(Vec<u8>),
    /// The content of a file.
    Content { len_bytes: u64, hash: Hash },
    /// Nothing follows.
    End,
}

/// An index from its beginning.
pub(crate) struct IndexReader {
    packed: GzDecoder<BufReader<File>>,
    /// What comes next.
    pub(crate) next: Record,
}

impl IndexReader {
    /// The index of a file; `None` if there is none, or none of this version, or a damaged one.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        let open = || Self::begin(File::open(path)?);
        let mut whole = open().ok()?;
        while whole.next != Record::End {
            whole.advance().ok()?;
        }
        // The sum follows the last byte.
        (whole.packed.read(&mut [0]).ok()? == 0).then_some(())?;
        open().ok()
    }

    fn begin(file: File) -> io::Result<Self> {
        let mut packed = GzDecoder::new(BufReader::new(file));
        let mut magic = [0; MAGIC.len()];
        packed.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut reader = Self {
            packed,
            next: Record::End,
        };
        reader.advance()?;
        Ok(reader)
    }

    /// What comes next; then that is what follows it.
    pub(crate) fn advance(&mut self) -> io::Result<Record> {
        let next = self.read()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    fn read(&mut self) -> io::Result<Record> {
        match u8::from_le_bytes(self.array()?) {
            END => Ok(Record::End),
            BYTES => {
                let len = u32::from_le_bytes(self.array()?) as usize;
                if len > BYTES_MAX {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                let mut bytes = vec![0; len];
                self.packed.read_exact(&mut bytes)?;
                Ok(Record::Bytes(bytes))
            }
            CONTENT => Ok(Record::Content {
                len_bytes: u64::from_le_bytes(self.array()?),
                hash: self.array()?,
            }),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.packed.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(path: &Path) -> Option<Vec<Record>> {
        let mut reader = IndexReader::open(path)?;
        let mut records = Vec::new();
        while reader.next != Record::End {
            records.push(reader.advance().unwrap());
        }
        Some(records)
    }

    #[test]
    fn an_index_is_read_as_it_was_written_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index");
        assert_eq!(records(&path), None);
        let mut writer = IndexWriter::new(&path).unwrap();
        let header = vec![7; BYTES_MAX + 1];
        writer.bytes(&header).unwrap();
        writer.content(9, [3; 16]).unwrap();
        writer.content(u64::MAX, [4; 16]).unwrap();
        writer.bytes(b"end").unwrap();
        assert!(!path.exists());
        writer.finish().unwrap();
        let content = |len_bytes, hash| Record::Content {
            len_bytes,
            hash: [hash; 16],
        };
        let expected = [
            Record::Bytes(header[..BYTES_MAX].to_vec()),
            Record::Bytes(vec![7]),
            content(9, 3),
            content(u64::MAX, 4),
            Record::Bytes(b"end".to_vec()),
        ];
        assert!(records(&path).as_deref() == Some(&expected[..]));
        let whole = std::fs::read(&path).unwrap();
        for len in 0..whole.len() {
            std::fs::write(&path, &whole[..len]).unwrap();
            assert!(records(&path).is_none(), "{len}");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            std::fs::write(&path, damaged).unwrap();
            // Some bits mean nothing, such as those of gzip's time.
            let found = records(&path);
            assert!(
                found.is_none() || found.as_deref() == Some(&expected[..]),
                "{at}"
            );
        }
    }
}
