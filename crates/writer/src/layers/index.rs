//! What is known of a layer that was read once: its plain bytes without the contents of files, of
//! each content length and hash, and of all plain bytes how many they are and their digest.
//!
//! Kept beside the layer, it tells all names of a layer that is not read again. It is compressed by
//! gzip, whose sum shows damage.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

use crate::digest::Digest;
use crate::duplicates::Hash;
use crate::output::Output;

/// Another version of coldpress may read headers in another way, and so makes its own.
const MAGIC: &[u8] =
    concat!("coldpress layer index 2, ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();
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
    /// Whether it serves in place of the layer, which is then read, and compared with its digest,
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
    pub(crate) fn finish(mut self, plain: Plain) -> io::Result<()> {
        self.flush()?;
        let diff_id = plain.diff_id.map(|diff_id| diff_id.to_string());
        let diff_id = diff_id.unwrap_or_default();
        let len = u8::try_from(diff_id.len()).expect("a digest has at most 135 bytes");
        self.packed.write_all(&[END])?;
        self.packed.write_all(&plain.len_bytes.to_le_bytes())?;
        self.packed.write_all(&[len])?;
        self.packed.write_all(diff_id.as_bytes())?;
        self.packed.finish()?.flush()?;
        self.output.commit().map_err(io::Error::other)
    }
}

/// All plain bytes of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    pub(crate) len_bytes: u64,
    /// Their digest, if they were compared with one.
    pub(crate) diff_id: Option<Digest>,
}

/// A part of a layer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// Headers, and what stands between contents.
    Bytes(Vec<u8>),
    /// The content of a file.
    Content { len_bytes: u64, hash: Hash },
    /// Nothing follows.
    End(Plain),
}

/// An index from its beginning.
pub(crate) struct IndexReader {
    packed: GzDecoder<BufReader<File>>,
    /// What comes next.
    pub(crate) next: Record,
}

impl IndexReader {
    /// The index of a file, and what it says of all plain bytes; `None` if there is none, or none
    /// of this version, or a damaged one.
    pub(crate) fn open(path: &Path) -> Option<(Self, Plain)> {
        let mut whole = Self::begin(path).ok()?;
        let plain = loop {
            if let Record::End(plain) = whole.advance().ok()? {
                break plain;
            }
        };
        // The sum follows the last byte.
        (whole.packed.read(&mut [0]).ok()? == 0).then_some(())?;
        Some((Self::begin(path).ok()?, plain))
    }

    fn begin(path: &Path) -> io::Result<Self> {
        let mut packed = GzDecoder::new(BufReader::new(File::open(path)?));
        let mut magic = [0; MAGIC.len()];
        packed.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut reader = Self {
            packed,
            next: Record::Bytes(Vec::new()),
        };
        reader.advance()?;
        Ok(reader)
    }

    /// What comes next; then that is what follows it. The end stays.
    pub(crate) fn advance(&mut self) -> io::Result<Record> {
        let next = match self.next {
            Record::End(plain) => Record::End(plain),
            _ => self.read()?,
        };
        Ok(std::mem::replace(&mut self.next, next))
    }

    fn read(&mut self) -> io::Result<Record> {
        match u8::from_le_bytes(self.array()?) {
            END => {
                let len_bytes = u64::from_le_bytes(self.array()?);
                let mut diff_id = vec![0; usize::from(u8::from_le_bytes(self.array()?))];
                self.packed.read_exact(&mut diff_id)?;
                let diff_id = std::str::from_utf8(&diff_id).map_err(io::Error::other)?;
                let diff_id = (!diff_id.is_empty()).then(|| diff_id.parse());
                let diff_id = diff_id.transpose().map_err(io::Error::other)?;
                Ok(Record::End(Plain { len_bytes, diff_id }))
            }
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
        let (mut reader, plain) = IndexReader::open(path)?;
        let mut records = Vec::new();
        while records.last() != Some(&Record::End(plain)) {
            records.push(reader.advance().unwrap());
        }
        // The end stays where it is.
        assert_eq!(reader.advance().unwrap(), Record::End(plain));
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
        writer.content(9, [3; 32]).unwrap();
        writer.content(u64::MAX, [4; 32]).unwrap();
        writer.bytes(b"end").unwrap();
        assert!(!path.exists());
        let plain = Plain {
            len_bytes: 70_000,
            diff_id: Some(Digest::sha256_of(b"plain")),
        };
        writer.finish(plain).unwrap();
        let content = |len_bytes, hash| Record::Content {
            len_bytes,
            hash: [hash; 32],
        };
        let expected = [
            Record::Bytes(header[..BYTES_MAX].to_vec()),
            Record::Bytes(vec![7]),
            content(9, 3),
            content(u64::MAX, 4),
            Record::Bytes(b"end".to_vec()),
            Record::End(plain),
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
