//! Databases of SQLite.
//!
//! ```text
//! header      the first 100 bytes                          header.rs
//! survey      how large, fragmented and sound it is        survey.rs
//! connection  opened, so that nothing of it changes        connection.rs
//! compare     whether two hold the same                    compare.rs
//! rewrite     vacuumed, compared, put in place             rewrite.rs
//! row         what is told of it                           row.rs
//! workshop    the private directory of a rewrite           workshop.rs
//! ```

mod compare;
mod connection;
mod header;
mod rewrite;
mod row;
mod survey;
mod workshop;

pub use rewrite::{Settings, rewrite};
pub use row::Row;
pub use survey::{Integrity, Survey};
