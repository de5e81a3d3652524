//! What coldpress can do: one folder for each verb, with its command line and what it does.
//!
//! ```text
//! verbs/VERB/args.rs    its command line: flags and help
//! verbs/VERB/mod.rs     settings in, data on standard output, an exit status back
//! ```
//!
//! Flags of several verbs are in [`crate::flags`]. Parsing opens nothing and knows no machine.

mod bench;
mod build;
#[cfg(feature = "http")]
mod cache;
mod calibrate;
mod called;
mod cat;
mod change_store;
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
mod hooks;
mod identify;
mod info;
mod inspect;
mod jar;
mod ls;
mod mksquashfs;
mod mount;
mod operation;
mod pace;
mod pick;
mod plan;
mod predict;
mod prefetch;
mod press;
mod profile;
mod push;
#[cfg(feature = "http")]
mod pyxis_importer;
mod readahead;
mod record;
mod renamed;
mod report;
mod resquash;
mod retrofit;
mod run;
mod sqlite;
mod squashfuse;
mod stat;
mod tar;
mod timings;
mod trace_file;
mod tree;
mod tune;
mod unsquashfs;
mod variants;
mod verity;

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use coldpress_dialects::Tool;
use coldpress_dialects::squashfuse::Program;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;

pub(crate) use called::{called_as_tool, main_of_tool};
pub(crate) use squashfuse::{called as called_as_squashfuse, main as main_of_squashfuse};
pub(crate) use trace_file::traced;

use bench::args::BenchArgs;
use build::args::BuildArgs;
#[cfg(feature = "http")]
use cache::args::CacheArgs;
use calibrate::args::CalibrateArgs;
use cat::args::CatArgs;
use change_store::with_change;
use check::args::CheckArgs;
use defrag::args::DefragArgs;
use diff::args::DiffArgs;
use doctor::args::DoctorArgs;
use dump::args::DumpArgs;
use explain::args::ExplainArgs;
use extents::args::ExtentsArgs;
use extract::args::ExtractArgs;
use find::args::FindArgs;
use generate::args::CompletionsArgs;
use generate::args::ManArgs;
use history::args::HistoryArgs;
use hooks::args::HooksArgs;
use identify::args::IdentifyArgs;
use info::args::InfoArgs;
use inspect::args::InspectArgs;
use jar::args::JarArgs;
use ls::args::LsArgs;
use mksquashfs::args::MksquashfsArgs;
use mksquashfs::args::SqfstarArgs;
use mount::args::MountArgs;
use pick::args::PickArgs;
use plan::args::PlanArgs;
use predict::args::PredictArgs;
use prefetch::args::PrefetchArgs;
use press::args::PressArgs;
use profile::args::ProfileArgs;
use push::args::PushArgs;
#[cfg(feature = "http")]
use pyxis_importer::args::PyxisImporterArgs;
use readahead::args::ReadaheadVerbArgs;
use record::args::RecordArgs;
use report::args::ReportArgs;
use resquash::args::ResquashArgs;
use retrofit::args::RetrofitArgs;
use run::args::RunArgs;
use sqlite::args::SqliteArgs;
use squashfuse::args::SquashfuseArgs;
use squashfuse::args::SquashfuseLlArgs;
use stat::args::StatArgs;
use tar::args::ArchiveArgs;
use timings::args::TimingsArgs;
use tree::args::TreeArgs;
use tune::args::TuneArgs;
use unsquashfs::args::SqfscatArgs;
use unsquashfs::args::UnsquashfsArgs;
use variants::args::VariantsArgs;
use verity::args::VerityArgs;

/// Build SquashFS images that start faster, and measure the gain
///
/// coldpress records a real cold start of software in a SquashFS image, orders the image by what
/// the start touched, builds a plain SquashFS 4.0 image, which Linux mounts like any other, and
/// measures the gain.
#[derive(Debug, Parser)]
#[command(
    name = "coldpress",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_help = "`coldpress VERB --help` explains a verb and ends with an example.",
    after_long_help = "\
Data goes to standard output; progress, summaries and warnings go to standard error.

Exit status:
    0  done
    1  done, but something was wrong: `check` found damage, a file could not be restored or stored
    2  could not run: a wrong argument, no such file, not an image
  130  interrupted; nothing unfinished remains

Environment:
  SOURCE_DATE_EPOCH  seconds since 1970: newer file times are lowered to it, and it becomes the
                     modification time of the image
  TMPDIR             where `build` keeps the files of compressed archives until the image is written
  COLDPRESS_HISTORY  the file of the history instead of that in the user's state directory; `off`
                     or empty: no history
  COLDPRESS_CALIBRATION
                     the file of what `calibrate` measured, likewise
  NO_COLOR           if set and not empty: no color on the terminal"
)]
pub(crate) struct Cli {
    /// Print only warnings and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Write the time of each task to FILE, as trace events
    ///
    /// Perfetto (ui.perfetto.dev) and Chrome's `about:tracing` open it. An existing FILE is
    /// replaced only if it holds timings.
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) timings: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Press(Box<PressArgs>),
    Retrofit(Box<RetrofitArgs>),
    Tune(Box<TuneArgs>),
    Record(Box<RecordArgs>),
    Explain(Box<ExplainArgs>),
    Predict(PredictArgs),
    Build(Box<BuildArgs>),
    Plan(PlanArgs),
    Profile(ProfileArgs),
    Variants(VariantsArgs),
    Pick(PickArgs),
    Extract(Box<ExtractArgs>),
    Tar(ArchiveArgs),
    Ls(LsArgs),
    Tree(TreeArgs),
    Find(Box<FindArgs>),
    Stat(StatArgs),
    Cat(CatArgs),
    Info(InfoArgs),
    Mount(MountArgs),
    Run(RunArgs),
    Prefetch(PrefetchArgs),
    Readahead(ReadaheadVerbArgs),
    Hooks(HooksArgs),
    Check(CheckArgs),
    Verity(VerityArgs),
    Doctor(DoctorArgs),
    Dump(DumpArgs),
    Diff(DiffArgs),
    Identify(IdentifyArgs),
    Inspect(InspectArgs),
    Push(PushArgs),
    #[cfg(feature = "http")]
    Cache(CacheArgs),
    #[cfg(feature = "http")]
    PyxisImporter(PyxisImporterArgs),
    Resquash(ResquashArgs),
    Bench(BenchArgs),
    Calibrate(CalibrateArgs),
    History(HistoryArgs),
    Timings(TimingsArgs),
    Report(ReportArgs),
    Extents(ExtentsArgs),
    Defrag(DefragArgs),
    Sqlite(SqliteArgs),
    Jar(Box<JarArgs>),
    Mksquashfs(MksquashfsArgs),
    Sqfstar(SqfstarArgs),
    Unsquashfs(UnsquashfsArgs),
    Sqfscat(SqfscatArgs),
    Squashfuse(SquashfuseArgs),
    #[command(name = "squashfuse_ll", hide = true)]
    SquashfuseLl(SquashfuseLlArgs),
    Man(ManArgs),
    Completions(CompletionsArgs),
}

impl Cli {
    /// Reads the command line of this process, and what is to be said of it: notes on old names.
    /// Ends the process if it cannot be read.
    pub(crate) fn read() -> (Self, Vec<String>) {
        let mut words: Vec<OsString> = env::args_os().collect();
        called::name_verb(&mut words);
        let matches = Self::command().get_matches_from(&words);
        let cli = Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        (cli, renamed::notes(&renamed::verb_of(&matches), &words))
    }
}

/// Does what the command line asks for.
///
/// # Errors
///
/// If it could not be done; what was done in part ends with [`Exit::Partial`] instead.
pub(crate) fn run(verb: &Verb, ui: &Ui) -> anyhow::Result<Exit> {
    match operation::of(verb) {
        Some(operation) => with_change(operation, ui, || act(verb, ui)),
        None => act(verb, ui),
    }
}

fn act(verb: &Verb, ui: &Ui) -> anyhow::Result<Exit> {
    match verb {
        Verb::Press(args) => press::run(args, ui),
        Verb::Retrofit(args) => retrofit::run(args, ui),
        Verb::Tune(args) => tune::run(args, ui),
        Verb::Record(args) => record::run(args, ui),
        Verb::Explain(args) => explain::run(args, ui),
        Verb::Predict(args) => predict::run(args, ui),
        Verb::Build(args) => build::run(args, ui),
        Verb::Plan(args) => plan::run(args, ui),
        Verb::Profile(args) => profile::run(args, ui),
        Verb::Variants(args) => variants::run(args, ui),
        Verb::Pick(args) => pick::run(args, ui),
        Verb::Extract(args) => extract::run(args, ui),
        Verb::Tar(args) => tar::run(args, ui),
        Verb::Ls(args) => ls::run(args, ui),
        Verb::Tree(args) => tree::run(args, ui),
        Verb::Find(args) => find::run(args, ui),
        Verb::Stat(args) => stat::run(args, ui),
        Verb::Cat(args) => cat::run(args, ui),
        Verb::Info(args) => info::run(args, ui),
        Verb::Mount(args) => mount::run(args, ui),
        Verb::Run(args) => run::run(args, ui),
        Verb::Prefetch(args) => prefetch::run(args, ui),
        Verb::Readahead(args) => readahead::run(args, ui),
        Verb::Check(args) => check::run(args, ui),
        Verb::Verity(args) => verity::run(args, ui),
        Verb::Doctor(args) => doctor::run(args, ui),
        Verb::Dump(args) => dump::run(args, ui),
        Verb::Diff(args) => diff::run(args, ui),
        Verb::Hooks(args) => hooks::run(args, ui),
        Verb::Identify(args) => identify::run(args, ui),
        #[cfg(feature = "http")]
        Verb::Cache(args) => cache::run(args, ui),
        #[cfg(feature = "http")]
        Verb::PyxisImporter(args) => pyxis_importer::run(args, ui),
        Verb::Inspect(args) => inspect::run(args, ui),
        Verb::Push(args) => push::run(args, ui),
        Verb::Resquash(args) => resquash::run(args, ui),
        Verb::Bench(args) => bench::run(args, ui),
        Verb::Calibrate(args) => calibrate::run(args, ui),
        Verb::History(args) => history::run(args, ui),
        Verb::Timings(args) => timings::run(args, ui),
        Verb::Report(args) => report::run(args, ui),
        Verb::Extents(args) => extents::run(args, ui),
        Verb::Defrag(args) => defrag::run(args, ui),
        Verb::Sqlite(args) => sqlite::run(args, ui),
        Verb::Jar(args) => jar::run(args, ui),
        Verb::Mksquashfs(args) => called::verb_of_tool(Tool::Mksquashfs, &args.words, ui),
        Verb::Sqfstar(args) => called::verb_of_tool(Tool::Sqfstar, &args.words, ui),
        Verb::Unsquashfs(args) => called::verb_of_tool(Tool::Unsquashfs, &args.words, ui),
        Verb::Sqfscat(args) => called::verb_of_tool(Tool::Sqfscat, &args.words, ui),
        Verb::Squashfuse(args) => squashfuse::verb(Program::Squashfuse, &args.words, ui),
        Verb::SquashfuseLl(args) => squashfuse::verb(Program::SquashfuseLl, &args.words, ui),
        Verb::Man(args) => generate::man(args, ui),
        Verb::Completions(args) => generate::completions(args, ui),
    }
}

#[cfg(test)]
mod tests;
