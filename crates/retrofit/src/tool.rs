//! Programs that make or ask for something on the way.

use std::ffi::OsString;
use std::path::Path;

use coldpress_host::{Command, Error, Outcome, Ready, launch};

/// Runs a program to its end.
///
/// * `timeout_s`: after which it is ended.
/// * `stop`: whether to give up.
pub(crate) fn run(
    args: Vec<OsString>,
    timeout_s: u64,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Outcome, Error> {
    let command = Command {
        args,
        chroot: false,
        environment: Vec::new(),
        working_directory: None,
        timeout_s,
        ready: Ready::Exit,
    };
    launch(&command, Path::new("/"), None, stop)
}
