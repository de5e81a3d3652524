//! ISO 9660, the file system of live media: where files and their directory records lie.
//!
//! ```text
//! byte 0      system area   boot code and partition tables, which nobody here reads
//! byte 32768  descriptors   of 2048 bytes: primary, El Torito, supplementary (Joliet), the end   volume.rs
//! anywhere    directories   records, none across a boundary of 2048 bytes                        record.rs
//!             files         each in one extent, or in several one after the other                tree.rs
//! ```
//!
//! Each volume descriptor has a tree of its own, and trees share the data of files. Rock Ridge adds
//! names to the records of the first tree (`rock_ridge.rs`); Linux reads that tree if it has them,
//! else Joliet's. Numbers are there twice, little- and big-endian. Sources: ECMA-119, the Rock
//! Ridge Interchange Protocol 1.12, the Joliet and El Torito specifications, Linux's `fs/isofs`.
//!
//! This crate reads no file. A caller lends [`Iso::read`] a function that fetches bytes, and gets
//! every file of every tree with the places of its data and records. [`size_field`] makes the field
//! that a record of another size has at [`SIZE_AT`]. [`boot_images`] reads what El Torito starts.

mod boot;
mod error;
mod field;
mod iso;
mod record;
mod rock_ridge;
mod tree;
mod volume;

pub use boot::{BOOT_ENTRY_BYTES, BootImage, boot_images};
pub use error::{Error, Rule};
pub use iso::Iso;
pub use record::{SIZE_AT, size_field};
pub use rock_ridge::Attributes;
pub use tree::{File, Section, Tree};
pub use volume::{APPLICATION_USE, Naming, Volume};

/// Bytes of a sector, and of a logical block: no other size is in use.
pub const SECTOR_BYTES: u64 = SECTOR as u64;

/// The same, of what is in memory.
const SECTOR: usize = 2048;

/// Fetches the bytes of a file at a place.
pub type Fetch<'a, E> = dyn FnMut(u64, &mut [u8]) -> Result<(), E> + 'a;
