//! The compressors of an image behind one interface, and the ordered parallel map.
//!
//! The blocks of an image are compressed one by one, so compressing and decompressing is the only
//! work worth spreading over threads, and both halves of it are here. An [`Encoder`] or a
//! [`Decoder`] belongs to one thread and is reused for many blocks; [`ordered`] runs them on
//! several threads and hands the results over as if there were one.
//!
//! An encoder writes only what the kernel can read back within the memory it set aside at mount
//! time (docs/format.md, "Compressor options"), and its bytes depend on the settings and the block
//! alone. A decoder takes hostile bytes: any stream gives a length or an error, in memory bounded
//! by the block size.
//!
//! Nothing here touches a file.

mod best;
mod choice;
mod decoder;
mod encoder;
mod error;
mod gzip;
mod inflater;
mod lz4;
mod lzo;
mod ordered;
mod probe;
mod recipe;
mod settings;
mod tuning;
mod work;
mod xz;
mod zlib;
mod zstd;

pub use choice::{Choice, Choices};
pub use decoder::Decoder;
pub use encoder::Encoder;
pub use error::Error;
pub use inflater::{InflateError, Inflated, Inflater};
pub use ordered::{Workers, ordered};
pub use probe::is_incompressible;
pub use recipe::{Recipe, Recompressor};
pub use settings::Settings;
pub use tuning::{Dictionary, Filter, GzipTuning, Lz4Tuning, Strategy, Tuning, XzTuning};
pub use work::{Work, WorkObserver, WorkSpan};

use coldpress_format::{BlockSize, METADATA_BLOCK_SIZE};

/// The most bytes that a block of an image of this block size holds before compression.
///
/// Data blocks hold up to the block size, metadata blocks up to 8 KiB; the kernel sizes its
/// windows and dictionaries by the larger of the two.
fn largest_block_bytes(block_size: BlockSize) -> u32 {
    const METADATA_BYTES: u32 = 8192;
    const _: () = assert!(METADATA_BLOCK_SIZE == 8192);
    block_size.bytes().max(METADATA_BYTES)
}
