//! Blocks that are copied from another image because their content is the same.
//!
//! An image that is built with the blocks of an older one must be the one that would be built
//! without: so a block is copied only if it decompresses to the bytes that are wanted, and only if
//! the encoder is seen to make the older image's blocks from their content again.
//!
//! Where the hash of a file is known without reading it, as of those in a compressed layer, whose
//! bytes passed by when the source was gathered, the older image's file is hashed. If it is the
//! same, it is read in place of the source's: most compressors of images decompress sooner than
//! gzip, and each block alone.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use coldpress_codec::Work;
use coldpress_format::{BlockSize, Compressor, CompressorOptions, File, TailEnd};
use coldpress_image::{FileBlock, Image, StoredBlock};
use coldpress_layout::{BlockEncoding, Kind, NodeId};

use crate::content::Content;
use crate::duplicates::{Hash, SpanHasher};
use crate::error::Error;
use crate::options::Options;
use crate::source::Source;

/// Blocks that are compressed again to see whether an image was made with the same settings:
/// two levels of a compressor give the same bytes for a block now and then, not for so many.
const SAMPLES: usize = 12;

/// An older image of a similar tree.
#[derive(Debug)]
pub struct Reuse {
    image: Image,
    /// What it has at the path of a node.
    files: HashMap<NodeId, Twin>,
    /// Whether its blocks are copied even if they would be packed otherwise now.
    is_kept: bool,
}

/// A file of an older image at the path of a node.
#[derive(Debug)]
struct Twin {
    file: Arc<File>,
    /// Whether it has the known content of the node, once that was asked.
    is_same: OnceLock<bool>,
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
    /// Whether it is known to hold them.
    pub(crate) is_exact: bool,
    /// Whether it is copied even if it would be packed otherwise now.
    pub(crate) is_kept: bool,
}

impl Reuse {
    /// Looks up the files of `source` in an older image, by path.
    ///
    /// # Errors
    ///
    /// [`Error::Image`] if it cannot be read, [`Error::NotReusable`] if it was built otherwise than
    /// `options` say.
    ///
    /// # Cost
    ///
    /// Reads the older image's metadata, and compresses a dozen of its blocks.
    pub fn new(image: Image, source: &Source, options: &Options) -> Result<Self, Error> {
        check_settings(&image, options)?;
        let (files, samples) = twins(&image, source)?;
        check_encoding(&image, samples, options)?;
        Ok(Self {
            image,
            files,
            is_kept: false,
        })
    }

    /// As [`new`](Self::new), but the blocks of the older image count as right however they were
    /// compressed: the result depends on them.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), but for other levels and encoders.
    pub fn keeping(image: Image, source: &Source, options: &Options) -> Result<Self, Error> {
        check_settings(&image, options)?;
        let (files, _) = twins(&image, source)?;
        Ok(Self {
            image,
            files,
            is_kept: true,
        })
    }
}

/// The files of an older image at the paths of a source, and blocks of it to be tried.
fn twins(
    image: &Image,
    source: &Source,
) -> Result<(HashMap<NodeId, Twin>, Vec<StoredBlock>), Error> {
    let mut files = HashMap::new();
    // Those with several names, which the source may have as files of their own.
    let mut known = HashMap::new();
    let mut samples = Vec::new();
    coldpress_image::walk(image, &mut |visited| {
        let node = source.tree.find(visited.path);
        let node = node.filter(|node| matches!(source.tree[*node].kind, Kind::File { .. }));
        if node.is_some_and(|node| files.contains_key(&node)) {
            return Ok(());
        }
        let file = if let Some(file) = known.get(&visited.at) {
            Arc::clone(file)
        } else {
            let Some(file) = visited.file(image)? else {
                return Ok(());
            };
            samples.extend(image.stored_blocks(&file).next());
            samples.extend(file.tail.and_then(|tail| image.stored_fragment(tail)));
            Arc::new(file)
        };
        if visited.inode.link_count > 1 {
            known.insert(visited.at, Arc::clone(&file));
        }
        // A duplicate may have another path first, which the older image does not have.
        let data = node.map(|node| source.tree.data_of(node));
        let owner = data.filter(|data| Some(*data) != node && !files.contains_key(data));
        for node in node.into_iter().chain(owner) {
            let (file, is_same) = (Arc::clone(&file), OnceLock::new());
            files.insert(node, Twin { file, is_same });
        }
        Ok(())
    })?;
    samples.retain(|block| !block.word.is_sparse());
    let step = samples.len().div_ceil(SAMPLES).max(1);
    Ok((files, samples.into_iter().step_by(step).collect()))
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

pub(crate) fn check_settings(image: &Image, options: &Options) -> Result<(), NotReusable> {
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
    samples: Vec<StoredBlock>,
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
        let (image, file, is_exact) = self.twin(node)?;
        let is_usable = image.superblock().block_size == block_size;
        is_usable.then(|| Candidates {
            image,
            blocks: Box::new(image.stored_blocks(file)),
            is_exact,
            is_kept: self.is_kept(image),
        })
    }

    /// The fragment block of another image that may begin with the tail end of a file.
    pub(crate) fn fragment_candidate(&self, node: NodeId) -> Option<Candidate<'_>> {
        let (image, file, _) = self.twin(node)?;
        let block = image.stored_fragment(file.tail?)?;
        Some(Candidate {
            image,
            block,
            is_exact: false,
            is_kept: self.is_kept(image),
        })
    }

    /// Whether blocks of an image are copied even if they would be packed otherwise now.
    fn is_kept(&self, image: &Image) -> bool {
        let kept = self.reuse.as_ref().filter(|reuse| reuse.is_kept);
        kept.is_some_and(|reuse| std::ptr::eq(&raw const reuse.image, image))
    }

    /// Whether the older image has the tail ends of these files at these places of the fragment
    /// block that has the first, as far as its inodes tell.
    pub(crate) fn has_tails(&self, members: &[(NodeId, u32)]) -> bool {
        let tail = |node| self.known_twin(node)?.1.file.tail;
        let Some(first) = members.first().and_then(|(node, _)| tail(*node)) else {
            return false;
        };
        members.iter().all(|(node, start)| {
            let offset = *start;
            tail(*node) == Some(TailEnd { offset, ..first })
        })
    }

    /// Whether the content of that fragment block is these tail ends and no more.
    pub(crate) fn is_of_tails(
        &self,
        content: &[u8],
        members: &[(NodeId, u32)],
        block_size: BlockSize,
    ) -> bool {
        let mut end = 0;
        let is_there = |(node, start): &(NodeId, u32)| {
            let size_bytes = self.size_bytes(*node);
            let len = block_size.tail_bytes(size_bytes);
            end = start + len;
            if u64::from(len) < size_bytes {
                return self.same_file(*node).is_some();
            }
            let bytes = content.get(*start as usize..end as usize);
            let found = bytes.map(|bytes| {
                let mut hasher = SpanHasher::new(size_bytes);
                hasher.update(bytes);
                hasher.finish()
            });
            found.is_some() && found == self.known_hash(*node)
        };
        // Tail ends that are not wanted any more may follow.
        members.iter().all(is_there) && content.len() == end as usize
    }

    /// The file of the older image whose content is that of a node, if that can be told without
    /// reading the node's. It is decompressed for that, the first time.
    pub(crate) fn same_file(&self, node: NodeId) -> Option<(&Image, &File)> {
        let (image, twin, known) = self.known_twin(node)?;
        let is_same = || {
            let _busy = self.busy(Work::Hash);
            // One that cannot be read is another.
            hash(image, &twin.file).is_ok_and(|found| found == known)
        };
        let is_same = *twin.is_same.get_or_init(is_same);
        is_same.then_some((image, &*twin.file))
    }

    /// The file of the older image at the path of a node of the same length, whose hash is known.
    fn known_twin(&self, node: NodeId) -> Option<(&Image, &Twin, Hash)> {
        let reuse = self.reuse.as_ref()?;
        let known = self.known_hash(node)?;
        let twin = reuse.files.get(&node)?;
        let is_as_long = self.size_bytes(node) == twin.file.size_bytes;
        is_as_long.then_some((&reuse.image, twin, known))
    }

    /// The file of another image whose blocks may be copied, and whether it is the same for sure.
    fn twin(&self, node: NodeId) -> Option<(&Image, &File, bool)> {
        let older = self.reuse.as_ref();
        let older = older.and_then(|reuse| Some((reuse, reuse.files.get(&node)?)));
        if let Some((reuse, twin)) = older.filter(|(reuse, _)| reuse.is_kept) {
            return Some((&reuse.image, &*twin.file, false));
        }
        if let Content::Image { image, file } = &self.contents[node.index()] {
            let origin = &self.images[*image as usize];
            return origin.is_copied.then_some((&origin.image, &**file, true));
        }
        older.map(|(reuse, twin)| (&reuse.image, &*twin.file, false))
    }
}

/// The blocks of a file in another image, one after the other.
pub(crate) struct Candidates<'a> {
    image: &'a Image,
    blocks: Box<dyn Iterator<Item = StoredBlock> + 'a>,
    is_exact: bool,
    is_kept: bool,
}

impl<'a> Candidates<'a> {
    /// The next one, if it is one of `len_bytes` bytes.
    pub(crate) fn next(&mut self, len_bytes: u32) -> Option<Candidate<'a>> {
        let block = self.blocks.next()?;
        let is_usable = block.len_bytes == len_bytes && !block.word.is_sparse();
        is_usable.then_some(Candidate {
            image: self.image,
            block,
            is_exact: self.is_exact,
            is_kept: self.is_kept,
        })
    }
}
