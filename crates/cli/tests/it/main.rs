//! The `coldpress` binary as users meet it, its images as other programs meet them, and the
//! documents of the project.

mod architecture;
mod determinism;
mod docs;
mod errors;
mod help;
mod interop;
mod interrupt;
mod run;
mod skip;
mod verbs;
