//! `coldpress profile export`: the files of a profile as a list for another tool.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use coldpress_files::archives::{self, ListOf};
use coldpress_format::BlockSize;
use coldpress_layout::{Dialect, Plan, PlanItem, SortFile, Tree, plan};
use coldpress_report::text::{plural, quoted_bytes};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_trace::export::{self, Format};
use coldpress_trace::{Profile, WorkingSet};
use coldpress_writer::Output;

use crate::resolve;
use crate::steps;
use crate::verbs::plan::warn_of_losses;
use crate::verbs::profile::args::{ListName, ProfileExportArgs};

/// How many of many alike things are named.
const NAMED_MAX: usize = 3;

pub(super) fn run(args: &ProfileExportArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let outputs: Vec<&Path> = args.output.iter().map(PathBuf::as_path).collect();
    let inputs: Vec<PathBuf> = args.source.iter().chain([&args.input]).cloned().collect();
    resolve::check_outputs(&outputs, &inputs)?;
    let output = args.output.as_deref().map(Output::create).transpose()?;
    let profile = steps::read_profile(&args.input)?.at_least(args.share.min_share);
    let mut set = profile.working_set(0.0);
    let scanned = args.source.as_deref().map(|path| steps::scan(path, ui));
    let scanned = scanned.transpose()?.map(|(_, source)| source);
    let tree = scanned.as_ref().map(|source| &source.tree);
    if let Some(tree) = tree {
        keep_files_of(tree, &mut set, ui);
    }
    let mut text = Vec::new();
    let is_lossy = match list_of(args.format) {
        List::Plain(format) => {
            let lost = export::write(&set, format, &mut text)?;
            warn_of_lost(&lost, ui);
            !lost.is_empty()
        }
        List::Entries(list) => {
            let source = scanned
                .as_ref()
                .context("give the tree with the archives as `--source`")?;
            text = archives::export(list, &set, source)?;
            false
        }
        List::Sort(dialect) => {
            let plan = planned(&profile, &set, tree);
            let (file, losses) = SortFile::from_plan(&plan, dialect);
            warn_of_losses(&losses, ui);
            file.write(&mut text)?;
            !losses.is_empty()
        }
    };
    if let Some(output) = output {
        steps::write_small(output, &text)?;
    } else {
        let mut out = ui.out();
        out.write_all(&text)?;
        out.flush()?;
    }
    let files = plural(set.files.len() as u64, "file", "files");
    ui.say(&format!("the data of {files} was touched"));
    Ok(Exit::partial_if(is_lossy))
}

enum List {
    Plain(Format),
    Sort(Dialect),
    Entries(ListOf),
}

fn list_of(name: ListName) -> List {
    match name {
        ListName::Mksquashfs => List::Sort(Dialect::Mksquashfs),
        ListName::Gensquashfs => List::Sort(Dialect::Gensquashfs),
        ListName::List => List::Plain(Format::List),
        ListName::List0 => List::Plain(Format::Nul),
        ListName::Dwarfs => List::Plain(Format::Dwarfs),
        ListName::Nydus => List::Plain(Format::Nydus),
        ListName::Estargz => List::Plain(Format::Estargz),
        ListName::Jarlog => List::Entries(ListOf::Jars),
        ListName::AsarOrdering => List::Entries(ListOf::Asars),
        ListName::JlinkOrder => List::Entries(ListOf::Modules),
    }
}

/// Leaves out what is no regular file of the tree; says how much.
fn keep_files_of(tree: &Tree, set: &mut WorkingSet, ui: &Ui) {
    let before = set.files.len();
    let is_file = |path: &[u8]| {
        tree.find(path)
            .is_some_and(|id| tree.file_size(id).is_some())
    };
    set.files.retain(|file| is_file(&file.path));
    let left = before - set.files.len();
    if left > 0 {
        let files = plural(left as u64, "file", "files");
        ui.say(&format!("left out: {files} that the source does not have"));
    }
}

/// The plan that a sort file is made of.
///
/// Without a tree it is not known which files have blocks: all are given a place of their own, and
/// their tail ends are left to the tool.
fn planned(profile: &Profile, set: &WorkingSet, tree: Option<&Tree>) -> Plan {
    if let Some(tree) = tree {
        return plan(tree, profile, BlockSize::DEFAULT);
    }
    let files = set.files.iter();
    let data = files.map(|file| PlanItem::Fragment(vec![file.path.clone()]));
    Plan {
        data: data.collect(),
        ..Plan::default()
    }
}

fn warn_of_lost(lost: &[&[u8]], ui: &Ui) {
    if lost.is_empty() {
        return;
    }
    let named = lost.iter().take(NAMED_MAX).map(|path| quoted_bytes(path));
    let named: Vec<String> = named.collect();
    let files = plural(lost.len() as u64, "file", "files");
    let rest = if lost.len() > NAMED_MAX { ", ..." } else { "" };
    let named = named.join(", ");
    ui.warn(&format!("the format cannot spell {files}: {named}{rest}"));
}
