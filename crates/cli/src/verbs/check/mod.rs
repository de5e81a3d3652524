//! `coldpress check`.

pub(crate) mod args;
mod target;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use coldpress_describe::opening::why_no_image;
use coldpress_doctor::judged::Judged;
use coldpress_doctor::reader::Reader;
use coldpress_doctor::rules::Verdict;
use coldpress_doctor::targets;
use coldpress_image::{Error, Image, Problem, ReadAt, Severity};
use coldpress_report::text::{escaped_path, plural, quoted};
use coldpress_report::units;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_verity::{Mismatch, RootHash, Tree, workers};
use serde::Serialize;

use crate::image_file;
use crate::steps;
use crate::verbs::check::args::CheckArgs;

/// The result for `--json`.
#[derive(Debug, Serialize)]
struct Report {
    image: String,
    sound: bool,
    errors: u64,
    notices: u64,
    /// Whether the image is that of the root hash, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
    problems: Vec<Row>,
    /// Whether the targets take it, if some were named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<Judged>,
}

/// A problem for `--json`.
#[derive(Debug, Serialize)]
struct Row {
    severity: &'static str,
    /// The path; bytes that are not UTF-8 are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The structure and the image byte at which it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte: Option<u64>,
    /// The line that is printed without `--json`.
    text: String,
}

impl Row {
    fn new(problem: &Problem) -> Self {
        let corrupt = match &problem.error {
            Error::Corrupt(corrupt) => Some(corrupt),
            _ => None,
        };
        let path = problem.path.as_deref();
        Self {
            severity: match problem.severity {
                Severity::Error => "error",
                Severity::Notice => "notice",
            },
            path: path.map(|path| String::from_utf8_lossy(path).into_owned()),
            part: corrupt.map(|corrupt| corrupt.part.to_string()),
            byte: corrupt.map(|corrupt| corrupt.start),
            text: problem.to_string(),
        }
    }

    fn of_mismatch(mismatch: &Mismatch) -> Self {
        Self {
            severity: "error",
            path: None,
            part: Some("hash tree".to_owned()),
            byte: mismatch.image_byte(),
            text: mismatch.to_string(),
        }
    }
}

pub(super) fn run(args: &CheckArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let readers = args.target.iter().map(|target| targets::reader(target));
    let readers: Vec<Reader> = readers.collect::<anyhow::Result<_>>()?;
    let whole = image_file::open_bytes(&args.image, &args.place)?;
    // An appended hash tree is no bytes that nothing refers to.
    let bytes = Tree::cut_off(&whole);
    // Nothing is to be cleaned up, but how it ended is to be kept.
    let _hold = ui.interrupt.hold();
    let verify = |root_hash| verify(args, root_hash, &whole, ui);
    let mismatch = args.roothash.as_deref().map(verify).transpose()?;
    let mismatch = mismatch.flatten();
    let is_wrong = mismatch.is_some();
    let mut judged = Vec::new();
    let (mut problems, size_bytes) = match Image::new_damaged(Box::new(bytes)) {
        Ok((image, errors)) => {
            let problems = problems(&image, errors, ui)?;
            let has_hash_tree = Tree::of_image(&whole).is_ok_and(|tree| tree.is_some());
            let file = (whole.size_bytes()?, has_hash_tree);
            judged = target::judge(args, &readers, &image, file, ui)?;
            (problems, Some(image.superblock().bytes_used))
        }
        // Too damaged to be opened is a finding, too; a file that never was an image is not.
        Err(Error::Corrupt(corrupt)) if why_no_image(&corrupt, args.place.offset).is_none() => {
            (vec![severe(corrupt.into())], None)
        }
        Err(error) => return Err(image_file::not_opened(&args.image, &args.place, error)),
    };
    problems.retain(|problem| problem.severity == Severity::Error || !args.no_notices);
    let errors = problems
        .iter()
        .filter(|problem| problem.severity == Severity::Error);
    let errors = errors.count() as u64 + u64::from(is_wrong);
    let notices = problems.iter().filter(|it| it.severity == Severity::Notice);
    let notices = notices.count() as u64;
    let sound = errors == 0;
    let is_taken = judged.iter().all(|it| it.verdict != Verdict::No);
    if args.json {
        ui.json(&Report {
            image: args.image.display().to_string(),
            sound,
            errors,
            notices,
            verified: args.roothash.is_some().then_some(!is_wrong),
            problems: mismatch
                .iter()
                .map(Row::of_mismatch)
                .chain(problems.iter().map(Row::new))
                .collect(),
            targets: judged,
        })?;
    } else {
        let mut out = ui.out();
        if let Some(mismatch) = &mismatch {
            writeln!(out, "{mismatch}")?;
        }
        for problem in &problems {
            writeln!(out, "{problem}")?;
        }
        for judged in &judged {
            out.write_all(judged.table().as_bytes())?;
        }
        out.flush()?;
    }
    let seconds = units::seconds(started.elapsed().as_secs_f64());
    let checked = size_bytes.map_or_else(String::new, |size_bytes| {
        format!("; {} in {seconds}", units::bytes(size_bytes))
    });
    let verified = if args.roothash.is_some() && !is_wrong {
        "; as the root hash says"
    } else {
        ""
    };
    ui.say(&format!(
        "{}: {}{checked}{verified}",
        escaped_path(&args.image),
        counted(errors, notices)
    ));
    Ok(Exit::partial_if(!sound || !is_taken))
}

fn counted(errors: u64, notices: u64) -> String {
    let errors = if errors == 0 {
        "sound".to_owned()
    } else {
        plural(errors, "error", "errors")
    };
    let notices = (notices > 0).then(|| format!("; {}", plural(notices, "notice", "notices")));
    errors + &notices.unwrap_or_default()
}

/// Compares an image with its hash tree; returns the first block that is wrong.
///
/// * `whole`: the image, with the tree if that was appended.
fn verify(
    args: &CheckArgs,
    root_hash: &OsStr,
    whole: &Arc<dyn ReadAt>,
    ui: &Ui,
) -> anyhow::Result<Option<Mismatch>> {
    let root_hash = RootHash::digits_or_file(root_hash)?;
    let (tree, hashes) = Tree::find(&args.image, whole, args.hash_tree.as_deref())?;
    let found = steps::hashing("verifying", ui, |advance| {
        tree.verify(whole, &hashes, &root_hash, &workers(), advance)
    });
    found.with_context(|| format!("cannot verify {}", quoted(&args.image)))
}

/// What kept the image from being opened whole, and what is wrong with the rest.
fn problems(image: &Image, errors: Vec<Error>, ui: &Ui) -> anyhow::Result<Vec<Problem>> {
    let step = ui
        .step("checking", image.superblock().bytes_used)
        .about("every structure and block");
    let found = coldpress_image::check(image, &mut |done_bytes| {
        step.set(done_bytes);
        ui.interrupt.poll()
    })?;
    step.finish("");
    let mut problems: Vec<Problem> = errors.into_iter().map(severe).collect();
    problems.extend(found);
    // A damaged block keeps the image from being opened whole, and is found again.
    let mut seen = HashSet::new();
    problems.retain(|problem| seen.insert(problem.to_string()));
    Ok(problems)
}

fn severe(error: Error) -> Problem {
    Problem {
        severity: Severity::Error,
        path: None,
        error,
    }
}
