//! Blocks that are copied from another image because their content is the same.
//!
//! An image that is built with the blocks of an older one must be the one that would be built
//! without: so a block is copied only if it decompresses to the bytes that are wanted, and only if
//! the encoder is seen to make the older image's blocks from their content again.
//!
//! Where the hash of a file is known without reading it, as of those in a compressed layer, whose bytes
//! passed by when the source was gathered, the older image's file is hashed. If it is the same, it is
//! read in place of the source's: most compressors of images decompress sooner than gzip, and each
//! block alone.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use coldpress_codec::{Work, ordered};
use coldpress_format::{BlockSize, Compressor, CompressorOptions, File, TailEnd};
use coldpress_image::{FileBlock, Image, StoredBlock};
use coldpress_layout::{BlockEncoding, Kind, NodeId};

use crate::content::Content;
use crate::duplicates::{BATCH_FILES, Hash, SpanHasher};
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
    /// Nodes whose content is known to be that of the older image's file.
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
    /// where the hash of the source's is known.
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

/// The nodes whose known hash is that of the file at their path.
fn same(
    image: &Image,
    files: &HashMap<NodeId, Arc<File>>,
    source: &Source,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<HashSet<NodeId>, Error> {
    let known = files.iter().filter_map(|(node, file)| {
        let is_as_long = source.size_bytes(*node) == file.size_bytes;
        Some((
            *node,
            &**file,
            source.known_hash(*node).filter(|_| is_as_long)?,
        ))
    });
    let mut known: Vec<_> = known.collect();
    // As they lie in the image, so that a fragment block serves for all of its tail ends.
    known.sort_unstable_by_key(|(node, file, _)| {
        let tail = file.tail.map(|tail| (tail.fragment, tail.offset));
        (file.blocks.is_empty(), file.start, tail, *node)
    });
    let total_bytes = known.iter().map(|(_, file, _)| file.size_bytes).sum();
    let mut meter = Meter::new(total_bytes, progress);
    let mut same = HashSet::new();
    ordered::<_, _, _, Error>(
        known.chunks(BATCH_FILES).map(Ok),
        &options.workers(),
        || Ok(()),
        |(), batch| {
            let _busy = source.busy(Work::Hash);
            // One that cannot be read is not the same.
            let is_same = |(_, file, known): &(_, &File, Hash)| {
                hash(image, file).is_ok_and(|found| found == *known)
            };
            Ok((batch, batch.iter().map(is_same).collect::<Vec<_>>()))
        },
        |(batch, found)| {
            let found = batch.iter().zip(found).filter(|(_, is_same)| *is_same);
            same.extend(found.map(|((node, ..), _)| *node));
            meter.add(batch.iter().map(|(_, file, _)| file.size_bytes).sum())
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

    /// Whether the older image has the tail ends of these files, and at these places of the fragment
    /// block that has the first.
    pub(crate) fn has_tails(&self, members: &[(NodeId, u32)]) -> bool {
        let tail = |node| self.same_file(node)?.1.tail;
        let Some(first) = members.first().and_then(|(node, _)| tail(*node)) else {
            return false;
        };
        members.iter().all(|(node, start)| {
            let offset = *start;
            tail(*node) == Some(TailEnd { offset, ..first })
        })
    }

    /// The file of the older image whose content is known to be that of a node.
    pub(crate) fn same_file(&self, node: NodeId) -> Option<(&Image, &File)> {
        let reuse = self.reuse.as_ref()?;
        let file = reuse.files.get(&node)?;
        reuse
            .same
            .contains(&node)
            .then_some((&reuse.image, &**file))
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
