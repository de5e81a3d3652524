//! Snaps: what `meta/snap.yaml` says, and how snapd starts an app.
//!
//! A snap is a SquashFS image with the file [`PATH`] in it. [`Metadata::parse`] reads that file, as
//! far as it concerns the image: name, type and apps. [`Metadata::start`] gives the command line
//! and the environment in which snapd's `snap-exec` starts an app.
//!
//! Source: snapd (bee548f, 2026-08), `snap/info_snap_yaml.go`, `snap/snapenv`,
//! `cmd/snapctl/tool/snap-exec`.
//!
//! This crate reads no file and starts nothing. The bytes are hostile: they have a limit, aliases
//! are refused, and an error names its line.

mod error;
mod metadata;
mod start;
mod yaml;

pub use error::Error;
pub use metadata::{App, Kind, METADATA_MAX_BYTES, Metadata, PATH};
pub use start::Surroundings;

/// `snap pack` fills up smaller snaps, so that kernels do not look for partitions behind their end.
pub const SNAP_MIN_BYTES: u64 = 16 << 10;
