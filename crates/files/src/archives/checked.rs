//! Whether an archive is whole, and what readers could stumble over.

use std::path::PathBuf;

use coldpress_archive::{Archive, Error, Verified};
use coldpress_report::text::{escaped_path, plural};
use coldpress_report::units::count;
use coldpress_session::ui::Ui;
use serde::Serialize;

use super::Opened;

/// What was found, for `--json` too.
#[derive(Debug, Serialize)]
pub struct Checked {
    /// With escapes.
    file: String,
    entries: usize,
    /// Entries whose content was read and compared with its CRC.
    verified: usize,
    /// What is wrong.
    errors: Vec<String>,
    /// What is not wrong, but read differently by different readers.
    notes: Vec<String>,
}

/// Reads every content of an archive.
fn check(opened: &Opened, ui: &Ui) -> anyhow::Result<Checked> {
    let mut checked = Checked {
        file: escaped_path(&opened.path),
        entries: opened.archive.parts().len(),
        verified: 0,
        errors: Vec::new(),
        notes: Vec::new(),
    };
    let Archive::Zip(zip) = &opened.archive else {
        return Ok(checked);
    };
    let step = ui.step("checking", zip.size_bytes);
    for entry in zip.by_place() {
        if ui.interrupt.poll().is_break() {
            return Err(opened.failed("check", Error::Interrupted));
        }
        match entry.content(&opened.file).read(&mut |_| Ok(())) {
            Ok(Verified::Whole) => checked.verified += 1,
            Ok(Verified::Unknown) => {}
            Err(Error::Corrupt(error)) => checked.errors.push(error.to_string()),
            Err(error) => return Err(opened.failed("check", error)),
        }
        step.set(entry.range.end);
    }
    step.finish("");
    let findings = zip
        .findings(&opened.file)
        .map_err(|error| opened.failed("check", error))?;
    checked.notes = findings.iter().map(ToString::to_string).collect();
    Ok(checked)
}

/// Checks several archives; says whether anything is wrong with any.
///
/// # Errors
///
/// If the only one cannot be read, or the user interrupts.
pub fn check_all(paths: &[PathBuf], ui: &Ui) -> anyhow::Result<(Vec<Checked>, bool)> {
    let mut is_wrong = false;
    let mut all = Vec::new();
    for path in paths {
        match Opened::read(path).and_then(|opened| check(&opened, ui)) {
            Ok(checked) => {
                is_wrong |= !checked.errors.is_empty();
                all.push(checked);
            }
            Err(error) if ui.interrupt.is_pending() || paths.len() == 1 => return Err(error),
            Err(error) => {
                ui.fail(&error);
                is_wrong = true;
            }
        }
    }
    Ok((all, is_wrong))
}

impl Checked {
    /// `app.jar: 12 of 12 entries verified`, and a line for each finding.
    pub fn text(&self) -> String {
        let entries = plural(self.entries as u64, "entry", "entries");
        let verified = count(self.verified as u64);
        let mut lines = vec![format!("{}: {verified} of {entries} verified\n", self.file)];
        lines.extend(
            self.errors
                .iter()
                .map(|error| format!("  error: {error}\n")),
        );
        lines.extend(self.notes.iter().map(|note| format!("  note: {note}\n")));
        lines.concat()
    }
}
