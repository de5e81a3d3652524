//! What the command lines of squashfs-tools have in common.
//!
//! ```text
//! tool     the programs                                     tool.rs
//! table    options, each with its treatment                 table.rs
//! words    words of a command line to a request, by a table  words.rs, value.rs
//! help     what `-help` and its kin print of a table        help.rs
//! bar      what programs read of the progress                progress_bar.rs
//! ```

pub(crate) mod help;
mod progress_bar;
pub(crate) mod table;
mod tool;
mod value;
pub(crate) mod words;

pub use progress_bar::progress_bar;
pub use tool::Tool;
pub(crate) use value::Value;

/// The squashfs-tools whose command lines are understood.
pub(crate) const UNDERSTOOD: &str = "4.7";
