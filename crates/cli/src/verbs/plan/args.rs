//! `coldpress plan`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use coldpress_report::typed::parse_size_bytes;

use crate::flags::image::TailsName;

/// Convert and check plans and sort files
///
/// A plan is the text file by which `coldpress build --plan` orders an image. mksquashfs and
/// gensquashfs take the order of files from sort files.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_long_help = "\
Example:
  coldpress plan convert rootfs.sort --from mksquashfs --to plan --tree rootfs -o rootfs.plan"
)]
pub(crate) struct PlanArgs {
    #[command(subcommand)]
    pub(crate) verb: PlanVerb,
}

/// What to do with a plan.
#[derive(Debug, Subcommand)]
pub(crate) enum PlanVerb {
    Convert(ConvertArgs),
    Lint(LintArgs),
}

/// Convert a plan or sort file into another
///
/// The plan of a sort file names every file of the tree in the order in which that tool would write
/// it. It includes files that the sort file does not list, because their order follows from the
/// sort file too.
///
/// The sort file of a plan has the files of the plan's data in their order, before all others.
/// Warnings name what a sort file cannot express, and the exit status is then 1.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress plan convert rootfs.plan --from plan --to mksquashfs -o rootfs.sort")]
pub(crate) struct ConvertArgs {
    /// The file to convert
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,

    /// The format of IN: plan, mksquashfs or gensquashfs
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub(crate) from: FormatName,

    /// The format to write: plan, mksquashfs or gensquashfs
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub(crate) to: FormatName,

    /// The directory or image that IN is for
    ///
    /// Needed for sort files. For a plan, warnings name the paths that it does not have.
    #[arg(long, value_name = "TREE")]
    pub(crate) tree: Option<PathBuf>,

    /// The file to write
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,

    /// Bytes of a data block; decides what fits into a fragment block [default: 128K]
    #[arg(
        short,
        long,
        value_name = "SIZE",
        value_parser = parse_size_bytes,
        default_value = "128K",
        hide_default_value = true
    )]
    pub(crate) block_size: u64,

    /// Tail ends that share blocks in the plan: none, small or all [default: small]
    #[arg(
        long,
        value_name = "WHICH",
        value_enum,
        default_value_t = TailsName::Small,
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(crate) tails: TailsName,
}

/// Find lines of a plan or sort file without effect
///
/// Lines that match nothing, or nothing with data; lines that repeat or contradict others; lines
/// that the tool would refuse. If there are any, the exit status is 1.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress plan lint rootfs.sort --from mksquashfs --tree rootfs")]
pub(crate) struct LintArgs {
    /// The file to check
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,

    /// The format of FILE: plan, mksquashfs or gensquashfs
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub(crate) from: FormatName,

    /// The directory or image that FILE is for
    #[arg(long, value_name = "TREE")]
    pub(crate) tree: PathBuf,

    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whose text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    Plan,
    Mksquashfs,
    Gensquashfs,
}
