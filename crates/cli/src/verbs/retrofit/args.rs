//! `coldpress retrofit`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::flags::command::CommandArgs;
use crate::flags::device::DeviceArgs;
use crate::flags::image::ImageArgs;
use crate::flags::profile::OrderingProfileArgs;
use crate::flags::recorder::RecorderArgs;
use crate::flags::runs::RunsArgs;
use crate::flags::start_pack::StartPackArgs;

/// Replace the image in an AppImage, SIF container, live ISO or snap by a faster one
///
/// Records a cold start, builds the image in that order, and puts everything around it back byte
/// for byte: the program of an AppImage and its update information, the other objects of a SIF
/// container, the boot records and other files of a live ISO, whose checksum files it updates.
/// Compares the new image with the old one and the rest with what was there. Then
/// measures cold and warm starts of both files, an AppImage through its own program, which needs
/// root.
///
/// Of an AppImage, COMMAND are the arguments of the application. Of a SIF container or a live ISO,
/// it is run inside. Of a snap, it is an app or a program, and runs on this system and not on the
/// snap's base. A live ISO needs no COMMAND: without one and without a profile, its image has the
/// order of its directories.
///
/// Without --compressor, --level, --block-size and --tune, the image keeps its settings, and its
/// blocks are copied. Another compressor is used only if the program of the AppImage extracts a
/// small image of it.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one choice of the user"
)]
#[command(
    mut_arg("command", |arg| arg.required(false)),
    after_long_help = "\
Example:
  coldpress retrofit App.AppImage -o New.AppImage --device usb2
  coldpress retrofit tool.sif -o new.sif --drop-signature -- python3 -c 'import numpy'
  coldpress retrofit debian-live.iso -o new.iso --profile boot.profile
  coldpress retrofit foo.snap --sideload -o foo-fast.snap -- foo"
)]
pub(crate) struct RetrofitArgs {
    /// The AppImage (type 2), SIF container, live ISO or snap
    #[arg(value_name = "FILE")]
    pub(crate) input: PathBuf,

    /// The file to write
    #[arg(short, long, value_name = "FILE", required_unless_present = "in_place")]
    pub(crate) output: Option<PathBuf>,

    /// Replace FILE itself, once the new file is whole
    #[arg(long, conflicts_with = "output")]
    pub(crate) in_place: bool,

    /// Write a signed file without its signature
    ///
    /// The signature is of the old image, and nobody but its owner can make another.
    #[arg(long)]
    pub(crate) drop_signature: bool,

    /// Sign the new AppImage with this key of gpg
    ///
    /// KEY is what gpg takes: a fingerprint, a number or a mail address. An old signature goes, as
    /// with --drop-signature.
    #[arg(long, value_name = "KEY")]
    pub(crate) sign: Option<String>,

    /// The image to replace, by its path in a live ISO with several
    #[arg(long, value_name = "PATH", hide_short_help = true)]
    pub(crate) image: Option<OsString>,

    /// Write a snap that no store has signed, for `snap install --dangerous`
    ///
    /// A snap of the store keeps its bytes, because the store's assertion names their digest. For
    /// such a snap, `coldpress prefetch` reads ahead what a profile names.
    #[arg(long)]
    pub(crate) sideload: bool,

    /// Write a zsync file beside the output, for downloads from this URL
    #[arg(long, value_name = "URL")]
    pub(crate) zsync: Option<String>,

    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    #[command(flatten)]
    pub(crate) runs: RunsArgs,

    /// Choose compressor, level, block size and tail ends by prediction
    ///
    /// As `coldpress tune` does, but the compressor stays that of the old image.
    #[arg(long,
        conflicts_with_all = ["compressor", "level", "block_size", "tails", "store", "plan"])]
    pub(crate) tune: bool,

    /// Order the image by this plan instead of recording
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) profile: OrderingProfileArgs,

    #[command(flatten)]
    pub(crate) start_pack: StartPackArgs,

    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) recorder: RecorderArgs,

    #[command(flatten)]
    pub(crate) command: CommandArgs,

    #[command(flatten)]
    pub(crate) image_options: ImageArgs,
}

impl RetrofitArgs {
    /// The file to write.
    pub(crate) fn target(&self) -> &Path {
        self.output.as_deref().unwrap_or(&self.input)
    }

    /// The zsync file to write.
    pub(crate) fn zsync_path(&self) -> Option<PathBuf> {
        self.zsync.as_ref()?;
        let mut path = self.target().as_os_str().to_owned();
        path.push(".zsync");
        Some(path.into())
    }
}
