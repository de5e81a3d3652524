//! Comparisons on a real kernel, and reports in a real browser.

mod browser;
mod images;
mod real;
mod report;
mod require;
