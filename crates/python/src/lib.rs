//! The native part of the Python package `coldpress`: images, read with all processors.
//!
//! ```text
//! image      an open image: lookups, listings, reads          image.rs
//! opening    a path, URL, bytes or file object as a source    opening.rs, file_object.rs
//! requests   many ranges at once                              requests.rs
//! walk       every path, in batches                           walk.rs
//! entry      what a path names                                entry.rs
//! errors     as exceptions of `coldpress.errors`              errors.rs
//! ```
//!
//! `python/coldpress/` has the classes that users see, their documentation and their types. The
//! interpreter lock is released while an image is read. Between the jobs of a long call, signals
//! are looked at, so Ctrl-C ends it.

mod entry;
mod errors;
mod file_object;
mod image;
mod opening;
mod requests;
mod walk;

use pyo3::prelude::*;

/// The module `coldpress._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<entry::Entry>()?;
    module.add_class::<image::NativeImage>()?;
    module.add_class::<walk::Walk>()
}
