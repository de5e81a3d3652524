//! The command lines of unsquashfs and sqfscat.
//!
//! ```text
//! parse      words to a request, by a table             parse.rs, options.rs, request.rs
//! image      opened, or refused by its version          image.rs
//! find       patterns to paths of the image             expand.rs, follow.rs, name_match.rs
//! select     those paths, and what is excluded          selection.rs, path_tree.rs, cursor.rs
//! print      superblock, names, contents                superblock.rs, listing.rs, cat.rs, help.rs
//! dump       as pseudo definitions                      pseudo.rs, definition.rs, first_names.rs
//! extract    what is replaced, and the counts           extraction.rs, counts.rs
//! ```
//!
//! `docs/unsquashfs.md` lists all options. What goes to standard output is what unsquashfs prints,
//! because programs read it; messages are coldpress's own.

mod cat;
mod counts;
mod cursor;
mod definition;
mod expand;
mod extraction;
mod first_names;
mod follow;
mod help;
mod image;
mod listing;
mod name_match;
mod options;
mod owner_names;
mod parse;
mod path_tree;
mod pseudo;
mod request;
mod selection;
mod superblock;
mod xattrs;

pub use cat::write_contents;
pub use counts::{Work, created};
pub use cursor::Cursor;
pub use extraction::{change, choice, is_filled};
pub use help::help;
pub use image::{file, other_kind, other_version, read_limits};
pub use listing::write_listing;
pub use parse::parse;
pub use pseudo::PseudoDump;
pub use request::{Errors, Listing, Owners, Print, Request, Talk, Xattrs};
pub use selection::Selection;
pub use superblock::write_superblock;
pub use xattrs::kept_xattrs;
