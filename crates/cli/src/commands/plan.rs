//! `coldpress plan`: plans and sort files as files.

mod convert;
mod lint;

pub(super) use convert::warn as warn_of_losses;

use std::path::{Path, PathBuf};
use std::slice;

use anyhow::Context as _;
use coldpress_build::{Input, SourceOptions};
use coldpress_layout::{Dialect, Tree};

use crate::args::{FormatName, PlanArgs, PlanVerb};
use crate::exit::Exit;
use crate::resolve;
use crate::text::quoted;
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
pub(super) struct Names {
    inputs: Vec<Input>,
    pub(super) tree: Tree,
}

impl Names {
    /// Reads a directory or an image, without the contents of files.
    pub(super) fn read(path: &Path, ui: &Ui) -> anyhow::Result<Self> {
        let path = PathBuf::from(path);
        let read = || format!("cannot read {}", quoted(&path));
        path.metadata().with_context(read)?;
        let inputs = Input::from_paths(slice::from_ref(&path))?;
        let options = SourceOptions {
            xattrs: false,
            threads: resolve::threads(None),
            ..SourceOptions::default()
        };
        let step = ui.step("scanning", 0);
        let poll = &mut |_| ui.interrupt.poll();
        let source = coldpress_build::gather(&inputs, &options, poll).with_context(read)?;
        step.finish("");
        Ok(Self {
            inputs,
            tree: source.tree,
        })
    }
}
