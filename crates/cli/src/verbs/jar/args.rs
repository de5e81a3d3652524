//! The verb `jar`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use coldpress_archive::{Layout, Storing};
use coldpress_report::typed::parse_size_bytes;

/// Order archives by what a start reads of them: omni.ja, jars, zipapps, asar
///
/// An image orders files and blocks, but what lies inside of one file stays where it is.
/// docs/archives.md tells which readers take which layout, and what it brings.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_long_help = "\
Example:
  coldpress jar order omni.ja -o new.ja --log jar.log"
)]
pub(crate) struct JarArgs {
    #[command(subcommand)]
    pub(crate) verb: JarVerb,
}

/// What to do with an archive.
#[derive(Debug, Subcommand)]
pub(crate) enum JarVerb {
    Order(JarOrderArgs),
    Ls(JarLsArgs),
    /// List the entries that a start used, in its order, as Gecko's log does
    #[command(after_long_help = "\
Example:
  coldpress jar log app.jar --trace start.trace")]
    Log(UsesArgs),
    Check(JarCheckArgs),
}

/// Write an archive again, with what a start needs in one place
///
/// Entries keep their names, contents, times, modes, comments and extra fields, and the index keeps
/// its order. META-INF/MANIFEST.MF and mimetype stay first.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  MOZ_JAR_LOG_FILE=/tmp/jar.log firefox-esr --headless --screenshot /tmp/page.png
  coldpress jar order omni.ja -o new.ja --log /tmp/jar.log --verify")]
pub(crate) struct JarOrderArgs {
    #[command(flatten)]
    pub(crate) uses: UsesArgs,

    /// The archive to write
    #[arg(short, long, value_name = "FILE", required_unless_present = "in_place")]
    pub(crate) output: Option<PathBuf>,

    /// Replace FILE itself, once the new file is whole
    #[arg(long, conflicts_with = "output")]
    pub(crate) in_place: bool,

    /// Where the index and the entries of the start go [default: double for Gecko, else tail]
    ///
    /// tail: the entries at the end, before the index, for all readers. double: index and entries at
    /// the beginning, with the length to read ahead, and the index again at the end, for Gecko and
    /// all readers but those of streams. gecko: the index at the beginning only, as Mozilla writes
    /// it.
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) layout: Option<Layout>,

    /// Parts to store uncompressed: hot or all [default: none]
    ///
    /// hot: the entries of the start. It spares the program decompressing them, and costs reads.
    #[arg(long, value_name = "PARTS")]
    pub(crate) store: Option<Storing>,

    /// Align the data of uncompressed entries to this many bytes, at most 32K [default: as they are]
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes, hide_short_help = true)]
    pub(crate) align: Option<u64>,

    #[command(flatten)]
    pub(crate) checks: OrderChecks,

    /// Write the trace of the same start with the new archive to this file
    #[arg(long, value_name = "FILE", requires = "trace", hide_short_help = true)]
    pub(crate) trace_out: Option<PathBuf>,

    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is made sure of.
#[derive(Debug, Args)]
pub(crate) struct OrderChecks {
    /// Read the new archive back and compare every content with the old one
    #[arg(long)]
    pub(crate) verify: bool,

    /// Order a signed archive too
    ///
    /// Signatures of jars and add-ons cover contents and stay valid; those of APK files cover every
    /// byte and do not.
    #[arg(long, hide_short_help = true)]
    pub(crate) signed: bool,
}

/// An archive, and what a start used of it
#[derive(Debug, Args)]
pub(crate) struct UsesArgs {
    /// The archive
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,

    /// What the program said of the entries that it used
    ///
    /// A log of Gecko (`MOZ_JAR_LOG_FILE`), Java (`-Xlog:class+load`, `-XX:DumpLoadedClassList`) or
    /// Python (`-X importtime`), or a list of names.
    #[arg(long, value_name = "FILE", conflicts_with = "trace")]
    pub(crate) log: Option<PathBuf>,

    /// The trace of a start: entries whose pages it touched
    #[arg(long, value_name = "TRACE")]
    pub(crate) trace: Option<PathBuf>,

    /// The path of the archive in the log or trace [default: what its own path ends with]
    #[arg(long, value_name = "PATH", hide_short_help = true)]
    pub(crate) known_as: Option<PathBuf>,
}

/// List the entries of an archive by their places
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress jar ls omni.ja --log jar.log")]
pub(crate) struct JarLsArgs {
    #[command(flatten)]
    pub(crate) uses: UsesArgs,

    /// Print them as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Read every entry, and say what readers could stumble over
///
/// Compares each content with its length and CRC. Names what is not wrong, but read differently by
/// different readers: duplicate names, names that differ in case only, bytes around the archive.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Exit status: 0 all are whole, 1 one is not

Example:
  coldpress jar check lib/*.jar")]
pub(crate) struct JarCheckArgs {
    /// Archives
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
