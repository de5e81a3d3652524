//! The command line as typed: verbs, flags, help.
//!
//! Parsing opens nothing and knows no machine; [`crate::resolve`] turns flags into settings.
//! A flag that several verbs have is defined once, so it means the same everywhere.

mod archive;
mod bench;
mod bench_build;
mod bench_launch;
mod boot;
mod build;
mod calibrate;
mod compare;
mod defrag;
mod described;
mod diff;
mod doctor;
mod dump;
mod exclude;
mod explain;
mod extents;
mod extract;
mod find;
mod history;
mod identify;
mod image;
mod mount;
mod place;
mod plan;
mod predict;
mod prefetch;
mod press;
mod profile;
mod profile_import;
mod read;
mod reading;
mod record;
mod report;
mod resquash;
mod run;
mod source;
mod sqlite;
mod squashfuse;
mod stat;
mod study;
mod tar;
mod timings;
mod tools;
mod tree;
mod tune;
mod unsquashfs;

pub(crate) use archive::ArchiveArgs;
pub(crate) use bench::{BenchArgs, BenchVerb};
pub(crate) use bench_build::BenchBuildArgs;
pub(crate) use bench_launch::{BenchLaunchArgs, MountName, NamedImage};
pub(crate) use boot::BootArgs;
pub(crate) use build::BuildArgs;
pub(crate) use calibrate::CalibrateArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use defrag::DefragArgs;
pub(crate) use described::DescribedArgs;
pub(crate) use diff::DiffArgs;
pub(crate) use doctor::DoctorArgs;
pub(crate) use dump::DumpArgs;
pub(crate) use exclude::ExcludeArgs;
pub(crate) use explain::{ExplainArgs, Linker, SymbolOrder};
pub(crate) use extents::ExtentsArgs;
pub(crate) use extract::{ChangeArgs, ChoiceArgs, ExtractArgs};
pub(crate) use find::{Amount, FindArgs, ModeTest, TestArgs, TypeLetter};
pub(crate) use history::{
    ExportArgs, ExportFormat, ForgetArgs, HistoryArgs, HistoryVerb, ImportArgs, ShowArgs,
};
pub(crate) use identify::IdentifyArgs;
pub(crate) use image::{
    CompressorName, GroupArgs, GroupName, ImageArgs, PartName, TailsName, TuningArgs,
};
pub(crate) use mount::MountArgs;
pub(crate) use place::PlaceArgs;
pub(crate) use plan::{ConvertArgs, FormatName, LintArgs, PlanArgs, PlanVerb};
pub(crate) use predict::{PredictArgs, ReaderName};
pub(crate) use prefetch::PrefetchArgs;
pub(crate) use press::PressArgs;
pub(crate) use profile::{
    OrderingProfileArgs, ProfileArgs, ProfileCheckArgs, ProfileMergeArgs, ProfilePlanArgs,
    ProfileShowArgs, ProfileVerb, ShareArgs, StalenessArgs,
};
pub(crate) use profile_import::{ListName, ProfileExportArgs, ProfileImportArgs, RecordingName};
pub(crate) use read::{CatArgs, CheckArgs, InfoArgs, LsArgs};
pub(crate) use reading::ReadingArgs;
pub(crate) use record::{CommandArgs, RecordArgs, RecorderArgs, RecorderName};
pub(crate) use report::ReportArgs;
pub(crate) use resquash::{ResquashArgs, RulesName};
pub(crate) use run::{OverlayArg, RunArgs};
pub(crate) use source::{MetadataArgs, OtherFileSystems, SourceArgs, Syntax};
pub(crate) use sqlite::SqliteArgs;
pub(crate) use squashfuse::{SquashfuseArgs, SquashfuseLlArgs};
pub(crate) use stat::StatArgs;
pub(crate) use study::StudyArgs;
pub(crate) use tar::TarArgs;
pub(crate) use timings::TimingsArgs;
pub(crate) use tools::{MksquashfsArgs, SqfstarArgs};
pub(crate) use tree::TreeArgs;
pub(crate) use tune::TuneArgs;
pub(crate) use unsquashfs::{SqfscatArgs, UnsquashfsArgs};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

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
  130  interrupted; nothing unfinished is left behind

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
    Tune(Box<TuneArgs>),
    Record(Box<RecordArgs>),
    Explain(Box<ExplainArgs>),
    Predict(PredictArgs),
    Build(Box<BuildArgs>),
    Plan(PlanArgs),
    Profile(ProfileArgs),
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
    Check(CheckArgs),
    Doctor(DoctorArgs),
    Dump(DumpArgs),
    Diff(DiffArgs),
    Identify(IdentifyArgs),
    Resquash(ResquashArgs),
    Bench(BenchArgs),
    Calibrate(CalibrateArgs),
    History(HistoryArgs),
    Timings(TimingsArgs),
    Report(ReportArgs),
    Extents(ExtentsArgs),
    Defrag(DefragArgs),
    Sqlite(SqliteArgs),
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

/// Write the manual pages of all verbs into a directory
///
/// One page for coldpress and one for each verb, in section 1: `coldpress.1`,
/// `coldpress-build.1` and so on. The directory is created if it is missing.
#[derive(Debug, Args)]
#[command(
    hide = true,
    after_long_help = "\
Example:
  coldpress man /usr/local/share/man/man1"
)]
pub(crate) struct ManArgs {
    /// The directory for the pages
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

/// Print the completions of a shell
///
/// Prints a script for the shell to read when it starts.
#[derive(Debug, Args)]
#[command(
    hide = true,
    after_long_help = "\
Example:
  coldpress completions bash > /etc/bash_completion.d/coldpress"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    #[test]
    fn the_command_line_has_no_contradictions() {
        Cli::command().debug_assert();
    }
}
