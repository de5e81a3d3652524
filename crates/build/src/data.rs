//! The data area: data blocks and fragment blocks, compressed in parallel, written in order.

use std::fs;
use std::os::unix::fs::FileExt;

use coldpress_codec::{Encoder, Workers, ordered};
use coldpress_format::{BlockWord, File, Fragment, TailEnd};
use coldpress_layout::{NodeId, Order};

use crate::error::Error;
use crate::progress::Meter;
use crate::reader::{Job, Piece, Reader};
use crate::source::Source;
use crate::write::Options;

/// Where everything of the data area lies.
pub(crate) struct DataArea {
    /// For each node its data, as its inode states it; empty for what is not a file.
    pub(crate) files: Vec<File>,
    /// The fragment table.
    pub(crate) fragments: Vec<Fragment>,
    /// Image byte behind the last block.
    pub(crate) end: u64,
    /// Bytes that sparse blocks save.
    pub(crate) sparse_bytes: u64,
}

/// A block as it goes into the image.
struct Packed {
    piece: Piece,
    len_bytes: u32,
    /// The bytes and whether they are compressed; `None` for zeros that take no bytes.
    stored: Option<(Vec<u8>, bool)>,
}

/// Writes the data area from image byte `start` on.
pub(crate) fn write(
    source: &Source,
    order: &Order,
    output: &fs::File,
    start: u64,
    options: &Options,
    meter: &mut Meter,
) -> Result<DataArea, Error> {
    let nodes = source.tree.nodes.len();
    let mut area = DataArea {
        files: vec![File::default(); nodes],
        fragments: Vec::new(),
        end: start,
        sparse_bytes: 0,
    };
    ordered(
        Reader::new(source, order, options.block_size),
        &options.workers(),
        || options.encoder(),
        |encoder, job| pack(encoder.as_mut(), job),
        |packed| {
            meter.add(packed.len_bytes.into())?;
            area.push(source, packed, output)
        },
    )?;
    area.share(source, meter)?;
    Ok(area)
}

/// Compresses a block, or finds that it is zeros or better stored as it is.
fn pack(encoder: Option<&mut Encoder>, job: Job) -> Result<Packed, Error> {
    let Job {
        piece,
        len_bytes,
        bytes,
    } = job;
    let zeros = |bytes: &[u8]| matches!(piece, Piece::Block(_)) && is_zero(bytes);
    let stored = match bytes.filter(|bytes| !zeros(bytes)) {
        None => None,
        Some(bytes) => {
            let mut compressed = Vec::new();
            let shrunk = match encoder {
                Some(encoder) => encoder.compress(&bytes, &mut compressed)?,
                None => false,
            };
            Some(if shrunk {
                (compressed, true)
            } else {
                (bytes, false)
            })
        }
    };
    Ok(Packed {
        piece,
        len_bytes,
        stored,
    })
}

fn is_zero(bytes: &[u8]) -> bool {
    // A word at a time; most blocks end it at once.
    let (words, rest) = bytes.as_chunks::<16>();
    words.iter().all(|word| *word == [0; 16]) && rest.iter().all(|byte| *byte == 0)
}

impl DataArea {
    fn push(&mut self, source: &Source, packed: Packed, output: &fs::File) -> Result<(), Error> {
        let start = self.end;
        let word = match &packed.stored {
            None => BlockWord::SPARSE,
            Some((bytes, compressed)) => {
                output.write_all_at(bytes, start).map_err(Error::Write)?;
                self.end += bytes.len() as u64;
                let size = u32::try_from(bytes.len()).expect("a block is at most 1 MiB");
                BlockWord::new(size, *compressed)
            }
        };
        match packed.piece {
            Piece::Block(node) => {
                let file = &mut self.files[node.index()];
                if word.is_sparse() {
                    self.sparse_bytes += u64::from(packed.len_bytes);
                    // A file that takes all its bytes in the source keeps doing so for stat(2).
                    if source.sparse[node.index()] {
                        file.sparse_bytes += u64::from(packed.len_bytes);
                    }
                } else if file.start == 0 {
                    file.start = start;
                }
                file.blocks.push(word);
            }
            Piece::Fragment(members) => {
                let fragment =
                    u32::try_from(self.fragments.len()).expect("fewer fragments than inodes");
                for (node, offset) in members {
                    self.files[node.index()].tail = Some(TailEnd { fragment, offset });
                }
                self.fragments.push(Fragment { start, size: word });
            }
        }
        Ok(())
    }

    /// Gives duplicates the data of their originals, and every file its length.
    fn share(&mut self, source: &Source, meter: &mut Meter) -> Result<(), Error> {
        for index in 0..self.files.len() {
            let node = NodeId(u32::try_from(index).expect("nodes are numbered with 32 bits"));
            let (original, size_bytes) = (source.tree.data_of(node), source.size_bytes(node));
            if original != node {
                // It was compared before the blocks were read; that it has not changed is seen now.
                source.open(node)?;
                self.files[index] = self.files[original.index()].clone();
                meter.add(size_bytes)?;
            }
            let file = &mut self.files[index];
            file.size_bytes = size_bytes;
            // The kernel takes st_blocks from the difference, which must not be 0.
            file.sparse_bytes = file.sparse_bytes.min(size_bytes.saturating_sub(1));
        }
        Ok(())
    }
}

impl Options {
    pub(crate) fn workers(&self) -> Workers {
        // A block is in memory twice: as it was read and as it is stored.
        let window = self.memory_bytes / (2 * u64::from(self.block_size.bytes()));
        let window = usize::try_from(window).unwrap_or(usize::MAX);
        let window = window.clamp(self.threads.get() + 1, 64 * self.threads.get());
        let window = std::num::NonZeroUsize::new(window).unwrap_or(self.threads);
        Workers {
            threads: self.threads,
            window,
        }
    }

    pub(crate) fn encoder(&self) -> Result<Option<Encoder>, Error> {
        Ok(match &self.compression {
            Some(settings) => Some(Encoder::new(settings, self.block_size)?),
            None => None,
        })
    }
}
