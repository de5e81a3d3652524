//! Plain files that a start reads.
//!
//! * [`archives`]: what of an archive a start used, and the archive in that order.
//! * [`defragmented`]: what became of a file that was to be rewritten.
//! * [`extents`]: how files lie on their disk.
//! * [`sqlite`]: how a database lies on its disk, whether it is sound, and how it is rewritten.
//! * [`explained`]: why a file cannot be replaced by a better copy.

pub mod archives;
mod defragmented;
pub mod extents;
mod replaced;
pub mod sqlite;

pub use defragmented::{DefragRow, defragmented};
pub use replaced::explained;
