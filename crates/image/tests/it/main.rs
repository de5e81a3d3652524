//! Reading, checking and extracting images that mksquashfs made, that were made by hand, and that
//! were damaged on purpose.

mod compare;
mod defects;
mod diff;
mod extract;
mod handmade;
mod map;
mod mutate;
mod peers;
mod relations;
mod source_tree;
mod tools;
