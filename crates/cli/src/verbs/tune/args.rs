//! `coldpress tune`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use coldpress_report::typed::{parse_positive, parse_size_bytes};
use coldpress_tune::Budget;

use crate::flags::command::CommandArgs;
use crate::flags::container::ContainerArgs;
use crate::flags::device::{DevicesArgs, GoalArgs};
use crate::flags::image::{CompressorName, GroupArgs};
use crate::flags::profile::StalenessArgs;
use crate::flags::readahead::ReadaheadArgs;
use crate::flags::recorder::RecorderArgs;
use crate::flags::source::SourceArgs;

/// Choose how to build an image of SOURCE, without building any
///
/// tune compresses samples of SOURCE with each compressor, level and block size, and predicts a
/// cold start from each possible image. It compares start, size, build time, memory and page cache.
/// It prints the images that no other image beats and, for comparison, what other tools build by
/// default. It recommends one image for the device, says why, and prints the options with which
/// coldpress and other tools build it.
///
/// tune takes the start from a trace or profile; otherwise it starts COMMAND from SOURCE and
/// records the start. Without any of these, it predicts the time to read the whole image once, as
/// when extracting it. docs/tune.md explains how it chooses, and docs/cost-model.md how it
/// predicts.
#[derive(Debug, Args)]
#[command(
    mut_arg("command", |arg| arg.required(false)),
    mut_arg("readahead", |arg| arg.help(
        "Readaheads of the mount to choose from [default: 0,16K,128K,512K,kernel]").long_help(
        "Readaheads of the mount to choose from [default: 0,16K,128K,512K,kernel]\n\n\
        tune predicts each image with each of them, takes the one with which it starts soonest, and \
        says which one the recommended image should have. A size, for example 0 or 16K, is set \
        after the mount. kernel is what the loop device has and needs no setting, as disk does, the \
        128K of sticks and ordinary disks; SquashFS raises both to at least four blocks. See \
        docs/readahead.md.")),
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
    /// The directory, image or container image to build an image from
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,

    #[command(flatten)]
    pub(crate) device: DevicesArgs,

    #[command(flatten)]
    pub(crate) goal: GoalArgs,

    #[command(flatten)]
    pub(crate) readahead: ReadaheadArgs,

    /// Predict the start that this profile describes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["trace", "command"])]
    pub(crate) profile: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) limits: StalenessArgs,

    /// Predict the start that this trace recorded
    #[arg(long, value_name = "TRACE", conflicts_with = "command")]
    pub(crate) trace: Option<PathBuf>,

    /// Seconds that the start takes when it reads nothing
    ///
    /// This is the time of a warm start. Without it, tune takes the time of the recording and
    /// subtracts the predicted time of its reads. A profile has no times.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, hide_short_help = true)]
    pub(crate) warm: Option<f64>,

    /// Let the image grow by this much, to store blocks of the start uncompressed
    ///
    /// `+4%` is a percentage of the image's size, `+10M` a number of bytes. tune chooses the blocks
    /// that save the most time for each added byte, and none that save no time.
    #[arg(long, value_name = "+SIZE", value_parser = parse_budget)]
    pub(crate) size_budget: Option<Budget>,

    /// Largest size of the image, in bytes
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) max_size: Option<u64>,

    /// Longest time to build the image, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) build_time: Option<f64>,

    /// Most memory that the build may take
    #[arg(long = "build-memory", alias = "memory", value_name = "SIZE",
        value_parser = parse_size_bytes)]
    pub(crate) memory: Option<u64>,

    /// Most page cache that the start may fill
    ///
    /// A cold read of a small file puts a whole block into the page cache, so large blocks can take
    /// more memory than a small machine has.
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) page_cache: Option<u64>,

    /// Where the image will be read: a target of `coldpress doctor`; may be repeated
    ///
    /// tune leaves out compressors that a target is not known to read, and blocks smaller than its
    /// pages.
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

    /// Try every block size, more levels, and xz filters for the machine code of SOURCE
    #[arg(long)]
    pub(crate) thorough: bool,

    /// Predict with the speeds in docs/cost-model.md, not with those of `coldpress calibrate`
    ///
    /// The recommendation is then the same on every machine.
    #[arg(long, hide_short_help = true)]
    pub(crate) default_speeds: bool,

    /// Print all candidates, including those that another beats
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

    /// Threads for samples and for the build [default: as many as this process may use]
    ///
    /// tune itself builds nothing: it predicts a build with this many threads.
    #[arg(short = 'j', long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) recorder: RecorderArgs,

    #[command(flatten)]
    pub(crate) command: CommandArgs,

    #[command(flatten)]
    pub(crate) container: ContainerArgs,

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
