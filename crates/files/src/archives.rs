//! Archives that a start reads: what it used of them, and the archives in that order.

mod alone;
mod checked;
mod expected;
mod exported;
mod in_source;
mod job;
mod listed;
mod opened;
mod ordered;
mod uses;

pub use checked::{Checked, check_all};
pub use exported::{ListOf, export};
pub use in_source::order_in;
pub use job::Job;
pub use listed::{Row, rows, text};
pub use opened::Opened;
pub use ordered::{Asked, Ordered};
pub use uses::{Uses, log};
