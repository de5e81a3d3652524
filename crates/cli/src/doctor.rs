//! Whether an image is read at a place, and what to do if not.
//!
//! ```text
//! reader    what somebody who reads images can do        reader.rs
//! kernel    the reader that this or another kernel is    kernel.rs, by trial: trial.rs
//! targets   the readers that are known by name           targets.rs
//! rules     an image's demands against a reader          rules.rs, snap.rs
//! remedy    the command that makes an image it reads     remedy.rs
//! ```

pub(crate) mod kernel;
pub(crate) mod reader;
pub(crate) mod remedy;
pub(crate) mod rules;
mod snap;
pub(crate) mod targets;
mod trial;
