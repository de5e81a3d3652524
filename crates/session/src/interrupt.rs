//! Ctrl-C, SIGTERM and SIGHUP.
//!
//! While nothing needs cleaning up, a signal ends the process at once. Between
//! [`Interrupt::hold`] and the drop of its guard, a signal only sets a flag: long steps poll it
//! and return, destructors remove what was begun, and the process then ends. A second signal
//! changes nothing: an impatient user must not be left with half an image or a stale mount.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::exit::INTERRUPTED;

/// Whether the user wants the process to end.
#[derive(Debug)]
pub struct Interrupt {
    pending: Arc<AtomicBool>,
    immediate: Arc<AtomicBool>,
}

impl Default for Interrupt {
    /// No signal is waited for yet: each ends the process at once.
    fn default() -> Self {
        Self {
            pending: Arc::new(AtomicBool::new(false)),
            immediate: Arc::new(AtomicBool::new(true)),
        }
    }
}

impl Interrupt {
    /// Takes over the three signals for the life of the process. Writing behind the largest file
    /// that the process may have (`ulimit -f`) no longer ends it, but fails as other writes do.
    ///
    /// # Errors
    ///
    /// If the kernel refuses a signal handler.
    pub fn install(&self) -> anyhow::Result<()> {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the flag is set only if the process goes on.
            flag::register_conditional_shutdown(
                signal,
                INTERRUPTED.into(),
                Arc::clone(&self.immediate),
            )
            .and_then(|_| flag::register(signal, Arc::clone(&self.pending)))
            .context("cannot install a signal handler")?;
        }
        // A handler that does nothing, not SIG_IGN: programs that are run would inherit that.
        flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))
            .context("cannot install a signal handler")?;
        Ok(())
    }

    /// From here to the drop of the guard there is something to clean up: steps must poll.
    ///
    /// Guards do not nest: one for each command, taken before the first thing is created and
    /// declared before it, so that it is dropped after it.
    pub fn hold(&self) -> Hold<'_> {
        self.immediate.store(false, Ordering::SeqCst);
        Hold(self)
    }

    /// Whether a signal came while it was held back.
    pub fn is_pending(&self) -> bool {
        self.pending.load(Ordering::SeqCst)
    }

    /// `Break` once a signal came; for progress callbacks.
    pub fn poll(&self) -> ControlFlow<()> {
        if self.is_pending() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Signals only set a flag while this lives.
#[derive(Debug)]
pub struct Hold<'a>(&'a Interrupt);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.immediate.store(true, Ordering::SeqCst);
    }
}
