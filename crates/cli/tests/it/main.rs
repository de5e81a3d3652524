//! The `coldpress` binary as users meet it, its images as other programs meet them, and the
//! documents of the project.

mod architecture;
mod determinism;
mod diff;
mod docs;
mod errors;
mod fuse;
mod help;
mod identify;
mod interop;
mod interrupt;
mod limits;
mod mksquashfs;
mod plan;
mod press;
mod pseudo;
mod rebuild;
mod record;
mod run;
mod select;
mod skip;
mod tar;
mod verbs;
