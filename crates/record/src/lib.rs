//! What a start did, and what is done ahead of the next one.
//!
//! * [`events`]: the kernel's events as accesses to paths.
//! * [`hooks`]: what starts reading ahead in an initrd.
//! * [`outside`]: requests of the disk of a virtual machine, as the same.
//! * [`prefetching`]: reading ahead what a start needs, for mounts of others.
//!
//! This crate prints nothing and starts nothing.

mod cpio;
mod events;
pub mod hooks;
pub mod outside;
pub mod prefetching;

pub use events::{Recorded, events};
