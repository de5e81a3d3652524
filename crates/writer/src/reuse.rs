//! Blocks that are copied from another image because their content is the same.
//!
//! An image that is built with the blocks of an older one must be the one that would be built
//! without: so a block is copied only if it decompresses to the bytes that are wanted, and only if
//! the encoder is seen to make the older image's blocks from their content again.

use std::collections::HashMap;
use std::sync::Arc;

use coldpress_format::{BlockSize, Compressor, CompressorOptions, File};
use coldpress_image::{Image, StoredBlock};
use coldpress_layout::{BlockEncoding, Kind, NodeId};

use crate::content::Content;
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
    files: HashMap<NodeId, Arc<File>>,
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
        Ok(Self { image, files })
    }
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
        let (image, file, is_exact) = self.twin(node)?;
        let is_usable = image.superblock().block_size == block_size;
        is_usable.then(|| Candidates {
            image,
            blocks: Box::new(image.stored_blocks(file)),
            is_exact,
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
        })
    }

    /// The file of another image whose blocks may be copied, and whether it is the same for sure.
    fn twin(&self, node: NodeId) -> Option<(&Image, &File, bool)> {
        if let Content::Image { image, file } = &self.contents[node.index()] {
            let origin = &self.images[*image as usize];
            return origin.is_copied.then_some((&origin.image, &**file, true));
        }
        let reuse = self.reuse.as_ref()?;
        Some((&reuse.image, &**reuse.files.get(&node)?, false))
    }
}

/// The blocks of a file in another image, one after the other.
pub(crate) struct Candidates<'a> {
    image: &'a Image,
    blocks: Box<dyn Iterator<Item = StoredBlock> + 'a>,
    is_exact: bool,
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
        })
    }
}
