//! What a command runs in: the terminal, signals, the clock, the exit status.
//!
//! It knows nothing of verbs and flags.

pub(crate) mod clock;
pub(crate) mod exit;
pub(crate) mod failure;
pub(crate) mod interrupt;
pub(crate) mod timing;
pub(crate) mod ui;
