//! `coldpress resquash`.

pub(crate) mod args;
pub(super) mod job;
mod write;

use std::io::Write as _;

use coldpress_report::text::{escaped, fields};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use serde::Serialize;

use crate::image_file;
use crate::verbs::resquash::args::{ResquashArgs, RulesName};
use job::{Found, Job, Verdict};

/// What the verb found, for `--json`.
#[derive(Debug, Serialize)]
struct Report {
    image: String,
    #[serde(flatten)]
    found: Found,
}

pub(super) fn run(args: &ResquashArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let opened = image_file::open_alone(&args.image, &args.place)?;
    let job = Job::new(&opened, &args.image, args.place, ui)?;
    let _hold = ui.interrupt.hold();
    let found = match args.rules {
        Some(RulesName::SnapStore) => job.by_rules_of_the_snap_store()?,
        None => job.as_it_was_made()?,
    };
    let report = Report {
        image: args.image.display().to_string(),
        found,
    };
    if args.json {
        ui.json(&report)?;
    } else {
        let mut out = ui.out();
        out.write_all(text(&report).as_bytes())?;
        out.flush()?;
    }
    Ok(Exit::partial_if(report.found.verdict != Verdict::Same))
}

fn text(report: &Report) -> String {
    let verdict = match report.found.verdict {
        Verdict::Same => "the same bytes when made again",
        Verdict::Different => "other bytes when made again",
        Verdict::Refused => "refused: it breaks the rules",
        Verdict::Unknown => "cannot be told",
    };
    let mut rows = vec![
        ("image", escaped(report.image.as_bytes())),
        ("verdict", verdict.to_owned()),
    ];
    rows.extend(
        report
            .found
            .made_by
            .iter()
            .map(|by| ("made by", by.clone())),
    );
    rows.extend(
        report
            .found
            .command
            .iter()
            .map(|line| ("command", line.clone())),
    );
    let reasons = report.found.reasons.iter();
    rows.extend(reasons.map(|reason| ("because", reason.clone())));
    fields(&rows)
}
