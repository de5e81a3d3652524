//! Layers of container images as an input: put on top of each other without unpacking them.
//!
//! ```text
//! layer -> thread (decompress, check) -> stream -> entries -> unpack, upper, place -> draft
//!                   |
//!                   +--> store: the plain layer at any position    gzip.rs, packed.rs, paged.rs
//!
//! layer that is a SquashFS image -> image_input -> draft               squashfs.rs
//! ```
//!
//! The lowest layer comes first, because a hard link is one to what its path means at that moment.
//! Each layer is read once for its names and digests. When blocks are compressed, workers read
//! the bytes of files that are visible from the layer itself, so what a later layer hides is not
//! compressed, and no layer is unpacked.
//!
//! The index of an earlier reading (index.rs) saves the first of the two readings, and the second
//! too if an older image has all contents that are needed.
//!
//! Rejected: the newest layer first and all in one pass. Hard links into lower layers would have to
//! be resolved among names that are hidden by then, and the image would have the order of the
//! layers, unless its blocks are kept somewhere until the last is there.

mod checking;
mod deferred;
mod gzip;
pub(crate) mod index;
mod indexed;
mod opened;
mod packed;
mod paged;
mod pages;
mod place;
pub(crate) mod squashfs;
pub(crate) mod upper;

use std::fmt;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use coldpress_image::ReadAt;
use coldpress_layout::Node;

use crate::digest::{Digest, Hasher};
use crate::draft::Draft;
use crate::error::{self, Error};
use crate::gather::SourceOptions;
use crate::tar::entries::Entries;
use crate::tar::stream::Stream;
use crate::tar::unpack::Unpacker;
use crate::tar::{Keeper, TarDefaults, unpack_all};
pub(crate) use deferred::Deferred;
use gzip::SPAN_BYTES;
pub use index::IndexPlace;
use index::{IndexReader, IndexWriter, Plain};
pub use indexed::make_index;
use opened::{Means, Outcome};
pub(crate) use packed::Packing;
pub(crate) use paged::Paged;
use pages::PAGE_BYTES;
pub(crate) use pages::Pages;
use upper::Upper;

/// Copies of decompressors for all layers together, 80 MiB.
const COPIES_WANTED: u64 = 2048;

/// The layers of a container image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayersInput {
    /// From the lowest to the uppermost.
    pub layers: Vec<Layer>,
    /// Where layers are kept until the image is written that cannot be read at any position: those
    /// that are not compressed by gzip, compressed, in files without names.
    pub spool_directory: PathBuf,
    /// What directories have that no layer describes.
    pub defaults: TarDefaults,
    /// Whether a symbolic link of a lower layer stays if an upper layer has something below it,
    /// which then goes where the link leads; else a directory takes its place.
    pub follows_symlinks: bool,
}

/// How a layer describes files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerKind {
    /// A tar archive, plain or compressed in a way that its first bytes tell.
    Tar,
    /// A SquashFS image, which says as an overlay of Linux does what it hides.
    SquashFs,
}

/// A layer, plain or compressed.
#[derive(Clone)]
pub struct Layer {
    /// How it describes files.
    pub kind: LayerKind,
    /// Its name, for messages.
    pub name: PathBuf,
    /// The bytes as they are stored.
    pub bytes: Arc<dyn ReadAt>,
    /// How many there are.
    pub size_bytes: u64,
    /// Their digest; one of the two at least should be known.
    pub digest: Option<Digest>,
    /// That of the plain bytes.
    pub diff_id: Option<Digest>,
    /// The file that they lie in, if somebody else may change it.
    pub file: Option<Arc<File>>,
    /// Where its index is kept, if it is.
    pub index: Option<IndexPlace>,
}

impl PartialEq for Layer {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.digest, self.diff_id) == (&other.name, other.digest, other.diff_id)
    }
}

impl Eq for Layer {}

impl fmt::Debug for Layer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Layer")
            .field("name", &self.name)
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

/// What can be wrong with a layer as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayerDefect {
    /// Its length is another than the manifest says.
    #[error(
        "it has {} than the {expected_bytes} bytes that the manifest states; fetch it again",
        if *is_longer { "more" } else { "fewer" }
    )]
    Size {
        /// What the manifest says.
        expected_bytes: u64,
        /// Whether there is more.
        is_longer: bool,
    },
    /// Its content is another.
    #[error("its {what} is {found}, must be {expected}; fetch it again")]
    Digest {
        /// `digest`, of the stored bytes, or `diff_id`, of the plain ones.
        what: &'static str,
        /// What the manifest or the configuration says.
        expected: Digest,
        /// That of the bytes.
        found: Digest,
    },
    /// A part of it is elsewhere in a way that only an overlay of Linux follows.
    #[error(
        "`{}` has the xattr {}: where its content is, only an overlay of Linux knows; copy the \
         tree of its mount",
        name.escape_ascii(),
        xattr.escape_ascii()
    )]
    Elsewhere {
        /// The last component of its path.
        name: Vec<u8>,
        /// `trusted.overlay.redirect`, `trusted.overlay.metacopy`.
        xattr: Vec<u8>,
    },
}

/// Adds what layers hold to a draft; returns what they say about the root, if they do.
///
/// # Errors
///
/// [`Error::Tar`] where a layer is damaged, [`Error::Layer`] if it is not the one that is named,
/// [`Error::Source`] if it cannot be read or decompressed, [`Error::SourceImage`] of a SquashFS
/// image, [`Error::Unstorable`].
pub(crate) fn read(
    draft: &mut Draft,
    input: &LayersInput,
    options: &SourceOptions,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<Node>, Error> {
    let compressed_bytes: u64 = input.layers.iter().map(|layer| layer.size_bytes).sum();
    // Layers have three times as many bytes when they are decompressed.
    let span_bytes = (compressed_bytes / COPIES_WANTED * 3).max(SPAN_BYTES);
    let means = Means {
        pages: Arc::new(Pages::default()),
        span_bytes: span_bytes.next_multiple_of(PAGE_BYTES as u64),
        spool_directory: input.spool_directory.clone(),
    };
    let mut root = None;
    for (layer, number) in input.layers.iter().zip(0..) {
        root = match layer.kind {
            LayerKind::Tar => archive(draft, layer, number, input, options, &means, progress)?,
            LayerKind::SquashFs => Some(squashfs::read(draft, layer, options, progress)?),
        }
        .or(root);
    }
    Ok(root)
}

/// Adds what an archive holds.
fn archive(
    draft: &mut Draft,
    layer: &Layer,
    number: u32,
    input: &LayersInput,
    options: &SourceOptions,
    means: &Means,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<Node>, Error> {
    let store = match &layer.file {
        Some(file) => {
            let metadata = file
                .metadata()
                .map_err(error::source("read", &layer.name))?;
            draft.keep_watched(Arc::clone(file), layer.name.clone(), &metadata)
        }
        None => draft.keep(Arc::clone(&layer.bytes), layer.name.clone()),
    };
    let place = layer.index.as_ref();
    let mut outcome = None;
    let (known, deferred) = index_of(layer, number, means).unzip();
    let stream = if let Some(index) = known {
        Stream::of_index(index, layer.name.clone(), progress)
    } else {
        let (pump, result) = opened::open(layer, number, means);
        outcome = Some(result);
        let mut stream = Stream::of_pump(pump, layer.name.clone(), progress);
        // Here and not in the thread that decompresses, which takes longest.
        stream.hasher = layer.diff_id.as_ref().map(Hasher::like);
        // One that is there and does not serve may be damaged. One that cannot be kept is none.
        let place = place.filter(|place| place.serves || !place.path.exists());
        stream.index = place.and_then(|place| IndexWriter::new(&place.path).ok());
        stream
    };
    let mut entries = Entries::new(stream, false);
    let mut unpacker = Unpacker::new(draft, options, input.defaults, layer.name.clone());
    unpacker.upper = Some(Upper::new(input.follows_symlinks));
    unpack_all(
        &mut entries,
        &mut unpacker,
        &mut Keeper::InPlace { store, start: 0 },
    )?;
    let root = unpacker.root;
    if let Some(deferred) = deferred {
        draft.defer_store(store, Arc::new(deferred));
    }
    let Some(outcome) = outcome else {
        return Ok(root);
    };
    let (hasher, index) = (entries.stream.hasher.take(), entries.stream.index.take());
    let plain = Outcome::plain(outcome, layer, hasher).map_err(|defect| refused(layer, defect))?;
    if let (Some(index), Ok(len_bytes)) = (index, plain.size_bytes()) {
        let diff_id = layer.diff_id;
        let _ = index.finish(Plain { len_bytes, diff_id });
    }
    draft.set_store(store, plain);
    Ok(root)
}

/// The index of a layer, and its bytes, which are not read yet; nothing if no index serves.
fn index_of(layer: &Layer, number: u32, means: &Means) -> Option<(IndexReader, Deferred)> {
    let place = layer.index.as_ref().filter(|place| place.serves)?;
    // The bytes that the index was made of are known by this alone.
    layer.digest?;
    let (index, plain) = IndexReader::open(&place.path)?;
    let is_wanted = layer.diff_id.is_none() || layer.diff_id == plain.diff_id;
    let deferred = || Deferred::new(layer.clone(), number, plain.len_bytes, means.clone());
    is_wanted.then(|| (index, deferred()))
}

fn demand(layer: &Layer, defect: Option<LayerDefect>) -> Result<(), Error> {
    defect.map_or(Ok(()), |defect| Err(refused(layer, Box::new(defect))))
}

fn refused(layer: &Layer, defect: Box<LayerDefect>) -> Error {
    Error::Layer {
        layer: layer.name.clone(),
        defect,
    }
}
