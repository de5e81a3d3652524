//! Whether an image is read at a place, and what to do if not.
//!
//! * [`reader`]: what somebody who reads images can do.
//! * [`kernel`]: the reader that this or another kernel is, by its configuration or by trial.
//! * [`targets`]: the readers that are known by name.
//! * [`rules`]: an image's requirements against a reader.
//! * [`snap`]: the rules of the snap store, which are also about the files of an image.
//! * `remedy`: the command that makes an image it reads.
//! * [`judged`]: all of that for one image and one reader, as values and as text.
//!
//! This crate prints nothing. It mounts small images of its own if a kernel is to be tried.

mod abilities;
pub mod judged;
pub mod kernel;
pub mod reader;
mod remedy;
pub mod rules;
pub mod snap;
pub mod targets;
mod trial;

pub use abilities::Abilities;
