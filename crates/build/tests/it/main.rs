//! Building images and reading them back. Needs nothing but a file system.

/// Files of every kind that change while an image is built.
mod crossing;
/// What ends a build, and what it leaves.
mod failures;
/// The tables: their size, what of them is compressed, and plans that name directories.
mod metadata;
/// Any tree, any plan, any options: the image holds the tree, whatever the number of threads.
mod round_trip;
/// The image for recording: each inode and listing has pages of its own.
mod spread;
/// Trees on disk for the others.
mod trees;
