//! Building images and reading them back. Needs nothing but a file system.

/// Blocks that are packed within a budget, from the sizes of images.
mod budget;
/// Files of every kind that change while an image is built.
mod crossing;
/// What ends a build, and what it leaves.
mod failures;
/// Tail ends that share blocks with what is similar.
mod groups;
/// Layers of container images, put on top of each other.
mod layers;
/// The tables: their size, what of them is compressed, and plans that name directories.
mod metadata;
/// Metadata that is replaced.
mod overrides;
/// Any tree, any plan, any options: the image holds the tree, whatever the number of threads.
mod round_trip;
/// What images would be, against what they are.
mod sample;
/// What of a tree goes into an image.
mod select;
/// Xattrs that many nodes have, in memory once.
mod shared;
/// The image for recording: each inode and listing has pages of its own.
mod spread;
/// Images that keep what an older one has.
mod stable;
/// Other files that take the names of those that were found.
mod swapped;
/// Archives that are read, and hostile ones.
mod tar;
/// Trees on disk for the others.
mod trees;
