//! What every byte of an image means, as text.

mod json;
mod lines;

pub use json::dump_json;
pub use lines::dump_lines;
