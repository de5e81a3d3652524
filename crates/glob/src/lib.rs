//! Shell patterns: what `fnmatch(3)`, `.gitignore` files and mksquashfs's `-wildcards` have in
//! common, in the C locale.
//!
//! ```text
//! glob     *, ?, [a-z], \*, and the groups of FNM_EXTMATCH     glob.rs, parse.rs
//! star     patterns without groups: no memory, no search       star.rs
//! groups   patterns with groups, by sets of places             groups.rs, places.rs
//! set      bracket expressions, also for regular expressions   set.rs
//! ```
//!
//! What differs between those who read patterns is stated as [`Options`]. Patterns and texts may be
//! hostile: none takes more time than [`Glob::matches`] says.
#![forbid(unsafe_code)]

mod glob;
mod groups;
mod parse;
mod places;
mod set;
mod star;

pub use glob::{Glob, Options};
pub use parse::GroupError;
pub use set::{BracketSyntax, ByteSet, parse_bracket};
