//! The file system without a kernel: whole trees, hostile images, several threads.

mod hostile;
mod prefetch;
mod requests;
mod threads;
mod tree;
