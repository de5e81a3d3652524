//! The verb `predict`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use coldpress_report::typed::parse_share;
use coldpress_verity::Through;

use crate::flags::device::DeviceArgs;
use crate::flags::place::PlaceArgs;
use crate::flags::readahead::ReadaheadArgs;

/// Predict how long a cold start from IMAGE takes, without starting anything
///
/// Replays a recorded start, or a profile, against the image and a model of its reader and of the
/// medium. Prints what the start reads, how often, how long it takes, and what the time is spent
/// on. docs/cost-model.md describes the model and its limits. Needs no root.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("start").args(["trace", "profile"]).required(true))]
#[command(after_long_help = "\
Example:
  coldpress predict rootfs.sqfs --trace git.trace --device usb2 --warm 0.02")]
pub(crate) struct PredictArgs {
    /// The image to predict a start from
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// The start: a trace that `coldpress record` made from any image or directory of the same
    /// files
    #[arg(long, value_name = "TRACE")]
    pub(crate) trace: Option<PathBuf>,

    /// The start: a profile of `coldpress profile merge`
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,

    /// Leave out what a smaller share of the profile's recordings touched [default: 0]
    ///
    /// From 0 to 1: 0.5 keeps what at least half of them touched.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "SHARE",
        value_parser = parse_share,
        requires = "profile",
        conflicts_with = "trace",
        default_value = "0",
        hide_default_value = true
    )]
    pub(crate) min_share: f64,

    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    #[command(flatten)]
    pub(crate) readahead: ReadaheadArgs,

    /// The reader of the image: kernel, fuse, erofs or unpacked [default: kernel]
    ///
    /// fuse is `coldpress mount`. Two are for comparison: erofs, as if the blocks were clusters of
    /// an EROFS image; unpacked, as if the files were on a file system of the medium.
    #[arg(
        long,
        value_enum,
        value_name = "READER",
        default_value = "kernel",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(crate) reader: ReaderName,

    /// The hash tree of dm-verity that is read with IMAGE: append, sidecar or none [default: the
    /// one appended to IMAGE, if there is one]
    ///
    /// append and sidecar also take a tree that is not there yet, as `coldpress verity` would write
    /// it.
    #[arg(
        hide_short_help = true,
        long,
        value_enum,
        value_name = "FORM",
        hide_possible_values = true
    )]
    pub(crate) verity: Option<TreeName>,

    /// Seconds that the start takes when it reads nothing
    ///
    /// The time of a warm start. Without it, predict takes the time of the recording and subtracts
    /// the predicted time of reading. A profile has no times.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) warm: Option<f64>,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Who reads an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReaderName {
    Kernel,
    Fuse,
    Erofs,
    Unpacked,
}

/// The hash tree that is read with an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeName {
    Append,
    Sidecar,
    None,
}

impl TreeName {
    pub(crate) fn through(name: Option<Self>) -> Through {
        match name {
            None => Through::Found,
            Some(Self::Append) => Through::Appended,
            Some(Self::Sidecar) => Through::Beside,
            Some(Self::None) => Through::Nothing,
        }
    }
}

/// Reads a time.
///
/// # Errors
///
/// A clause that says what it looks like.
fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok();
    let is_time = |seconds: &f64| (0.0..=1e6).contains(seconds);
    seconds
        .filter(is_time)
        .ok_or_else(|| "a time is a number of seconds: `0.35`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_of_seconds() {
        for (text, is_time) in [
            ("0", true),
            ("0.35", true),
            ("1e3", true),
            ("-1", false),
            ("NaN", false),
            ("inf", false),
            ("1s", false),
            ("", false),
        ] {
            assert_eq!(parse_seconds(text).is_ok(), is_time, "{text}");
        }
    }
}
