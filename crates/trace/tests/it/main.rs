//! Traces and profiles as a whole: the documented files, random ones, hostile text.

mod document;
mod import;
mod profile;
mod random;
