//! Reading ahead what a boot needs, before the root is there.
//!
//! ```text
//! extent_list   which bytes of which image, as a text that goes into an initrd
//! pace          how fast, how much, and when it is given up
//! helper        the program `coldpress-prefetch`: reads the list's bytes, and never fails a boot
//! ```
//!
//! The program is put into initrds, so this crate uses nothing but the standard library.

mod extent_list;
mod helper;
mod pace;

pub use extent_list::{ExtentList, Refused, SUPERBLOCK_BYTES};
pub use helper::{Done, read_ahead};
pub use pace::{Limits, Pace, Verdict, Why};
