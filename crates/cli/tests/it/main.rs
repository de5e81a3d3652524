//! The `coldpress` binary as users meet it, its images as other programs meet them, and the
//! documents of the project.

mod architecture;
mod archive;
mod bench_build;
mod bench_launch;
mod boot;
mod compare;
mod determinism;
mod diff;
mod docs;
mod doctor;
mod dump;
mod errors;
mod extract;
mod fuse;
mod help;
mod history;
mod hostile;
mod identify;
mod interop;
mod interrupt;
mod limits;
mod look;
mod mksquashfs;
mod mount;
mod offset;
mod plan;
mod press;
mod pseudo;
mod rebuild;
mod record;
mod record_fuse;
mod recorders;
mod report;
mod run;
mod select;
mod skip;
mod tar;
mod timings;
mod unsquashfs;
#[cfg(feature = "http")]
mod url;
mod verbs;
