//! Comparisons on a real kernel.

mod images;
mod real;
mod require;
