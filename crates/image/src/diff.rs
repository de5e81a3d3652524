//! Comparing two images: their trees, their content, and how they lie.
//!
//! The trees are walked side by side. Files of equal length wait until there is a batch of them,
//! which is compared in the order of the data area on several threads: blocks that are stored as
//! the same bytes are not decompressed, and a fragment block is decompressed for many tail ends at
//! once.

mod bytes;
mod content;
mod order;
mod tree;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::thread;

use coldpress_codec::{Workers, ordered};
use coldpress_format::InodeKind;

use crate::error::Error;
use crate::image::Image;
use content::{Contents, Pair};
use tree::Trees;

pub use bytes::first_difference;
pub use order::LayoutDifference;

/// Paths and block lists that wait for a batch to be full: some 100,000 files.
const BATCH_BYTES: usize = 32 << 20;

/// One of the two images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    Left,
    /// The second.
    Right,
}

/// What of two trees is compared beside names, types, targets, device numbers and lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one choice of the caller"
)]
pub struct DiffOptions {
    /// The bytes of files.
    pub content: bool,
    /// Permission bits.
    pub modes: bool,
    /// Owners and groups.
    pub owners: bool,
    /// Modification times.
    pub times: bool,
    /// Extended attributes.
    pub xattrs: bool,
    /// Which names are one inode.
    pub links: bool,
}

/// A way in which two trees differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeDifference {
    /// The path.
    pub path: Vec<u8>,
    /// What differs.
    pub what: Contrast,
}

/// What of a path differs, on the left and on the right.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Contrast {
    /// Only one side has it, and with it what is below.
    OnlyIn(Side),
    /// Its type.
    Type(InodeKind, InodeKind),
    /// Its permission bits.
    Mode(u16, u16),
    /// Its owner.
    Owner(u32, u32),
    /// Its group.
    Group(u32, u32),
    /// Its modification time, seconds since 1970.
    Time(u32, u32),
    /// Its major and minor device number.
    Device((u32, u32), (u32, u32)),
    /// Its symlink target.
    Target(Vec<u8>, Vec<u8>),
    /// The values of these xattrs, or whether it has them.
    Xattrs(Vec<Vec<u8>>),
    /// Other names are the same inode.
    HardLink,
    /// Its length in bytes.
    Length(u64, u64),
    /// Its bytes, from this one on.
    Content(u64),
}

/// Data blocks of files that both images have, compared as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockCounts {
    /// Blocks that are the same bytes in both images.
    pub equal: u64,
    /// Blocks of the same content that are other bytes.
    pub recompressed: u64,
    /// The first file with such a block.
    pub first_recompressed: Option<Vec<u8>>,
}

/// What was found beside single differences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// How many differences of the trees there are.
    pub differences: u64,
    /// How blocks are stored; zero if content was not compared.
    pub blocks: BlockCounts,
    /// How the files that both images have lie in them.
    pub layout: LayoutDifference,
}

/// Why two images could not be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// The first image cannot be read.
    #[error(transparent)]
    Left(Error),
    /// The second image cannot be read.
    #[error(transparent)]
    Right(Error),
    /// The progress callback asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl DiffError {
    /// For `map_err`: the image of this side could not be read.
    fn of(side: Side) -> impl Fn(Error) -> Self {
        move |error| match side {
            Side::Left => Self::Left(error),
            Side::Right => Self::Right(error),
        }
    }
}

/// Compares two images.
///
/// * `found`: is given every difference of the trees, by path, names in byte order.
/// * `progress`: is given the bytes of the left image that were compared so far; stops the work
///   when it breaks.
///
/// # Errors
///
/// [`DiffError`] if one of them is damaged where it is read, or the caller stops it.
///
/// # Cost
///
/// Reads both images; decompresses metadata, and the blocks that are not stored as the same bytes
/// by the same compressor. Memory for 150 bytes for each inode, and a batch of files.
pub fn diff(
    left: &Image,
    right: &Image,
    options: &DiffOptions,
    found: &mut dyn FnMut(TreeDifference),
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Comparison, DiffError> {
    let mut trees = Trees::new(left, right, *options)?;
    let contents = Contents::new(left, right);
    let mut comparison = Comparison::default();
    let mut done_bytes = 0;
    loop {
        let is_more = trees.fill(BATCH_BYTES)?;
        let pairs = std::mem::take(&mut trees.pairs);
        let mut differences = std::mem::take(&mut trees.differences);
        compare_batch(&contents, pairs, |place, path, outcome| {
            done_bytes += outcome.left_bytes;
            let blocks = &mut comparison.blocks;
            blocks.equal += outcome.equal;
            blocks.recompressed += outcome.recompressed;
            if outcome.recompressed > 0 && blocks.first_recompressed.is_none() {
                blocks.first_recompressed = Some(path.clone());
            }
            if let Some(offset) = outcome.differs_at {
                let what = Contrast::Content(offset);
                differences.push((place, TreeDifference { path, what }));
            }
            match progress(done_bytes) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(DiffError::Interrupted),
            }
        })?;
        comparison.differences += differences.len() as u64;
        differences.sort_by_key(|(place, _)| *place);
        for (_, difference) in differences {
            found(difference);
        }
        if !is_more {
            break;
        }
    }
    comparison.layout = trees.layout()?;
    Ok(comparison)
}

fn compare_batch(
    contents: &Contents,
    mut pairs: Vec<Pair>,
    mut sink: impl FnMut(usize, Vec<u8>, content::Outcome) -> Result<(), DiffError>,
) -> Result<(), DiffError> {
    pairs.sort_by_key(Pair::position);
    let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let window = threads.saturating_mul(NonZeroUsize::MIN.saturating_add(15));
    ordered(
        pairs.into_iter().map(Ok),
        &Workers { threads, window },
        || Ok(content::Buffers::default()),
        |buffers, pair| {
            let outcome = contents.compare(&pair, buffers)?;
            Ok((pair.place, pair.path, outcome))
        },
        |(place, path, outcome)| sink(place, path, outcome),
    )
}
