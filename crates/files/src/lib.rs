//! Plain files that a start reads.
//!
//! * [`extents`]: how files lie on their disk.
//! * [`sqlite`]: how a database lies on its disk, whether it is sound, and whether two are the
//!   same.

pub mod extents;
pub mod sqlite;
