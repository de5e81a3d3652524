//! What an extraction says at its end.

use std::path::Path;
use std::time::Instant;

use anyhow::anyhow;
use coldpress_image::Extracted;
use coldpress_report::failure::{sentence, without_os_number};
use coldpress_report::text::{escaped, plural};
use coldpress_report::units;
use coldpress_session::ui::Ui;
use serde::Serialize;

/// What was extracted, for `--json`.
#[derive(Debug, Serialize)]
pub(in crate::verbs) struct Report {
    directory: String,
    files: u64,
    directories: u64,
    symlinks: u64,
    devices: u64,
    fifos: u64,
    sockets: u64,
    hard_links: u64,
    bytes: u64,
    /// What could not be restored, as sentences; only the first of very many.
    not_restored: Vec<String>,
    not_restored_count: u64,
    /// What was left out and why, as sentences; only the first of very many.
    left_out: Vec<String>,
    left_out_count: u64,
    time_s: f64,
}

impl Report {
    /// * `directory`: what was extracted into.
    pub(in crate::verbs) fn new(directory: &Path, extracted: Extracted, started: Instant) -> Self {
        let not_restored = extracted.not_restored.iter().map(ToString::to_string);
        let left_out = extracted.left_out.into_iter().map(|error| anyhow!(error));
        Self {
            directory: escaped(directory.as_os_str().as_encoded_bytes()),
            files: extracted.files,
            directories: extracted.directories,
            symlinks: extracted.symlinks,
            devices: extracted.devices,
            fifos: extracted.fifos,
            sockets: extracted.sockets,
            hard_links: extracted.hard_links,
            bytes: extracted.bytes,
            not_restored: not_restored
                .map(|sentence| without_os_number(&sentence))
                .collect(),
            not_restored_count: extracted.not_restored_count,
            left_out: left_out.map(|error| sentence(&error)).collect(),
            left_out_count: extracted.left_out_count,
            time_s: started.elapsed().as_secs_f64(),
        }
    }

    /// Says what could not be restored, and what was left out.
    pub(in crate::verbs) fn tell_errors(&self, ui: &Ui) {
        for sentence in self.not_restored.iter().chain(&self.left_out) {
            ui.error(sentence);
        }
    }

    /// `out: 20,517 files, 4 directories, 911 MiB; 2.51 s; 2 things not restored; 1 path left out`
    pub(in crate::verbs) fn summary_line(&self) -> String {
        let files = plural(self.files, "file", "files");
        let directories = plural(self.directories, "directory", "directories");
        let bytes = units::bytes(self.bytes);
        let seconds = units::seconds(self.time_s);
        let not_restored = match self.not_restored_count {
            0 => String::new(),
            count => format!("; {} not restored", plural(count, "thing", "things")),
        };
        let left_out = match self.left_out_count {
            0 => String::new(),
            count => format!("; {} left out", plural(count, "path", "paths")),
        };
        let directory = &self.directory;
        format!("{directory}: {files}, {directories}, {bytes}; {seconds}{not_restored}{left_out}")
    }
}
