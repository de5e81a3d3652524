//! One module for each verb: settings in, data on standard output, an exit status back.

mod archive;
mod bench;
mod build;
mod calibrate;
mod cat;
mod check;
mod defrag;
mod diff;
mod doctor;
mod dump;
mod explain;
mod extents;
mod extract;
mod find;
mod generate;
mod history;
mod identify;
mod info;
mod ls;
mod mount;
mod plan;
mod predict;
mod prefetch;
mod press;
mod profile;
mod record;
mod report;
mod resquash;
mod run;
mod sqlite;
mod stat;
mod timings;
mod tree;
mod tune;

use coldpress_dialects::Tool;
use coldpress_dialects::squashfuse::Program;

use crate::args::Verb;
use crate::exit::Exit;
use crate::squashfs_tools;
use crate::squashfuse;
use crate::timing::{Deed, kept};
use crate::ui::Ui;

/// Does what the command line asks for.
///
/// # Errors
///
/// If it could not be done; what was done in part ends with [`Exit::Wrong`] instead.
pub(crate) fn run(verb: &Verb, ui: &Ui) -> anyhow::Result<Exit> {
    match Deed::of(verb) {
        Some(deed) => kept(deed, ui, || act(verb, ui)),
        None => act(verb, ui),
    }
}

fn act(verb: &Verb, ui: &Ui) -> anyhow::Result<Exit> {
    match verb {
        Verb::Press(args) => press::run(args, ui),
        Verb::Tune(args) => tune::run(args, ui),
        Verb::Record(args) => record::run(args, ui),
        Verb::Explain(args) => explain::run(args, ui),
        Verb::Predict(args) => predict::run(args, ui),
        Verb::Build(args) => build::run(args, ui),
        Verb::Plan(args) => plan::run(args, ui),
        Verb::Profile(args) => profile::run(args, ui),
        Verb::Extract(args) => extract::run(args, ui),
        Verb::Tar(args) => archive::run(args, ui),
        Verb::Ls(args) => ls::run(args, ui),
        Verb::Tree(args) => tree::run(args, ui),
        Verb::Find(args) => find::run(args, ui),
        Verb::Stat(args) => stat::run(args, ui),
        Verb::Cat(args) => cat::run(args, ui),
        Verb::Info(args) => info::run(args, ui),
        Verb::Mount(args) => mount::run(args, ui),
        Verb::Run(args) => run::run(args, ui),
        Verb::Prefetch(args) => prefetch::run(args, ui),
        Verb::Check(args) => check::run(args, ui),
        Verb::Doctor(args) => doctor::run(args, ui),
        Verb::Dump(args) => dump::run(args, ui),
        Verb::Diff(args) => diff::run(args, ui),
        Verb::Identify(args) => identify::run(args, ui),
        Verb::Resquash(args) => resquash::run(args, ui),
        Verb::Bench(args) => bench::run(args, ui),
        Verb::Calibrate(args) => calibrate::run(args, ui),
        Verb::History(args) => history::run(args, ui),
        Verb::Timings(args) => timings::run(args, ui),
        Verb::Report(args) => report::run(args, ui),
        Verb::Extents(args) => extents::run(args, ui),
        Verb::Defrag(args) => defrag::run(args, ui),
        Verb::Sqlite(args) => sqlite::run(args, ui),
        Verb::Mksquashfs(args) => squashfs_tools::verb(Tool::Mksquashfs, &args.words, ui),
        Verb::Sqfstar(args) => squashfs_tools::verb(Tool::Sqfstar, &args.words, ui),
        Verb::Unsquashfs(args) => squashfs_tools::verb(Tool::Unsquashfs, &args.words, ui),
        Verb::Sqfscat(args) => squashfs_tools::verb(Tool::Sqfscat, &args.words, ui),
        Verb::Squashfuse(args) => squashfuse::verb(Program::Squashfuse, &args.words, ui),
        Verb::SquashfuseLl(args) => squashfuse::verb(Program::SquashfuseLl, &args.words, ui),
        Verb::Man(args) => generate::man(args, ui),
        Verb::Completions(args) => generate::completions(args, ui),
    }
}
