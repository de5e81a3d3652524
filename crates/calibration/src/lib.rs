//! What is measured of a machine, and what a prediction makes of it.
//!
//! A measurement needs more than the kernel: sample images to read, this process as their reader
//! where the kernel does not read them, and the figures as text. A prediction takes what was kept,
//! or defaults.

mod archive;
mod content;
mod images;
mod kept;
mod population;
mod start;
mod target;
mod text;
mod user_space;

pub use images::{SampleImage, make};
pub use kept::{MEDIUM, read};
pub use population::Population;
pub use start::{Start, code};
pub use target::Target;
pub use text::text;
pub use user_space::measure;
