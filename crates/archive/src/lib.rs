//! Archives that programs read at their start: jars and `omni.ja` (ZIP), asar.
//!
//! A file system places blocks; what lies inside of one file, it cannot move. This crate can: it
//! reads an archive, compares everything that is stated twice, and writes it again with what a
//! start needs in one place.
//!
//! * [`Archive`]: either kind, as its parts and their places.
//! * [`Zip`]: entries with their records and local headers as they are; [`Zip::arrange`] decides
//!   where each goes, [`Zip::write`] writes it.
//! * [`Asar`]: the same for Electron. [`Jimage`]: the modules of a JDK, to read.
//! * [`StartLog`]: what programs say of the entries that they use; [`used`]: what pages tell.
//! * [`Placement`]: what moved where, and what a recorded start would read of the new archive.
//!
//! An archive comes from elsewhere: whatever it holds, the result is a value or a located
//! [`Error`], in memory that is proportional to its directory.
#![forbid(unsafe_code)]

mod archive;
mod asar;
mod bytes;
mod error;
mod field;
mod jimage;
mod placement;
mod start_log;
mod zip;

pub use archive::{Archive, Part};
pub use asar::{Asar, AsarFile};
pub use error::{Corrupt, Error, Refusal, Rule};
pub use jimage::Jimage;
pub use placement::{Piece, Placement, Spread, used};
pub use start_log::{StartLog, jar_log_line};
pub use zip::{
    Arrangement, Content, Entry, Finding, Layout, Settings, Storing, UnknownWord, Verified, Zip,
};
