//! A SquashFS image as a file system in user space (FUSE).
//!
//! [`FileSystem`] is what the kernel asks, as calls: look a name up, show an inode's metadata, read
//! a directory, a link, a range of a file. It knows no kernel, needs no privilege and is tested
//! without either. Image bytes are hostile: each call ends with an answer or a [`Failure`], and
//! what was damaged is told once for each inode ([`Trouble`]).
//!
//! ```text
//! NodeId --Nodes--> InodeRef --Listing | FileMap--> StoredBlock --Blocks--> Content
//! ```
//!
//! Nothing belongs to an open file: the kernel names inodes only, and is told that opening needs no
//! request. Listings, block lists and decompressed blocks are kept in bounded caches, in which
//! threads that need the same thing wait for the one that makes it.
//!
//! [`Server`] (feature `fuse`) answers a kernel that has mounted the file system; mounting is not
//! done here. A [`Recorder`] sees the requests of a server whose kernel is told to ask for each page
//! by itself, and so what a start accesses.

mod attributes;
mod blocks;
mod cache;
mod content;
mod failure;
mod file_map;
mod file_system;
mod listing;
mod node;
mod path;
mod recorder;
#[cfg(feature = "fuse")]
mod server;
mod trouble;
mod xattrs;

pub use attributes::{Attributes, Volume};
pub use cache::CacheCounts;
pub use content::Content;
pub use failure::Failure;
pub use file_system::{FileSystem, Options};
pub use listing::{Directory, Name};
pub use node::NodeId;
pub use recorder::{Recorded, Recorder};
#[cfg(feature = "fuse")]
pub use server::{Activity, Manner, Server};
pub use trouble::{Tell, Trouble};
