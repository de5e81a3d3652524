//! Whether an image is read at a place, and what to do if not.
//!
//! * [`reader`]: what somebody who reads images can do.
//! * [`kernel`]: the reader that this or another kernel is, by its configuration or by trial.
//! * [`targets`]: the readers that are known by name.
//! * [`rules`]: an image's requirements against a reader.
//! * [`remedy`]: the command that makes an image it reads.
//!
//! This crate prints nothing. It mounts small images of its own if a kernel is to be tried.

pub mod kernel;
pub mod reader;
pub mod remedy;
pub mod rules;
mod snap;
pub mod targets;
mod trial;
