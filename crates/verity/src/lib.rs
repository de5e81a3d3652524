//! Hash trees of dm-verity, byte for byte as `veritysetup format` writes them.
//!
//! The kernel's dm-verity reads a device block by block and refuses each block whose hash is not
//! the one in a tree of hashes. Whoever trusts the root hash of the tree can trust the device.
//!
//! * [`protect`] writes the tree of an image and the superblock that describes it.
//! * [`Tree`] is a tree that exists: beside an image, or appended to it. [`Tree::verify`] compares
//!   an image with it in user space, and names the first block that differs.
//! * [`TreeFiles`]: the files of a new tree, which take their places when they are complete.
//! * [`read_through`]: what a start reads of a tree, for predictions.
//! * [`Superblock`], [`Parameters`]: what a tree is like; [`Geometry`]: where its levels lie.
//!
//! The format is that of the kernel's `Documentation/admin-guide/device-mapper/verity.rst` and of
//! cryptsetup's superblock. Superblocks are hostile: nothing is allocated from a size that was not
//! checked. A tree is never in memory as a whole, and has the same bytes for any number of threads.

mod algorithm;
mod block_bytes;
mod build;
mod derived;
mod error;
mod files;
mod found;
mod geometry;
mod hex;
mod parameters;
mod protect;
mod read_through;
mod salted;
mod superblock;
mod tree;
mod verify;

pub use algorithm::Algorithm;
pub use block_bytes::BlockBytes;
pub use error::{Error, Part};
pub use files::{Places, Report, TreeFiles, sidecar};
pub use geometry::{Geometry, Level};
pub use hex::{RootHash, Salt, Uuid};
pub use parameters::{HashType, Parameters, SaltChoice, Settings};
pub use protect::{Advance, Area, Protected, protect};
pub use read_through::{Through, read_through};
pub use superblock::{SUPERBLOCK_BYTES, Superblock};
pub use tree::Tree;
pub use verify::Mismatch;

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use coldpress_codec::Workers;

/// Bytes that one job reads and hashes: enough that the queue costs nothing beside it.
const CHUNK_BYTES: u64 = 1 << 20;

/// All processors, each with one chunk at work and one waiting.
pub fn workers() -> Workers {
    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Workers {
        threads,
        window: threads.saturating_mul(NonZeroUsize::MIN.saturating_add(1)),
    }
}
