//! Plain files that a start reads.
//!
//! * [`sqlite`]: how a database lies on its disk, whether it is sound, and whether two are the same.

pub mod sqlite;
