//! `coldpress dump`.

pub(crate) mod args;

use std::io::Write as _;
use std::ops::ControlFlow;

use anyhow::anyhow;
use coldpress_describe::{dump_json, dump_lines};
use coldpress_image::{DumpOptions, DumpRange, Error, dump};
use coldpress_report::failure::sentence;
use coldpress_report::text::{image_path, plural, quoted, quoted_bytes};
use coldpress_session::exit::Exit;
use coldpress_session::ui::{Stdout, Ui};

use crate::image_file;
use crate::verbs::dump::args::DumpArgs;

pub(super) fn run(args: &DumpArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let source = image_file::open_bytes(&args.image, &args.place)?;
    let options = DumpOptions {
        areas: args.areas.clone(),
        paths: args.paths.iter().map(|path| image_path(path)).collect(),
    };
    let mut printer = Printer {
        out: ui.out(),
        json: args.json,
        damaged: 0,
        failure: None,
    };
    let dumped = dump(
        Box::new(source),
        &options,
        &mut |range| {
            ui.interrupt.poll()?;
            printer.print(&range)
        },
        &mut || ui.interrupt.poll(),
    );
    let damaged = printer.finish()?;
    let dumped = dumped.map_err(|error| match error {
        Error::NotFound { path } => {
            let text = format!("cannot dump {}", quoted_bytes(&path));
            anyhow!("the image has no such file").context(text)
        }
        Error::Interrupted => error.into(),
        error => image_file::not_opened(&args.image, &args.place, error),
    })?;
    for error in &dumped.lost {
        ui.error(&sentence(&anyhow!("{error}")));
    }
    let is_told = damaged > 0 || !dumped.lost.is_empty();
    if !is_told && dumped.broken_rules > 0 {
        let image = quoted(&args.image);
        ui.error(&format!(
            "no byte of {image} is damaged, but it breaks {} of the format: `coldpress check` \
             shows where",
            plural(dumped.broken_rules, "rule", "rules")
        ));
    }
    Ok(Exit::partial_if(is_told || dumped.broken_rules > 0))
}

/// Prints ranges as they come.
struct Printer {
    out: Stdout,
    json: bool,
    /// Damaged ranges so far.
    damaged: u64,
    failure: Option<anyhow::Error>,
}

impl Printer {
    fn print(&mut self, range: &DumpRange) -> ControlFlow<()> {
        self.damaged += u64::from(range.damage.is_some());
        let printed = if self.json {
            dump_json(&mut self.out, range)
        } else {
            dump_lines(&mut self.out, range)
        };
        match printed {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failure = Some(error.into());
                ControlFlow::Break(())
            }
        }
    }

    /// Returns how many damaged ranges there were.
    fn finish(mut self) -> anyhow::Result<u64> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        self.out.flush()?;
        Ok(self.damaged)
    }
}
