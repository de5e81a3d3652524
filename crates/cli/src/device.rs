//! The device that a start is predicted for: `--device TEXT` as a medium and a machine of the cost model.
//!
//! A preset says how a medium is throttled. What it does not say is this machine's: its processors, how fast its kernel
//! decompresses, and, for `host` and `calibrated`, its disk. `coldpress calibrate` measured that, or defaults stand for it.

use coldpress_cost::{Machine, Medium};
use coldpress_host::{Calibration, Device};

use crate::ui::Ui;

/// What a start is predicted for.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// As it was described.
    pub(crate) name: String,
    /// What holds the image.
    pub(crate) medium: Medium,
    /// What reads it.
    pub(crate) machine: Machine,
    /// Whether the machine's figures were measured here; if not, defaults stand for them.
    pub(crate) is_calibrated: bool,
}

impl Target {
    /// Reads a description: `calibrated`, or what [`Device::parse`] knows; with what the user calibrated. Warns of a
    /// calibration of another machine or kernel, which is passed over.
    ///
    /// # Errors
    ///
    /// If the description is wrong, or `calibrated` is asked for and nothing was measured.
    pub(crate) fn resolve(text: &str, ui: &Ui) -> anyhow::Result<Self> {
        todo!()
    }

    /// The same with a given calibration, or with none: then the figures are defaults, the same everywhere.
    pub(crate) fn of(text: &str, calibration: Option<&Calibration>) -> anyhow::Result<Self> {
        todo!()
    }
}
