//! What a calibration needs besides the kernel: sample images to read, this process as their reader
//! where the kernel does not read them, and the figures as text.

mod archive;
mod content;
mod images;
mod text;
mod user_space;

pub use images::{SampleImage, make};
pub use text::text;
pub use user_space::measure;
