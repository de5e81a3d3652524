//! `coldpress press`.

use std::path::PathBuf;

use clap::Args;

use crate::flags::command::CommandArgs;
use crate::flags::container::ContainerArgs;
use crate::flags::device::{DevicesArgs, GoalArgs};
use crate::flags::image::ImageArgs;
use crate::flags::profile::OrderingProfileArgs;
use crate::flags::readahead::ReadaheadArgs;
use crate::flags::recorder::RecorderArgs;
use crate::flags::runs::RunsArgs;
use crate::flags::source::SourceArgs;
use crate::flags::stable::StableArgs;
use crate::flags::start_pack::StartPackArgs;

/// Record a cold start, build an image in that order, and measure the gain
///
/// Records a cold start of COMMAND from SOURCE, plans the order of the image from it, and builds
/// and verifies IMAGE. Then it measures cold and warm starts on the chosen device, in turns: from
/// IMAGE, from an image with the same settings but no plan, and, if mksquashfs is installed, from
/// an image that it builds. For each cold start, press proves that the caches were empty.
///
/// Measuring needs root. Without root, press records less exactly (see --recorder), builds and
/// verifies IMAGE, says what is missing, and ends with exit status 1.
///
/// If SOURCE is a container image and you give no COMMAND, press starts the image's own command
/// inside the image.
#[derive(Debug, Args)]
#[command(
    mut_arg("command", |arg| arg.required(false)),
    mut_arg("robust", |arg| arg.requires("tune")),
    after_long_help = "\
Example:
  coldpress press rootfs -o rootfs.sqfs --device usb2 --report report.html --chroot \\
    -- /usr/bin/python3 -c 'import json, email, sqlite3'
  coldpress press oci:layout:app -o app.sqfs"
)]
pub(crate) struct PressArgs {
    /// The directory or container image to press
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,

    /// The image to write
    ///
    /// While press runs, up to three more images take space in a directory beside IMAGE.
    #[arg(short, long, value_name = "IMAGE")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) device: DevicesArgs,

    #[command(flatten)]
    pub(crate) goal: GoalArgs,

    #[command(flatten)]
    pub(crate) readahead: ReadaheadArgs,

    #[command(flatten)]
    pub(crate) runs: RunsArgs,

    /// Compare with this image as well; may be repeated
    ///
    /// An image of the same application, made by any tool. press starts from it in the same turns
    /// as from the others.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) against: Vec<PathBuf>,

    /// Write the report to this file, as HTML
    ///
    /// The page is one file and loads nothing from the network. It shows box plots of cold and warm
    /// starts, bars for size, reads and bytes, and the conditions of the measurement.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Write every sample to this file, as JSON
    ///
    /// This is what --json prints. It has the times, reads and bytes of each start, and the proof
    /// that the start was cold.
    #[arg(long, value_name = "FILE")]
    pub(crate) samples: Option<PathBuf>,

    /// Order the image by this plan instead of recording
    #[arg(long, value_name = "FILE", conflicts_with = "trace_out")]
    pub(crate) plan: Option<PathBuf>,

    /// Order the archives that the start reads too, as `coldpress jar order` does
    ///
    /// Measures an image with the archives as they were as well, and keeps that one unless the
    /// other proves to be faster. Needs root. Unless --recorder names another, press records with
    /// fuse, which tells entries apart best.
    #[arg(
        long,
        conflicts_with_all = ["plan", "profile", "start_pack"],
        hide_short_help = true
    )]
    pub(crate) archives: bool,

    /// Choose compressor, level, block size and tail ends by prediction
    ///
    /// As `coldpress tune` does, press compresses samples of SOURCE, predicts the start from many
    /// possible images on the device, and chooses one. Then it builds that image. The start is the
    /// recorded one, or that of --profile. press also chooses a readahead of the mount, of
    /// 0,16K,128K,512K,kernel or those of --readahead, and measures starts with it and with the loop
    /// device's own.
    #[arg(long,
        conflicts_with_all = ["compressor", "level", "block_size", "tails", "store", "plan"])]
    pub(crate) tune: bool,

    #[command(flatten)]
    pub(crate) profile: OrderingProfileArgs,

    #[command(flatten)]
    pub(crate) stable: StableArgs,

    #[command(flatten)]
    pub(crate) start_pack: StartPackArgs,

    /// Write the plan to this file
    ///
    /// A text file that you can read, edit, keep under version control and build with.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan_out: Option<PathBuf>,

    /// Write the trace of the recording to this file
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    pub(crate) trace_out: Option<PathBuf>,

    /// Write the recording to this file as a profile
    ///
    /// A text file. With --profile, it also orders the images of later releases of the program. It
    /// includes the lengths and hashes of the files that were read.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "FILE",
        conflicts_with_all = ["plan", "profile"]
    )]
    pub(crate) profile_out: Option<PathBuf>,

    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) recorder: RecorderArgs,

    #[command(flatten)]
    pub(crate) command: CommandArgs,

    #[command(flatten)]
    pub(crate) image_options: ImageArgs,

    #[command(flatten)]
    pub(crate) source_options: SourceArgs,

    #[command(flatten)]
    pub(crate) container: ContainerArgs,
}
