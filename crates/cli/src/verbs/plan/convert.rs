//! `coldpress plan convert`.

use anyhow::anyhow;
use coldpress_dialects::sort_file;
use coldpress_layout::{Loss, Plan, SortFile, Tails};
use coldpress_report::failure::hint;
use coldpress_report::text::{plural, quoted, quoted_bytes};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_writer::Output;

use super::{Names, dialect};
use crate::verbs::plan::args::ConvertArgs;
use crate::{ordering, resolve, steps};

/// How many of many alike things are named.
const NAMED_MAX: usize = 3;

pub(super) fn run(args: &ConvertArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let output = Output::create(&args.output)?;
    let (plan, mut lossy) = read(args, ui)?;
    let mut text = Vec::new();
    match dialect(args.to) {
        None => plan.write(&mut text)?,
        Some(dialect) => {
            let (file, losses) = SortFile::from_plan(&plan, dialect);
            lossy |= !losses.is_empty();
            warn(&losses, ui);
            file.write(&mut text)?;
        }
    }
    steps::write_small(output, &text)?;
    Ok(Exit::partial_if(lossy))
}

/// The input as a plan, and whether something was lost on the way.
fn read(args: &ConvertArgs, ui: &Ui) -> anyhow::Result<(Plan, bool)> {
    let block_size = resolve::block_size(args.block_size)?;
    let Some(dialect) = dialect(args.from) else {
        let plan = steps::read_plan(&args.input)?;
        if let Some(tree) = &args.tree {
            let names = Names::read(tree, ui)?;
            let (_, unmatched) =
                coldpress_layout::order(&names.tree, &plan, block_size, Tails::Small);
            steps::warn_of_unmatched(&unmatched, ui);
        }
        return Ok((plan, false));
    };
    let mut file = ordering::read_sort_file(&args.input, dialect)?;
    let Some(tree) = &args.tree else {
        let input = quoted(&args.input);
        return Err(hint(
            anyhow!("{input} alone does not say which files exist"),
            "name the directory or image that it is for: `--tree rootfs`",
        ));
    };
    let names = Names::read(tree, ui)?;
    sort_file::bring_inside(&mut file, &names.inputs);
    let sources = sort_file::sources(&names.tree, &names.inputs);
    ordering::warn_of_findings(&file.lint(&names.tree, &sources), ui);
    let lossy = ordering::warn_of_flags(&file, ui);
    let tails = resolve::tails(args.tails);
    Ok((file.plan(&names.tree, &sources, block_size, tails), lossy))
}

/// Warns of what a sort file cannot say.
pub(in crate::verbs) fn warn(losses: &[Loss], ui: &Ui) {
    let [mut paths, mut packed, mut places] = [const { Vec::new() }; 3];
    for loss in losses {
        match loss {
            Loss::Path(path) => paths.push(path.as_slice()),
            Loss::BlockEncoding(path) => packed.push(path.as_slice()),
            Loss::Place(path) => places.push(path.as_slice()),
        }
    }
    let kinds = [
        (paths, "no line of a sort file can name"),
        (packed, "a sort file cannot say the packing of"),
        (places, "there are too few priorities for the places of"),
    ];
    for (paths, what) in kinds {
        if paths.is_empty() {
            continue;
        }
        let named: Vec<_> = paths
            .iter()
            .take(NAMED_MAX)
            .map(|path| quoted_bytes(path))
            .collect();
        let files = plural(paths.len() as u64, "file", "files");
        let rest = if paths.len() > NAMED_MAX { ", ..." } else { "" };
        ui.warn(&format!("{what} {files}: {}{rest}", named.join(", ")));
    }
}
