//! The command lines of squashfuse and `squashfuse_ll`.
//!
//! ```text
//! program  which of the two was called, and how it ends    program.rs
//! request  words to what is asked for                      request.rs
//! options  lists of options behind `-o`                    options.rs, mount_option.rs
//! table    these options, each with its treatment          table.rs
//! usage    what `-h` prints                                usage.rs
//! ```
//!
//! `docs/squashfuse.md` says what differs.

mod mount_option;
mod options;
mod program;
mod request;
mod table;
mod usage;

pub use mount_option::MountOption;
pub use program::Program;
pub use request::{Mounting, Request};
pub use usage::usage;
