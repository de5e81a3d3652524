//! `mksquashfs` and `sqfstar` as users and other projects call them.
//!
//! The binary is called by those names, through symbolic links. What it writes is compared with
//! what the installed mksquashfs writes for the same command line, by the listing of unsquashfs.

mod append;
mod behavior;
mod lines;
mod roots;
mod summary;
pub(crate) mod tools;
pub(crate) mod tree;
