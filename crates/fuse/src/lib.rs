//! Answers the kernel for an image that is mounted in user space (FUSE).
//!
//! A [`Server`] passes the kernel's requests to the file system of crate `mount`, which knows no
//! kernel. Mounting is not done here: the server gets the open device of a mount.

mod activity;
mod adapter;
mod answers;
mod connection;
mod own_mount;
mod server;

pub use activity::Activity;
pub use server::{Server, ServerOptions};
