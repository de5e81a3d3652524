//! `coldpress diff`.

pub(crate) mod args;
mod delta;
mod directory;
mod extract;

use std::io::Write as _;
use std::path::Path;

use anyhow::{anyhow, bail};
use coldpress_describe::difference::{self, DifferenceLine};
use coldpress_image::{Comparison, DiffError, DiffOptions, Image, diff, first_difference};
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped, plural, quoted};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use serde::Serialize;

use crate::flags::place::PlaceArgs;
use crate::image_file;
use crate::verbs::diff::args::DiffArgs;

use extract::Differing;

/// Differences of the trees that are kept unless all are asked for.
const KEPT_MAX: usize = 100;

/// Everything that differs.
#[derive(Debug, Default, Serialize)]
struct Report {
    first: String,
    second: String,
    same: bool,
    /// The first byte that differs; `null` if none does, or not two images were compared.
    first_different_byte: Option<u64>,
    /// Differences of the trees, which may be more than are listed.
    tree_differences: u64,
    tree: Vec<DifferenceLine>,
    superblock: Vec<DifferenceLine>,
    layout: Vec<String>,
}

pub(super) fn run(args: &DiffArgs, ui: &Ui) -> anyhow::Result<Exit> {
    if !args.delta.is_empty() {
        return delta::run(args, ui);
    }
    let mut report = Report {
        first: args.first.display().to_string(),
        second: args.second.display().to_string(),
        ..Report::default()
    };
    match (args.first.is_dir(), args.second.is_dir()) {
        (true, true) => {
            let error = anyhow!("both are directories, but one of them must be an image");
            return Err(hint(error, "`diff -r` compares directories"));
        }
        (false, false) => compare_images(args, &mut report, ui)?,
        (is_swapped, _) => {
            demand_no_flags_of_images(args, is_swapped)?;
            directory::compare(args, is_swapped, &mut report, ui)?;
        }
    }
    report.same =
        report.tree_differences == 0 && report.superblock.is_empty() && report.layout.is_empty();
    print(args, &report, ui)?;
    ui.say(&verdict(args, &report));
    Ok(Exit::partial_if(!report.same))
}

/// Demands that nothing is asked for that only two images have.
fn demand_no_flags_of_images(args: &DiffArgs, is_swapped: bool) -> anyhow::Result<()> {
    let offset_of_directory = if is_swapped {
        args.offset
    } else {
        args.second_offset
    };
    if args.superblock {
        bail!("a directory has no superblock to compare");
    }
    if offset_of_directory.is_some() {
        bail!("a directory has no offset at which an image begins");
    }
    if args.extract.is_some() {
        let error = anyhow!("`--extract` takes two images, and one of these is a directory");
        return Err(hint(
            error,
            "`coldpress extract` extracts paths of an image",
        ));
    }
    Ok(())
}

/// What makes the second image differ from the first in a few lines; `None` if it is the same
/// bytes.
///
/// * `place`: where the first lies in its file.
///
/// # Errors
///
/// If one of them cannot be read, or the user interrupts.
pub(super) fn explain(
    (first, place): (&Path, PlaceArgs),
    second: &Path,
    ui: &Ui,
) -> anyhow::Result<Option<Vec<String>>> {
    /// Differences of the trees that are named.
    const NAMED_MAX: usize = 10;
    let args = DiffArgs {
        first: first.to_path_buf(),
        second: second.to_path_buf(),
        offset: place.offset,
        ..DiffArgs::default()
    };
    let mut report = Report::default();
    compare_images(&args, &mut report, ui)?;
    if report.first_different_byte.is_none() {
        return Ok(None);
    }
    report.tree.truncate(NAMED_MAX);
    let mut lines: Vec<String> = report.tree.iter().map(ToString::to_string).collect();
    let more = report.tree_differences.saturating_sub(lines.len() as u64);
    if more > 0 {
        lines.push(format!("and {more} more differences of the trees"));
    }
    lines.extend(report.superblock.iter().map(ToString::to_string));
    lines.extend(report.layout);
    Ok(Some(lines))
}

fn compare_images(args: &DiffArgs, report: &mut Report, ui: &Ui) -> anyhow::Result<()> {
    if let Some(directory) = &args.extract {
        extract::demand_empty(directory)?;
    }
    let open = |path, offset| image_file::open_alone(path, &PlaceArgs { offset });
    let left = open(&args.first, args.offset)?.image;
    let right = open(&args.second, args.second_offset)?.image;
    let is_all = !args.tree && !args.content_only;
    if is_all {
        report.superblock = difference::of_superblocks(&left, &right);
    }
    if args.superblock {
        return Ok(());
    }
    // Images of one time and length may be the same bytes, which is soon seen.
    let step = ui.step("comparing bytes", left.superblock().bytes_used);
    report.first_different_byte = first_difference(&left, &right, &mut |done_bytes| {
        step.set(done_bytes);
        ui.interrupt.poll()
    })
    .map_err(|error| failed(args, error))?;
    step.finish("");
    let Some(byte) = report.first_different_byte else {
        return Ok(());
    };
    let mut differing = Differing::default();
    let comparison = compare_trees(args, (&left, &right), report, &mut differing, ui)?;
    if let Some(directory) = &args.extract {
        differing.extract((&left, &right), directory, ui)?;
    }
    if is_all {
        report.layout = difference::of_layouts(&left, &right, &comparison);
        if report.tree_differences == 0 && report.superblock.is_empty() && report.layout.is_empty()
        {
            report.layout.push(difference::unexplained(&left, byte));
        }
    }
    Ok(())
}

fn compare_trees(
    args: &DiffArgs,
    (left, right): (&Image, &Image),
    report: &mut Report,
    differing: &mut Differing,
    ui: &Ui,
) -> anyhow::Result<Comparison> {
    let kept_max = if args.all { usize::MAX } else { KEPT_MAX };
    let step = ui.step("comparing", left.superblock().bytes_used);
    let rows = &mut report.tree;
    let comparison = diff(
        left,
        right,
        &options(args),
        &mut |difference| {
            if args.extract.is_some() {
                differing.note(&difference);
            }
            if rows.len() < kept_max {
                rows.push(DifferenceLine::of_trees(difference));
            }
        },
        &mut |done_bytes| {
            step.set(done_bytes);
            ui.interrupt.poll()
        },
    )
    .map_err(|error| failed(args, error))?;
    step.finish("");
    report.tree_differences = comparison.differences;
    Ok(comparison)
}

fn options(args: &DiffArgs) -> DiffOptions {
    let is_all = !args.content_only;
    DiffOptions {
        content: !args.no_content,
        modes: is_all && !args.no_modes,
        owners: is_all && !args.no_owners,
        times: is_all && !args.no_times,
        xattrs: is_all && !args.no_xattrs,
        links: is_all && !args.no_links,
    }
}

/// Which of the two images could not be read.
fn failed(args: &DiffArgs, error: DiffError) -> anyhow::Error {
    let of = |path: &Path, error: coldpress_image::Error| {
        let error = anyhow!(error).context(format!("cannot compare {}", quoted(path)));
        let name = escaped(path.as_os_str().as_encoded_bytes());
        let check = format!("`coldpress check {name}` lists what is damaged");
        hint(error, check)
    };
    match error {
        DiffError::Left(error) => of(&args.first, error),
        DiffError::Right(error) => of(&args.second, error),
        error => error.into(),
    }
}

fn print(args: &DiffArgs, report: &Report, ui: &Ui) -> anyhow::Result<()> {
    if args.json {
        return ui.json(report);
    }
    let mut out = ui.out();
    let mut groups = [("tree", Vec::new()), ("superblock", Vec::new())];
    groups[0]
        .1
        .extend(report.tree.iter().map(ToString::to_string));
    groups[1]
        .1
        .extend(report.superblock.iter().map(ToString::to_string));
    let more = report
        .tree_differences
        .saturating_sub(report.tree.len() as u64);
    if more > 0 {
        groups[0]
            .1
            .push(format!("and {more} more; --all lists them"));
    }
    let layout = ("layout", report.layout.clone());
    for (title, lines) in groups.into_iter().chain([layout]) {
        if !lines.is_empty() {
            writeln!(out, "{title}")?;
        }
        for line in lines {
            writeln!(out, "  {line}")?;
        }
    }
    out.flush()?;
    Ok(())
}

/// In a sentence, what is the same and why the rest is not.
fn verdict(args: &DiffArgs, report: &Report) -> String {
    let name = |path: &Path| escaped(path.as_os_str().as_encoded_bytes());
    let names = format!("{} and {}", name(&args.first), name(&args.second));
    if report.same {
        return format!("{names}: no difference");
    }
    let mut parts = Vec::new();
    if !args.superblock {
        let count = plural(report.tree_differences, "difference", "differences");
        parts.push(match report.tree_differences {
            0 => "same tree".to_owned(),
            _ => format!("{count} of the trees"),
        });
    }
    if !report.superblock.is_empty() {
        let fields: Vec<&str> = report.superblock.iter().map(|row| &*row.name).collect();
        parts.push(format!("superblocks differ in {}", fields.join(", ")));
    }
    parts.extend(report.layout.iter().cloned());
    format!("{names}: {}", parts.join("; "))
}
