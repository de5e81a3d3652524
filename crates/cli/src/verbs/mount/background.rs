//! The mount goes on when the command has come back.
//!
//! A process that has threads cannot be split in two safely, so the command starts itself again,
//! with the same words, and waits until that one has mounted: it then writes a byte to its standard
//! output, which is a pipe. What it has to say before goes to the terminal.

use std::env;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use coldpress_session::exit::{CANNOT_RUN, Exit};
use coldpress_session::page_reader::ITSELF;
use rustix::stdio::{dup2_stderr, dup2_stdout};

/// Set in the environment of the one that stays; no word of the command line, where it would have
/// to be put among those of the user.
const MARK: &str = "_COLDPRESS_MOUNT_IN_BACKGROUND";

/// Whether this process is the one that stays.
pub(super) fn is_here() -> bool {
    env::var_os(MARK).is_some()
}

/// Starts the one that stays, and waits until it has mounted or failed.
///
/// # Errors
///
/// If it cannot be started.
pub(super) fn start() -> anyhow::Result<Exit> {
    let mut staying = Command::new(ITSELF)
        .arg0(env::args_os().next().unwrap_or_else(|| "coldpress".into()))
        .args(env::args_os().skip(1))
        .env(MARK, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the mount in the background")?;
    let mut told = Vec::new();
    if let Some(mut pipe) = staying.stdout.take() {
        // Ends when it has let go of the terminal.
        pipe.read_to_end(&mut told)
            .context("cannot learn whether the mount succeeded")?;
    }
    if !told.is_empty() {
        return Ok(Exit::Done);
    }
    let status = staying.wait().context("cannot wait for the mount")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(Exit::As(code.unwrap_or(CANNOT_RUN)))
}

/// Leaves the session of the terminal: Ctrl-C there is not meant for the mount.
///
/// # Errors
///
/// If the kernel refuses it.
pub(super) fn leave_terminal() -> anyhow::Result<()> {
    rustix::process::setsid().context("cannot leave the terminal")?;
    Ok(())
}

/// Lets the command come back, and lets go of its terminal and working directory.
///
/// # Errors
///
/// If nobody waits any more: the mount is then not wanted.
pub(super) fn tell_that_it_is_mounted() -> anyhow::Result<()> {
    let nowhere = File::options().write(true).open("/dev/null")?;
    env::set_current_dir("/")?;
    dup2_stderr(&nowhere)?;
    let mut out = io::stdout().lock();
    out.write_all(b"1")?;
    out.flush()?;
    dup2_stdout(&nowhere)?;
    Ok(())
}
