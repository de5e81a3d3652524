//! `coldpress bench launch`.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use coldpress_bench::build_study::{Compressor, Level, Maker};
use coldpress_report::typed::parse_size_bytes;

use crate::flags::command::CommandArgs;
use crate::flags::device::DeviceArgs;
use crate::flags::readahead::ReadaheadArgs;
use crate::flags::runs::RunsArgs;
use crate::flags::study::StudyArgs;

/// Compare how fast a program starts from different images
///
/// Makes an image of SOURCE with every compressor and block size in the lists, which are separated
/// by commas, and starts COMMAND from each several times, in turn and in random order: first cold,
/// then warm. With --walk, it then reads and hashes every file, cold again. It proves that every
/// cold start is cold. Prints medians, quartiles and the change relative to the first contestant,
/// with its interval and a verdict.
///
/// Names a start that fails, takes too long or was not cold, and does not count it. Names an
/// outlier, and counts it. The history keeps each run as it ends, so Ctrl-C or a kill loses none.
/// Needs root.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress bench launch rootfs --compressors xz,lzo,gzip,zstd,lz4,none --block-sizes 128K,1M \\
    --from-source --walk --device usb2 --ready window --chroot -- /usr/bin/gnome-calculator")]
pub(crate) struct BenchLaunchArgs {
    /// The directory to start COMMAND from
    ///
    /// It is read once before the images are built, so that no contestant pays for the disk.
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,

    /// Compressors: gzip, lzo, lz4, xz, zstd and none [default: zstd; with --image, no images]
    #[arg(short, long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) compressors: Option<Vec<Compressor>>,

    /// Levels of all compressors that have levels [default: default]
    #[arg(
        short,
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "default",
        hide_default_value = true,
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub(crate) levels: Vec<Level>,

    /// Block sizes, from 4K to 1M [default: 128K]
    #[arg(
        short,
        long = "block-sizes", alias = "blocks",
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = parse_size_bytes,
        default_value = "128K",
        hide_default_value = true
    )]
    pub(crate) blocks: Vec<u64>,

    /// Also build the same images with these tools: mksquashfs and gensquashfs
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) peers: Vec<Maker>,

    /// Also start from this image; may be repeated
    ///
    /// A SquashFS, EROFS or ext2 to ext4 image of the same files, made by any tool; with --mount,
    /// any image that its program mounts. NAME is its name in the tables; the default is its file
    /// name.
    #[arg(long, value_name = "NAME=FILE")]
    pub(crate) image: Vec<NamedImage>,

    /// Also start from SOURCE itself
    ///
    /// As `snap try` does: unpacked, through a read-only mount of the directory.
    #[arg(long = "from-source", alias = "try")]
    pub(crate) tries: bool,

    /// How to mount the images: kernel, fuse or a command [default: kernel]
    ///
    /// May be repeated: then starts are measured from every image with each. A command gets IMAGE
    /// and DIRECTORY as its last arguments. `fuse` is `squashfuse_ll`, or squashfuse if that is not
    /// installed.
    #[arg(long, value_name = "HOW")]
    pub(crate) mount: Vec<MountName>,

    #[command(flatten)]
    pub(crate) readahead: ReadaheadArgs,

    #[command(flatten)]
    pub(crate) runs: RunsArgs,

    /// Also read and hash every file, cold again, after each pair of starts
    #[arg(long)]
    pub(crate) walk: bool,

    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    /// Directory for temporary images [default: /var/tmp]
    ///
    /// Choose one on the disk to measure, not in memory, where nothing is ever cold.
    #[arg(
        long,
        value_name = "DIR",
        default_value = "/var/tmp",
        hide_default_value = true,
        hide_short_help = true
    )]
    pub(crate) work_dir: PathBuf,

    #[command(flatten)]
    pub(crate) study: StudyArgs,

    #[command(flatten)]
    pub(crate) command: CommandArgs,
}

/// `NAME=FILE`, or a file that is called as its name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedImage {
    pub(crate) name: Option<OsString>,
    pub(crate) path: PathBuf,
}

impl From<OsString> for NamedImage {
    fn from(text: OsString) -> Self {
        let bytes = text.as_bytes();
        let equals = bytes.iter().position(|byte| *byte == b'=');
        let (name, path) = match equals.filter(|at| *at > 0) {
            // A name holds no slash: `./a=b` is a file.
            Some(at) if !bytes[..at].contains(&b'/') => (
                Some(OsStr::from_bytes(&bytes[..at]).to_owned()),
                OsStr::from_bytes(&bytes[at + 1..]).to_owned(),
            ),
            _ => (None, text),
        };
        let path = PathBuf::from(path);
        Self { name, path }
    }
}

/// Who mounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MountName {
    Kernel,
    Fuse,
    /// Words of a command.
    Command(Vec<OsString>),
}

impl FromStr for MountName {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "kernel" => Self::Kernel,
            "fuse" => Self::Fuse,
            words => Self::Command(words.split_whitespace().map(OsString::from).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_may_have_names() {
        for (text, name, path) in [
            ("a.sqfs", None, "a.sqfs"),
            ("old=a.sqfs", Some("old"), "a.sqfs"),
            ("old=a=b", Some("old"), "a=b"),
            ("./a=b", None, "./a=b"),
            ("=a", None, "=a"),
        ] {
            let image = NamedImage::from(OsString::from(text));
            assert_eq!(image.name.as_deref(), name.map(OsStr::new), "{text}");
            assert_eq!(image.path, PathBuf::from(path), "{text}");
        }
    }
}
