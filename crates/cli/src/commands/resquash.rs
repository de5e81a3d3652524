//! `coldpress resquash`.

mod rules;
mod write;

use std::env;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use coldpress_build::{Identity, Input, Tool};
use coldpress_host::{Janitor, Scratch};
use coldpress_image::{Image, ReadAt as _};
use serde::Serialize;

use super::{diff, identify};
use crate::args::{ImageOffset, PlaceArgs, ResquashArgs, RulesName};
use crate::exit::Exit;
use crate::text::{escaped, fields, quoted};
use crate::ui::Ui;
use crate::{image_file, peer, remake};

/// What the verb found, for `--json`.
#[derive(Debug, Serialize)]
struct Report {
    image: String,
    verdict: Verdict,
    /// What made the image again; `null` if nothing did.
    made_by: Option<String>,
    /// How it did, in words that may be typed.
    command: Option<String>,
    /// Why the bytes differ, the rules are broken, or nothing can be told.
    reasons: Vec<String>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Same,
    Different,
    /// A rule that needs no second image is broken.
    Refused,
    Unknown,
}

pub(super) fn run(args: &ResquashArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let opened = image_file::open_alone(&args.image, &args.place)?;
    let file_bytes = opened.bytes.size_bytes();
    let job = Job {
        image: &opened.image,
        path: &args.image,
        place: PlaceArgs {
            offset: args.place.offset.map(|_| ImageOffset::Bytes(opened.start)),
        },
        start: opened.start,
        file_bytes: file_bytes.with_context(|| format!("cannot read {}", quoted(&args.image)))?,
        ui,
    };
    let _hold = ui.interrupt.hold();
    let (verdict, made_by, command, reasons) = match args.rules {
        Some(RulesName::SnapStore) => job.by_rules_of_the_snap_store()?,
        None => job.as_it_was_made()?,
    };
    let report = Report {
        image: args.image.display().to_string(),
        verdict,
        made_by,
        command,
        reasons,
    };
    if args.json {
        ui.json(&report)?;
    } else {
        let mut out = ui.out();
        out.write_all(text(&report).as_bytes())?;
        out.flush()?;
    }
    Ok(Exit::wrong_if(verdict != Verdict::Same))
}

/// A verdict, what made the image again, its command line, and reasons.
type Found = (Verdict, Option<String>, Option<String>, Vec<String>);

struct Job<'a> {
    image: &'a Image,
    path: &'a Path,
    /// Where the image lies in its file, as it was asked for but found.
    place: PlaceArgs,
    /// Byte of the file at which it begins.
    start: u64,
    /// From there to the end of what is the image's own.
    file_bytes: u64,
    ui: &'a Ui,
}

impl Job<'_> {
    fn by_rules_of_the_snap_store(&self) -> anyhow::Result<Found> {
        let options = rules::snap_store(self.image);
        let command = Some(format!("mksquashfs DIR IMAGE {}", options.join(" ")));
        let broken = rules::broken_of_the_snap_store(self.image);
        if !broken.is_empty() {
            return Ok((Verdict::Refused, None, command, broken));
        }
        if !peer::is_installed("mksquashfs") {
            return Ok((Verdict::Unknown, None, command, vec![NO_MKSQUASHFS.into()]));
        }
        self.by_mksquashfs(&options, command)
    }

    fn as_it_was_made(&self) -> anyhow::Result<Found> {
        let identity = identify::identity(self.image, self.ui)?;
        let command = remake::command_line(self.image, &identity, self.file_bytes);
        let options = || remake::mksquashfs_options(self.image, &identity.habits, self.file_bytes);
        match identity.tool {
            Tool::Coldpress => self.by_coldpress(&identity, command),
            Tool::MksquashfsOrColdpress => {
                let found = self.by_coldpress(&identity, command.clone())?;
                if found.0 == Verdict::Same || !peer::is_installed("mksquashfs") {
                    return Ok(found);
                }
                self.by_mksquashfs(&options(), command)
            }
            Tool::Mksquashfs if !peer::is_installed("mksquashfs") => {
                Ok((Verdict::Unknown, None, command, vec![NO_MKSQUASHFS.into()]))
            }
            Tool::Mksquashfs if !identity.habits.is_all_root && !is_root() => {
                let reason = "not all files belong to root, so only root can make it again";
                Ok((Verdict::Unknown, None, command, vec![reason.into()]))
            }
            Tool::Mksquashfs => self.by_mksquashfs(&options(), command),
            tool => {
                let reason = match tool {
                    Tool::Unknown => "it is not known which tool made it".to_owned(),
                    tool => format!("it was made by {}, which is not run", tool.name()),
                };
                Ok((Verdict::Unknown, None, command, vec![reason]))
            }
        }
    }

    fn by_coldpress(&self, identity: &Identity, command: Option<String>) -> anyhow::Result<Found> {
        let janitor = Janitor::start()?;
        let scratch = Scratch::create(&env::temp_dir(), &janitor)?;
        let output = scratch.path().join("image");
        let input = Input::Image {
            path: self.path.to_path_buf(),
            offset_bytes: self.start,
            is_copied: false,
        };
        write::again(
            input,
            self.image,
            identity,
            self.file_bytes,
            &output,
            self.ui,
        )?;
        let by = format!("coldpress {}", env!("CARGO_PKG_VERSION"));
        let (verdict, by, command, mut reasons) = self.compare(&output, by, command)?;
        if verdict != Verdict::Same {
            reasons.push(PLAN_OR_VERSION.to_owned());
        }
        Ok((verdict, by, command, reasons))
    }

    fn by_mksquashfs(&self, options: &[String], command: Option<String>) -> anyhow::Result<Found> {
        let janitor = Janitor::start()?;
        let scratch = Scratch::create(&env::temp_dir(), &janitor)?;
        let directory = scratch.path().join("root");
        let output = scratch.path().join("image");
        let lost = write::extracted(self.image, &directory, self.ui)?;
        write::by_mksquashfs(&directory, &output, options, self.ui)?;
        let by = peer::version("mksquashfs", self.ui)?;
        let (verdict, by, command, mut reasons) = self.compare(&output, by, command)?;
        if verdict != Verdict::Same {
            reasons.extend(lost);
        }
        Ok((verdict, by, command, reasons))
    }

    fn compare(
        &self,
        output: &Path,
        made_by: String,
        command: Option<String>,
    ) -> anyhow::Result<Found> {
        let (verdict, reasons) = match diff::explain((self.path, self.place), output, self.ui)? {
            None => (Verdict::Same, Vec::new()),
            Some(reasons) => (Verdict::Different, reasons),
        };
        Ok((verdict, Some(made_by), command, reasons))
    }
}

const NO_MKSQUASHFS: &str =
    "mksquashfs made such images, and there is none in PATH to make it again";

const PLAN_OR_VERSION: &str =
    "it may be built with a plan, which is not in images, or by another version";

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn text(report: &Report) -> String {
    let verdict = match report.verdict {
        Verdict::Same => "the same bytes when made again",
        Verdict::Different => "other bytes when made again",
        Verdict::Refused => "refused: it breaks the rules",
        Verdict::Unknown => "cannot be told",
    };
    let mut rows = vec![
        ("image", escaped(report.image.as_bytes())),
        ("verdict", verdict.to_owned()),
    ];
    rows.extend(report.made_by.iter().map(|by| ("made by", by.clone())));
    rows.extend(report.command.iter().map(|line| ("command", line.clone())));
    let reasons = report.reasons.iter();
    rows.extend(reasons.map(|reason| ("because", reason.clone())));
    fields(&rows)
}
