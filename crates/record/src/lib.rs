//! What a start did, and what is done ahead of the next one.
//!
//! * [`events`]: the kernel's events as accesses to paths.
//! * [`prefetching`]: reading ahead what a start needs, for mounts of others.
//!
//! This crate prints nothing and starts nothing.

mod events;
pub mod prefetching;

pub use events::{Recorded, events};
