//! Putting what differs of two images beside each other, as `sqfsdiff --extract` does.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Instant;

use anyhow::anyhow;
use coldpress_host::threads;
use coldpress_image::{Contrast, ExtractOptions, Image, Side, TreeDifference};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;

use crate::resolve;
use crate::verbs::extract::report::Report;

/// The paths of each image that are extracted, with all that is below them.
#[derive(Debug, Default)]
pub(super) struct Differing {
    old: Vec<Vec<u8>>,
    new: Vec<Vec<u8>>,
}

impl Differing {
    /// Notes the path of a difference, unless it is one of metadata: the files are the same then,
    /// and a directory would come with all that is in it.
    pub(super) fn note(&mut self, difference: &TreeDifference) {
        let (is_old, is_new) = match &difference.what {
            Contrast::OnlyIn(Side::Left) => (true, false),
            Contrast::OnlyIn(Side::Right) => (false, true),
            Contrast::Type(..)
            | Contrast::Device(..)
            | Contrast::Target(..)
            | Contrast::Length(..)
            | Contrast::Content(_) => (true, true),
            _ => (false, false),
        };
        if is_old {
            self.old.push(difference.path.clone());
        }
        if is_new {
            self.new.push(difference.path.clone());
        }
    }

    /// Extracts into `old` and `new` below a directory, of which only those are made that get
    /// something.
    ///
    /// # Errors
    ///
    /// If something cannot be read or written, or the user interrupts.
    pub(super) fn extract(
        self,
        (left, right): (&Image, &Image),
        directory: &Path,
        ui: &Ui,
    ) -> anyhow::Result<()> {
        let _hold = ui.interrupt.hold();
        for (image, name, paths) in [(left, "old", self.old), (right, "new", self.new)] {
            // No path would mean everything.
            if paths.is_empty() {
                continue;
            }
            let started = Instant::now();
            let options = ExtractOptions {
                paths,
                threads: threads(None),
                memory_bytes: resolve::memory_bytes(None),
                ..ExtractOptions::default()
            };
            let directory = directory.join(name);
            let step = ui.step("extracting", 0);
            let extracted = coldpress_image::extract(image, &directory, &options, &mut |_| {
                ui.interrupt.poll()
            })?;
            step.finish("");
            let report = Report::new(&directory, extracted, started);
            report.tell_errors(ui);
            ui.say(&report.summary_line());
        }
        Ok(())
    }
}

/// Demands that a directory is empty or not there, before images are compared for minutes.
///
/// # Errors
///
/// If it is something else, or cannot be read.
pub(super) fn demand_empty(directory: &Path) -> anyhow::Result<()> {
    let quoted = quoted(directory);
    match fs::read_dir(directory).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let error = anyhow!("{quoted} is not empty");
            Err(hint(error, "name another directory"))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(anyhow!(error).context(format!("cannot extract into {quoted}"))),
    }
}
