//! The file system without a kernel: whole trees, hostile images, several threads.

mod hostile;
mod prefetch;
mod requests;
mod start_pack;
mod threads;
mod tree;
