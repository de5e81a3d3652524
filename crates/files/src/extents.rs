//! How files lie on their disk: extents, holes, and what a recorded start seeks.

mod found;
mod report;
mod start;

pub use found::look as of_paths;
pub use report::Report;
pub use start::look as of_start;
