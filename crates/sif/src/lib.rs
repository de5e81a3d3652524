//! SIF, the container files of Apptainer and Singularity: bytes <-> checked values.
//!
//! ```text
//! byte 0      header        launch script, magic, version, architecture, id, times, places   header.rs
//! byte 4096   descriptors   48 of 585 bytes, used or free; each says where an object is      descriptor.rs
//! byte 32176  objects       one after the other, file systems at multiples of 4096           write.rs
//! ```
//!
//! Numbers are little-endian, and no field is aligned. Source: the Go module
//! `github.com/apptainer/sif`, `pkg/sif`, whose `siftool` reads and writes the same.
//!
//! This crate reads no file. A caller reads [`HEADER_BYTES`], then what [`Header::table`] names,
//! and asks [`check`] whether all of it can be true of a file of its size. For writing,
//! [`partition_start`] says where the file system has to begin, and [`head`] makes all that comes
//! before it. [`replace`] puts another file system into a container that is there.

mod architecture;
mod check;
mod descriptor;
mod error;
mod field;
mod header;
mod replace;
mod write;

pub use architecture::Architecture;
pub use check::check;
pub use descriptor::{DESCRIPTOR_BYTES, Descriptor, FileSystem, Kind, Partition, Role};
pub use error::{Error, Rule};
pub use header::{HEADER_BYTES, Header};
pub use replace::{Replacement, replace, signatures, system};
pub use write::{Identity, Object, head, partition_start};
