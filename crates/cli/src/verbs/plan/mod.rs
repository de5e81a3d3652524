//! `coldpress plan`: plans and sort files as files.

pub(crate) mod args;
mod convert;
mod lint;

pub(super) use convert::warn as warn_of_losses;

use std::path::Path;

use coldpress_layout::{Dialect, Tree};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_writer::Input;

use crate::steps;
use crate::verbs::plan::args::{FormatName, PlanArgs, PlanVerb};

pub(super) fn run(args: &PlanArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match &args.verb {
        PlanVerb::Convert(args) => convert::run(args, ui),
        PlanVerb::Lint(args) => lint::run(args, ui),
    }
}

/// The dialect of a sort file; `None` for a plan.
fn dialect(name: FormatName) -> Option<Dialect> {
    match name {
        FormatName::Plan => None,
        FormatName::Mksquashfs => Some(Dialect::Mksquashfs),
        FormatName::Gensquashfs => Some(Dialect::Gensquashfs),
    }
}

/// The names of a directory or an image, and where they come from.
pub(super) struct Names {
    inputs: Vec<Input>,
    pub(super) tree: Tree,
}

impl Names {
    /// Reads a directory or an image, without the contents of files.
    pub(super) fn read(path: &Path, ui: &Ui) -> anyhow::Result<Self> {
        let (inputs, source) = steps::scan(path, ui)?;
        Ok(Self {
            inputs,
            tree: source.tree,
        })
    }
}
