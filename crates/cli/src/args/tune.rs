//! `coldpress tune`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use coldpress_tune::Budget;

use super::number::{parse_positive, parse_size_bytes};
use super::{CommandArgs, CompressorName, GroupArgs, RecorderArgs, SourceArgs, StalenessArgs};

/// Find the image to build of SOURCE before building any
///
/// Compresses samples of SOURCE with each compressor, level and block size, predicts a cold start from each image that could
/// be built, and prints those that no other beats in start, size, build time, memory and page cache, beside what tools
/// build today. Recommends one for the device, says why, and how coldpress and other tools are told to build it.
///
/// The start is that of a trace or a profile, or COMMAND is started from SOURCE and recorded. Without
/// any, reading everything is predicted, as extracting an image does. docs/tune.md tells how
/// it chooses, docs/cost-model.md how it predicts.
#[derive(Debug, Args)]
#[command(
    mut_arg("command", |arg| arg.required(false)),
    mut_arg("chroot", |arg| arg.requires("command")),
    mut_arg("min_share", |arg| arg.hide_short_help(true).requires("profile")),
    mut_arg("fail_stale", |arg| arg.hide_short_help(true).requires("profile")),
    after_long_help = "\
Example:
  coldpress tune rootfs --device usb2 --size-budget +4% --plan-out rootfs.plan --chroot \\
    -- /usr/bin/python3 -c 'import json, email'
  coldpress tune rootfs --profile app.profile --target openwrt --max-size 300M"
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the command line"
)]
pub(crate) struct TuneArgs {
    /// The directory or image to build an image of
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,

    /// The medium that the start is from, as of `coldpress press`, or `calibrated` [default: host]
    #[arg(
        long,
        value_name = "DEVICE",
        default_value = "host",
        hide_default_value = true
    )]
    pub(crate) device: String,

    /// Predict the start of this profile
    #[arg(long, value_name = "FILE", conflicts_with_all = ["trace", "command"])]
    pub(crate) profile: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) limits: StalenessArgs,

    /// Predict the start of this trace
    #[arg(long, value_name = "TRACE", conflicts_with = "command")]
    pub(crate) trace: Option<PathBuf>,

    /// What the start takes when it reads nothing, in seconds
    ///
    /// The time of a warm start. Without it the time of the recording counts, less what reading took then by the same
    /// model; of a profile, no time is known.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, hide_short_help = true)]
    pub(crate) warm: Option<f64>,

    /// Store blocks that the start reads as they are, for so much more in size
    ///
    /// As `+4%` of the image, or `+10M`. Where that saves most time for its bytes, as far as it saves any.
    #[arg(long, value_name = "+SIZE", value_parser = parse_budget)]
    pub(crate) size_budget: Option<Budget>,

    /// Largest image, in bytes
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) max_size: Option<u64>,

    /// Longest build, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) build_time: Option<f64>,

    /// Most memory for the build
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) memory: Option<u64>,

    /// Most page cache that the start may fill
    ///
    /// A cold read of a small file fills a whole block of pages, so large blocks can take more memory than a small machine
    /// has.
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) page_cache: Option<u64>,

    /// Where the image is to be read: a target of `coldpress doctor`; may be repeated
    ///
    /// Compressors that one is not known to read, and blocks that are smaller than its pages, are left out.
    #[arg(short, long, value_name = "NAME|FILE", hide_short_help = true)]
    pub(crate) target: Vec<OsString>,

    /// Compressors to try: gzip, lzo, lz4, xz, zstd and none [default: all]
    #[arg(
        short,
        long,
        value_name = "LIST",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true
    )]
    pub(crate) compressors: Vec<CompressorName>,

    /// Block sizes to try [default: 16K,64K,128K,256K,1M]
    #[arg(
        short,
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = parse_size_bytes
    )]
    pub(crate) block_sizes: Vec<u64>,

    #[command(flatten)]
    pub(crate) grouping: GroupArgs,

    /// Try each compressor at one level, with blocks of 128K and 1M
    #[arg(long, conflicts_with = "thorough")]
    pub(crate) fast: bool,

    /// Try every block size, more levels, and filters of xz for the source's machine code
    #[arg(long)]
    pub(crate) thorough: bool,

    /// Predict with the speeds of docs/cost-model.md, not with those that `coldpress calibrate` measured here
    ///
    /// The recommendation is then the same on every machine.
    #[arg(long, hide_short_help = true)]
    pub(crate) default_speeds: bool,

    /// Print all candidates, also those that another beats
    #[arg(long)]
    pub(crate) all: bool,

    /// Write the plan of the recommended image to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan_out: Option<PathBuf>,

    /// Write the report to this file, as HTML
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Print all candidates and the choice as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Threads that compress, here and in the build [default: as many as this process may use]
    #[arg(short = 'j', long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) recorder: RecorderArgs,

    #[command(flatten)]
    pub(crate) command: CommandArgs,

    #[command(flatten)]
    pub(crate) source_options: SourceArgs,
}

impl TuneArgs {
    /// Whether a start is to be fast, rather than reading everything.
    pub(crate) fn has_start(&self) -> bool {
        self.profile.is_some() || self.trace.is_some() || self.has_command()
    }

    /// Whether the start is to be recorded.
    pub(crate) fn has_command(&self) -> bool {
        !self.command.command.is_empty()
    }
}

/// Reads `+4%` or `+10M`; the sign may be left out.
fn parse_budget(text: &str) -> Result<Budget, String> {
    let wrong = || "a budget is a percentage or a size: `+4%`, `+10M`".to_owned();
    let amount = text.strip_prefix('+').unwrap_or(text);
    match amount.strip_suffix('%') {
        Some(percent) => {
            let percent = percent.parse::<f64>().ok();
            let percent = percent.filter(|percent| percent.is_finite() && *percent >= 0.0);
            percent.map(Budget::Percent).ok_or_else(wrong)
        }
        None => parse_size_bytes(amount)
            .map(Budget::Bytes)
            .map_err(|_| wrong()),
    }
}

/// Reads a time in seconds, which may have a fraction.
fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok();
    let seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    seconds.ok_or_else(|| "a time is a number of seconds above 0: `90`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_percentage_or_a_size() {
        for (text, expected) in [
            ("+4%", Some(Budget::Percent(4.0))),
            ("0.5%", Some(Budget::Percent(0.5))),
            ("+10M", Some(Budget::Bytes(10 << 20))),
            ("4096", Some(Budget::Bytes(4096))),
            ("-4%", None),
            ("inf%", None),
            ("+", None),
            ("%", None),
            ("", None),
        ] {
            assert_eq!(parse_budget(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_time_is_a_number_above_0() {
        for (text, expected) in [
            ("90", Some(90.0)),
            ("0.5", Some(0.5)),
            ("0", None),
            ("-1", None),
            ("inf", None),
            ("NaN", None),
            ("1m", None),
            ("", None),
        ] {
            assert_eq!(parse_seconds(text).ok(), expected, "{text}");
        }
    }
}
