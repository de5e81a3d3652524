//! `coldpress profile import` and `coldpress profile export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coldpress_trace::import::Device;

use super::ShareArgs;

/// Make a trace of what another tool recorded
///
/// Reads what strace, etrace, opensnoop, perf, ureadahead, DwarFS, Nydus and eStargz write, sort files of mksquashfs (as Tails
/// makes them) and gensquashfs, and lists of paths. What FILE is, is told by its content, and said. Pages are certain only where
/// the recorder saw that they were read; a file of which it saw no more than the use may have been needed as a whole.
/// docs/import.md has what becomes of what.
///
/// Lines that are not understood are counted, the first three named, and the exit status is 1.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  strace -f -y -ttt -o start.strace /snap/app/12/bin/app
  coldpress profile import start.strace --strip /snap/app/12 --image app.snap -o start.trace")]
pub(crate) struct ProfileImportArgs {
    /// The recording; several files are parts of one, as `strace -ff` writes them; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Where the trace goes [default: standard output]
    #[arg(short, long, value_name = "TRACE")]
    pub(crate) output: Option<PathBuf>,

    /// What FILE is [default: what it looks like]
    ///
    /// strace; etrace; list: a path on each line, or before each NUL, also of DwarFS; opensnoop; nydus; estargz; ureadahead;
    /// perf-script: filemap events, which need --image; perf-trace; mksquashfs or tails; gensquashfs.
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub(crate) format: Option<RecordingName>,

    /// Directory in which the image was mounted or unpacked: taken from all paths, the rest is dropped
    ///
    /// A relative one is below the current directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) strip: Option<PathBuf>,

    /// The image that was used, or its directory, after --strip: follows symbolic links, tells sizes and inodes
    ///
    /// Only an image tells which inode numbers are which files.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<PathBuf>,

    /// The device on which the image was mounted, if events of several were recorded
    #[arg(long, value_name = "MAJOR:MINOR", value_parser = parse_device, hide_short_help = true)]
    pub(crate) device: Option<Device>,
}

/// Write the files of a trace or profile as a list for another tool
///
/// The files whose data was touched, in the order of their first access. With --source a sort file follows the plan
/// that coldpress would make, and files that the source lacks are left out.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress profile export start.trace --format mksquashfs --source rootfs -o rootfs.sort
  mksquashfs rootfs app.sqsh -sort rootfs.sort")]
pub(crate) struct ProfileExportArgs {
    /// A trace or a profile
    #[arg(value_name = "TRACE|PROFILE")]
    pub(crate) input: PathBuf,

    /// What to write: mksquashfs, gensquashfs, list, list0, dwarfs, nydus or estargz
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub(crate) format: ListName,

    /// The directory or image from which the other tool will make its image
    #[arg(long, value_name = "SOURCE")]
    pub(crate) source: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) share: ShareArgs,

    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Whose recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordingName {
    Strace,
    Etrace,
    #[value(alias = "dwarfs")]
    List,
    Opensnoop,
    Nydus,
    Estargz,
    Ureadahead,
    PerfScript,
    PerfTrace,
    #[value(alias = "tails")]
    Mksquashfs,
    Gensquashfs,
}

/// Whose list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListName {
    Mksquashfs,
    Gensquashfs,
    List,
    List0,
    Dwarfs,
    Nydus,
    Estargz,
}

/// Reads a device.
///
/// # Errors
///
/// A clause that says what it looks like.
fn parse_device(text: &str) -> Result<Device, String> {
    let parts = text.split_once(':');
    let numbers = parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    match numbers {
        Some((major, minor)) => Ok(Device { major, minor }),
        None => Err("a device is two numbers, as `7:0`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_two_numbers() {
        let device = Device {
            major: 7,
            minor: 12,
        };
        for (text, expected) in [
            ("7:12", Some(device)),
            ("7", None),
            ("7:", None),
            ("7:x", None),
            ("7:12:1", None),
        ] {
            assert_eq!(parse_device(text).ok(), expected, "{text}");
        }
    }
}
