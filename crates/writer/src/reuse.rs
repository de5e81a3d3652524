//! Blocks that are copied from another image because their content is the same.
//!
//! An image that is built with the blocks of an older one must be the one that would be built
//! without: so a block is copied only if it decompresses to the bytes that are wanted, and only if
//! the encoder is seen to make the older image's blocks from their content again.
//!
//! Where the hash of a file passed by when the source was gathered, as from a compressed layer, the
//! bytes that are wanted need not be read a second time: the older image's file is hashed instead.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use coldpress_codec::{Work, ordered};
use coldpress_format::{BlockSize, Compressor, CompressorOptions, File, TailEnd};
use coldpress_image::{FileBlock, Image, StoredBlock};
use coldpress_layout::{BlockEncoding, Kind, NodeId};

use crate::content::Content;
use crate::duplicates::{Hash, SpanHasher};
use crate::error::Error;
use crate::options::Options;
use crate::progress::{Meter, Progress};
use crate::source::Source;

/// Blocks that are compressed again to see whether an image was made with the same settings:
/// two levels of a compressor give the same bytes for a block now and then, not for so many.
const SAMPLES: usize = 12;

/// An older image of a similar tree.
#[derive(Debug)]
pub struct Reuse {
    image: Image,
    /// What it has at the path of a node.
    files: HashMap<NodeId, Arc<File>>,
    /// Nodes with whole blocks of which the older image has the same content.
    same: HashSet<NodeId>,
}

/// Why the blocks of an image cannot be copied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotReusable {
    /// It has another compressor, block size or recorded option.
    #[error("it was built with {found}, not with {expected}")]
    Settings {
        /// Its settings.
        found: String,
        /// Those that are asked for.
        expected: String,
    },
    /// The encoder makes other blocks from the same content.
    #[error(
        "with these settings, the content of its block at byte {start} compresses to other bytes: \
         it was built with another level or by another tool"
    )]
    Encoding {
        /// Image byte of the block.
        start: u64,
    },
}

/// A block of another image that may hold the bytes of a block to be written.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) image: &'a Image,
    pub(crate) block: StoredBlock,
    pub(crate) likeness: Likeness,
}

/// What is known of a block of another image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// It may hold the bytes that are wanted.
    Possible,
    /// It holds them, if it can be decompressed.
    Certain,
    /// It was decompressed and holds them.
    Verified,
}

impl Reuse {
    /// Looks up the files of `source` in an older image, by path.
    ///
    /// * `progress`: counts the bytes of files that are hashed; stops the work when it breaks.
    ///
    /// # Errors
    ///
    /// [`Error::Image`] if it cannot be read, [`Error::NotReusable`] if it was built otherwise than
    /// `options` say, [`Error::Interrupted`].
    ///
    /// # Cost
    ///
    /// Reads the older image's metadata, and compresses a dozen of its blocks. Decompresses its files
    /// that have whole blocks, where the hash of the source's is known.
    pub fn new(
        image: Image,
        source: &Source,
        options: &Options,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Self, Error> {
        check_settings(&image, options)?;
        let mut files = HashMap::new();
        // Those with several names, which the source may have as files of their own.
        let mut known = HashMap::new();
        let mut samples = Vec::new();
        coldpress_image::walk(&image, &mut |visited| {
            let node = source.tree.find(visited.path);
            let node = node.filter(|node| matches!(source.tree[*node].kind, Kind::File { .. }));
            if node.is_some_and(|node| files.contains_key(&node)) {
                return Ok(());
            }
            let file = if let Some(file) = known.get(&visited.at) {
                Arc::clone(file)
            } else {
                let Some(file) = visited.file(&image)? else {
                    return Ok(());
                };
                samples.extend(image.stored_blocks(&file).next());
                samples.extend(file.tail.and_then(|tail| image.stored_fragment(tail)));
                Arc::new(file)
            };
            if visited.inode.link_count > 1 {
                known.insert(visited.at, Arc::clone(&file));
            }
            files.extend(node.map(|node| (node, file)));
            Ok(())
        })?;
        samples.retain(|block| !block.word.is_sparse());
        let step = samples.len().div_ceil(SAMPLES).max(1);
        check_encoding(&image, samples.into_iter().step_by(step), options)?;
        let same = same(&image, &files, source, options, progress)?;
        Ok(Self { image, files, same })
    }
}

/// The nodes with whole blocks whose known hash is that of the file at their path.
fn same(
    image: &Image,
    files: &HashMap<NodeId, Arc<File>>,
    source: &Source,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<HashSet<NodeId>, Error> {
    let is_asked = |(node, file): &(&NodeId, &Arc<File>)| {
        let is_as_long = source.size_bytes(**node) == file.size_bytes;
        is_as_long && !file.blocks.is_empty() && source.known_hash(**node).is_some()
    };
    let mut asked: Vec<_> = files.iter().filter(is_asked).collect();
    asked.sort_unstable_by_key(|(node, file)| (file.start, **node));
    let total_bytes = asked.iter().map(|(_, file)| file.size_bytes).sum();
    let mut meter = Meter::new(total_bytes, progress);
    let mut same = HashSet::new();
    ordered::<_, _, _, Error>(
        asked.into_iter().map(Ok),
        &options.workers(),
        || Ok(()),
        |(), (node, file)| {
            let _busy = source.busy(Work::Hash);
            // One that cannot be read is not the same.
            Ok((node, file.size_bytes, hash(image, file).ok()))
        },
        |(node, size_bytes, found)| {
            if found.is_some() && found == source.known_hash(*node) {
                same.insert(*node);
            }
            meter.add(size_bytes)
        },
    )?;
    Ok(same)
}

/// The hash of a whole file.
fn hash(image: &Image, file: &File) -> Result<Hash, Error> {
    const ZEROS: [u8; 1 << 12] = [0; 1 << 12];
    let mut hasher = SpanHasher::new(file.size_bytes);
    image.for_each_block(file, &mut |block| {
        match block {
            FileBlock::Data(bytes) => hasher.update(bytes),
            FileBlock::Hole(mut len) => {
                while len > 0 {
                    let part = len.min(ZEROS.len() as u64);
                    hasher.update(&ZEROS[..usize::try_from(part).unwrap_or_default()]);
                    len -= part;
                }
            }
        }
        Ok::<_, Error>(())
    })?;
    Ok(hasher.finish())
}

fn check_settings(image: &Image, options: &Options) -> Result<(), NotReusable> {
    let superblock = image.superblock();
    let found = (
        superblock.compressor,
        superblock.block_size,
        image.options(),
    );
    let recorded = options.recorded();
    let expected = (options.compressor(), options.block_size, recorded);
    if found == expected {
        return Ok(());
    }
    let text =
        |(compressor, block_size, recorded): (Compressor, BlockSize, Option<CompressorOptions>)| {
            let options = match recorded {
                Some(options) => format!("{options:?}"),
                None => "default options".to_owned(),
            };
            format!(
                "{compressor}, {options}, blocks of {} bytes",
                block_size.bytes()
            )
        };
    Err(NotReusable::Settings {
        found: text(found),
        expected: text(expected),
    })
}

/// Compresses some blocks again.
fn check_encoding(
    image: &Image,
    samples: impl Iterator<Item = StoredBlock>,
    options: &Options,
) -> Result<(), Error> {
    let mut packer = options.packer()?;
    let (mut stored, mut content) = (Vec::new(), Vec::new());
    for block in samples {
        image.read_stored(&block, &mut stored, &mut content)?;
        let again = packer.pack(&content, block.is_fragment, BlockEncoding::Default)?;
        if again.bytes != stored || again.is_compressed != block.word.is_compressed() {
            return Err(NotReusable::Encoding { start: block.start }.into());
        }
    }
    Ok(())
}

impl Source {
    /// The data blocks of other images that may be those of a file.
    pub(crate) fn candidates(&self, node: NodeId, block_size: BlockSize) -> Option<Candidates<'_>> {
        let (image, file, likeness) = self.twin(node)?;
        let is_usable = image.superblock().block_size == block_size;
        is_usable.then(|| Candidates {
            image,
            blocks: Box::new(image.stored_blocks(file)),
            likeness,
        })
    }

    /// The fragment block of another image that may begin with the tail end of a file.
    pub(crate) fn fragment_candidate(&self, node: NodeId) -> Option<Candidate<'_>> {
        let (image, file, _) = self.twin(node)?;
        let block = image.stored_fragment(file.tail?)?;
        Some(Candidate {
            image,
            block,
            likeness: Likeness::Possible,
        })
    }

    /// Whether the content of a fragment block of the older image is known to be the tail ends of
    /// these files; `false` if that is not known without reading them.
    pub(crate) fn is_of_tails(
        &self,
        content: &[u8],
        members: &[(NodeId, u32)],
        block_size: BlockSize,
    ) -> bool {
        let Some(reuse) = &self.reuse else {
            return false;
        };
        let first = members
            .first()
            .and_then(|(node, _)| reuse.files.get(node)?.tail);
        let mut end = 0;
        let is_there = |(node, start): &(NodeId, u32)| {
            let size_bytes = self.size_bytes(*node);
            let len = block_size.tail_bytes(size_bytes);
            end = start + len;
            if u64::from(len) < size_bytes {
                let at = first.map(|first| TailEnd {
                    offset: *start,
                    ..first
                });
                return reuse.same.contains(node) && reuse.files[node].tail == at;
            }
            let bytes = content.get(*start as usize..end as usize);
            let found = bytes.map(|bytes| {
                let mut hasher = SpanHasher::new(size_bytes);
                hasher.update(bytes);
                hasher.finish()
            });
            found.is_some() && found == self.known_hash(*node)
        };
        members.iter().all(is_there) && content.len() == end as usize
    }

    /// Whether all these files have known hashes.
    pub(crate) fn are_known(&self, nodes: &[NodeId]) -> bool {
        nodes.iter().all(|node| self.known_hash(*node).is_some())
    }

    /// The file of another image whose blocks may be copied, and what is known of them.
    fn twin(&self, node: NodeId) -> Option<(&Image, &File, Likeness)> {
        if let Content::Image { image, file } = &self.contents[node.index()] {
            let origin = &self.images[*image as usize];
            return origin
                .is_copied
                .then_some((&origin.image, &**file, Likeness::Certain));
        }
        let reuse = self.reuse.as_ref()?;
        let likeness = if reuse.same.contains(&node) {
            Likeness::Verified
        } else {
            Likeness::Possible
        };
        Some((&reuse.image, &**reuse.files.get(&node)?, likeness))
    }
}

/// The blocks of a file in another image, one after the other.
pub(crate) struct Candidates<'a> {
    image: &'a Image,
    blocks: Box<dyn Iterator<Item = StoredBlock> + 'a>,
    likeness: Likeness,
}

impl<'a> Candidates<'a> {
    /// The next one, if it is one of `len_bytes` bytes.
    pub(crate) fn next(&mut self, len_bytes: u32) -> Option<Candidate<'a>> {
        let block = self.blocks.next()?;
        let is_usable = block.len_bytes == len_bytes && !block.word.is_sparse();
        is_usable.then_some(Candidate {
            image: self.image,
            block,
            likeness: self.likeness,
        })
    }
}
