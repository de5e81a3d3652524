//! `coldpress plan`: plans and sort files as files.

mod convert;
mod lint;

pub(super) use convert::warn as warn_of_losses;

use std::path::Path;

use coldpress_build::Input;
use coldpress_layout::{Dialect, Tree};

use crate::args::{FormatName, PlanArgs, PlanVerb};
use crate::exit::Exit;
use crate::steps;
use crate::ui::Ui;

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
struct Names {
    inputs: Vec<Input>,
    tree: Tree,
}

impl Names {
    /// Reads a directory or an image, without the contents of files.
    fn read(path: &Path, ui: &Ui) -> anyhow::Result<Self> {
        let (inputs, source) = steps::scan(path, ui)?;
        Ok(Self {
            inputs,
            tree: source.tree,
        })
    }
}
