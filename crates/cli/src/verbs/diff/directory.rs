//! An image beside a directory.

use std::collections::BTreeMap;

use coldpress_describe::difference::DifferenceLine;
use coldpress_host::threads;
use coldpress_image::Side;
use coldpress_report::text::{escaped, iso_utc};
use coldpress_session::ui::Ui;
use coldpress_writer::{Difference, Input, Progress, SourceOptions, What, verify};

use super::{KEPT_MAX, Report};
use crate::flags::place::PlaceArgs;
use crate::image_file::open_image_at;
use crate::verbs::diff::args::DiffArgs;

/// Compares the image with the directory; `is_swapped` if the directory comes first.
pub(super) fn compare(
    args: &DiffArgs,
    is_swapped: bool,
    report: &mut Report,
    ui: &Ui,
) -> anyhow::Result<()> {
    let (image, offset, directory) = if is_swapped {
        (&args.second, args.second_offset, &args.first)
    } else {
        (&args.first, args.offset, &args.second)
    };
    let image = open_image_at(image, &PlaceArgs { offset })?;
    let options = SourceOptions {
        threads: threads(None),
        xattrs: !args.no_xattrs && !args.content_only,
        ..SourceOptions::default()
    };
    let inputs = [Input::Directory(directory.clone())];
    let step = ui.step("scanning", 0);
    let source = coldpress_writer::gather(&inputs, &options, &mut |_| ui.interrupt.poll())?;
    step.finish("");
    for warning in &source.warnings {
        if warning.is_note() {
            ui.note(&warning.to_string());
        } else {
            ui.warn(&warning.to_string());
        }
    }
    let mut step = ui.step("comparing", source.content_bytes());
    let found = verify(
        &image,
        &source,
        &BTreeMap::new(),
        &mut |progress: Progress| {
            step.set_total(progress.total_bytes);
            step.set(progress.done_bytes);
            ui.interrupt.poll()
        },
    )?;
    step.finish("");
    let found: Vec<Difference> = found
        .into_iter()
        .filter(|difference| is_asked(args, &difference.what))
        .collect();
    report.tree_differences = found.len() as u64;
    let kept_max = if args.all { usize::MAX } else { KEPT_MAX };
    let rows = found.iter().take(kept_max);
    report.tree = rows.map(|difference| row(difference, is_swapped)).collect();
    Ok(())
}

/// Whether the command line leaves this in.
fn is_asked(args: &DiffArgs, what: &What) -> bool {
    let is_left_out = match what {
        What::Metadata { field, .. } => match *field {
            "mode" => args.no_modes || args.content_only,
            "owner" | "group" => args.no_owners || args.content_only,
            "modification time" => args.no_times || args.content_only,
            _ => false,
        },
        What::Xattrs => args.no_xattrs || args.content_only,
        What::HardLink => args.no_links || args.content_only,
        What::Content { .. } => args.no_content,
        _ => false,
    };
    !is_left_out
}

fn row(difference: &Difference, is_swapped: bool) -> DifferenceLine {
    let name = escaped(&difference.path);
    let side = |is_image: bool| {
        if is_image == is_swapped {
            Side::Right
        } else {
            Side::Left
        }
    };
    match &difference.what {
        What::Missing => DifferenceLine::only_in(name, side(false)),
        What::Unexpected => DifferenceLine::only_in(name, side(true)),
        What::Type => DifferenceLine::bare(name, "other type or device number"),
        What::Metadata {
            field,
            expected,
            found,
        } => {
            let (first, second) = if is_swapped {
                (*expected, *found)
            } else {
                (*found, *expected)
            };
            number(name, field, first, second)
        }
        What::Target => DifferenceLine::bare(name, "other target"),
        What::Xattrs => DifferenceLine::bare(name, "other xattrs"),
        What::HardLink => DifferenceLine::bare(name, "linked to other names"),
        What::Content { offset } => {
            DifferenceLine::one(name, "other content in the block at byte", offset)
        }
        _ => DifferenceLine::bare(name, "differs"),
    }
}

fn number(name: String, field: &'static str, first: u64, second: u64) -> DifferenceLine {
    let time = |seconds: u64| iso_utc(u32::try_from(seconds).unwrap_or(u32::MAX));
    match field {
        "mode" => DifferenceLine::both(
            name,
            "mode",
            format!("{first:04o}"),
            format!("{second:04o}"),
        ),
        "modification time" => DifferenceLine::both(name, "modified", time(first), time(second)),
        "size" => DifferenceLine::both(name, "length in bytes", first, second),
        _ => DifferenceLine::both(name, field, first, second),
    }
}
