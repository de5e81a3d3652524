//! Databases of SQLite.
//!
//! ```text
//! header      the first 100 bytes                          header.rs
//! survey      how large, fragmented and sound it is        survey.rs
//! connection  opened, so that nothing of it changes        connection.rs
//! compare     whether two hold the same                    compare.rs
//! ```

mod compare;
mod connection;
mod header;
mod survey;

pub use compare::difference;
pub use connection::{findings, open};
pub use header::is_page_size;
pub use survey::{Beside, Integrity, Survey, beside, integrity};
