//! A SquashFS image as a file system in user space (FUSE).
//!
//! [`FileSystem`] is what the kernel asks, as calls: look a name up, show an inode's metadata, read
//! a directory, a link, a range of a file. It knows no kernel, needs no privilege and is tested
//! without either. Image bytes are hostile: each call ends with an answer or a [`Failure`], and
//! what was damaged is told once for each inode ([`Damage`]).
//!
//! ```text
//! NodeId --Nodes--> InodeRef --Listing | FileMap--> StoredBlock --Blocks--> Content
//! ```
//!
//! [`Helpers`] decompress the blocks of one read, or of one that goes on where the one before it
//! ended, at the same time. A [`Prefetch`] goes ahead of all reads by what an earlier start needed.
//! Both only fill the cache of blocks: what they do not come to, who asks does. A [`Pusher`] lets
//! the kernel read the rest of a block of which it asked for a part.
//!
//! Nothing belongs to an open file: the kernel names inodes only, and is told that opening needs no
//! request. Listings, block lists and decompressed blocks are kept in bounded caches, in which
//! threads that need the same thing wait for the one that makes it.
//!
//! An image may have a start pack: the pages that a start touches. [`PackPrefetch`] reads it ahead
//! and hands its pages to the kernel; what needs more than it holds is put off meanwhile
//! ([`ReadReason`]).
//!
//! The server of crate `fuse` answers a kernel that has mounted the file system. A [`Recorder`]
//! sees the requests of a server whose kernel is told to ask for each page by itself, and so what
//! a start accesses.

mod attributes;
mod block;
mod blocks;
mod buffers;
mod cache;
mod content;
mod damage;
mod failure;
mod file_map;
mod file_system;
mod helpers;
mod listing;
mod node;
mod pace;
mod pack_delivery;
mod page_cache_push;
mod path;
mod prefetch;
mod prefetch_control;
mod profile_cursor;
mod reading;
mod recorder;
mod start_pack;
mod stats;
mod xattrs;

pub use attributes::{Attributes, Volume};
pub use cache::CacheCounts;
pub use content::Content;
pub use damage::{Damage, Tell};
pub use failure::Failure;
pub use file_system::{FileSystem, Options};
pub use helpers::Helpers;
pub use listing::{Directory, Name};
pub use node::NodeId;
pub use pack_delivery::{PackPrefetch, PageDelivery};
pub use page_cache_push::{Pusher, ReadAhead};
pub use prefetch::{Prefetch, PrefetchLimits};
pub use prefetch_control::{PrefetchCounts, PrefetchStage};
pub use reading::ReadReason;
pub use recorder::{Recorded, Recorder};
pub use stats::{PackCounts, Stats};
