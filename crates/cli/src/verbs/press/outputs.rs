//! What a press writes.

use std::path::PathBuf;

use coldpress_writer::Output;

use crate::verbs::press::args::PressArgs;

/// The files to write. They take their places one by one, each when it is whole.
pub(super) struct Outputs {
    pub(super) image: Output,
    pub(super) trace: Option<Output>,
    pub(super) profile: Option<Output>,
    pub(super) plan: Option<Output>,
    pub(super) report: Option<Output>,
    pub(super) samples: Option<Output>,
}

impl Outputs {
    /// # Errors
    ///
    /// If a file cannot be created where it is to be.
    pub(super) fn create(args: &PressArgs) -> Result<Self, coldpress_writer::Error> {
        let optional = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
        Ok(Self {
            image: Output::create(&args.output)?,
            trace: optional(&args.trace_out)?,
            profile: optional(&args.profile_out)?,
            plan: optional(&args.plan_out)?,
            report: optional(&args.report)?,
            samples: optional(&args.samples)?,
        })
    }
}
