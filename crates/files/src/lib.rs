//! Plain files that a start reads.
//!
//! * [`extents`]: how files lie on their disk.
//! * [`sqlite`]: how a database lies on its disk, whether it is sound, and how it is rewritten.
//! * [`explained`]: why a file cannot be replaced by a better copy.

pub mod extents;
mod replaced;
pub mod sqlite;

pub use replaced::explained;
