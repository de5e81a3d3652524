//! What ends a mount, beside `fusermount3 -u`.

use std::process;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use coldpress_fuse::Activity;
use coldpress_host::FuseConnection;
use coldpress_session::exit::INTERRUPTED;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Takes the mount out of sight at a signal; programs that use it may go on. A second signal ends
/// it for them, too.
///
/// # Errors
///
/// If signals or threads cannot be had.
pub(super) fn on_signals(connection: &Arc<FuseConnection>) -> anyhow::Result<()> {
    let mut signals =
        Signals::new([SIGHUP, SIGINT, SIGTERM]).context("cannot install a signal handler")?;
    let connection = Arc::clone(connection);
    spawn("signals", move || {
        let mut came = signals.forever();
        if came.next().is_some() && connection.detach().is_ok() {
            came.next();
        }
        // With this process the connection ends, whoever uses it.
        process::exit(INTERRUPTED.into());
    })
}

/// Unmounts when no request came for so long and nobody uses it.
///
/// # Errors
///
/// If there is no thread to be had.
pub(super) fn when_idle(
    connection: &Arc<FuseConnection>,
    activity: Arc<Activity>,
    limit: Duration,
) -> anyhow::Result<()> {
    let connection = Arc::clone(connection);
    spawn("idle", move || {
        loop {
            let left = limit.saturating_sub(activity.idle());
            if !left.is_zero() {
                thread::sleep(left);
            } else if connection.unmount_unused().unwrap_or(true) {
                return;
            } else {
                thread::sleep(limit);
            }
        }
    })
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> anyhow::Result<()> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.context("cannot start a thread")?;
    Ok(())
}
