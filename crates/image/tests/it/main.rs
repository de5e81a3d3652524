//! Reading, checking and extracting images that mksquashfs made, that were made by hand, and that
//! were damaged on purpose.

mod archive;
mod choices;
mod compare;
mod counted;
mod defects;
mod diff;
mod dump;
mod extract;
mod find;
mod handmade;
#[cfg(feature = "http")]
mod http;
mod links;
mod map;
mod mutate;
mod peers;
mod published;
mod reader_requirements;
mod relations;
mod rules;
mod scattered;
mod silent;
mod source_tree;
mod tools;
mod xattrs;
