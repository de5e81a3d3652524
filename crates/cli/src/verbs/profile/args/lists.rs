//! `coldpress profile import` and `coldpress profile export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coldpress_trace::import::Device;

use crate::flags::profile::ShareArgs;

/// Make a trace from a recording of another tool
///
/// Reads output of strace, etrace, opensnoop, perf, ureadahead, DwarFS, Nydus and eStargz, sort
/// files of mksquashfs (such as those of Tails) and gensquashfs, and lists of paths. Recognizes the
/// format by its content, and prints it. Pages are certain only if the recorder saw them being
/// read; if it only saw that a file was used, all of the file may have been needed. docs/import.md
/// has the details.
///
/// Counts the lines that it does not understand and names the first three; the exit status is then
/// 1.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  strace -f -y -ttt -o start.strace /snap/app/12/bin/app
  coldpress profile import start.strace --strip /snap/app/12 --image app.snap -o start.trace")]
pub(crate) struct ProfileImportArgs {
    /// The recording; several files are parts of one, as from `strace -ff`; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// The trace to write [default: standard output]
    #[arg(short, long, value_name = "TRACE")]
    pub(crate) output: Option<PathBuf>,

    /// The format of FILE [default: recognized by its content]
    ///
    /// strace; etrace; list: one path per line, or before each NUL, also of DwarFS; opensnoop;
    /// nydus; estargz; ureadahead; perf-script: filemap events, which need --image; perf-trace;
    /// mksquashfs or tails; gensquashfs.
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub(crate) format: Option<RecordingName>,

    /// Remove this directory from paths, where the image was mounted or unpacked; drop other paths
    ///
    /// A relative one is below the current directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) strip: Option<PathBuf>,

    /// The image that was used, or its directory; shows where symbolic links lead, sizes and inodes
    ///
    /// Applies after --strip. Only an image shows which inode numbers belong to which files.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<PathBuf>,

    /// The device on which the image was mounted, if events of several were recorded
    #[arg(long = "recorded-device", alias = "device", value_name = "MAJOR:MINOR",
        value_parser = parse_device, hide_short_help = true)]
    pub(crate) device: Option<Device>,
}

/// Write the files of a trace or profile as a list for another tool
///
/// The files whose data were touched, in the order of their first access. With --source, a sort
/// file follows the plan that coldpress would make, and files that the source lacks are left out.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress profile export start.trace --format mksquashfs --source rootfs -o rootfs.sort
  mksquashfs rootfs app.sqsh -sort rootfs.sort")]
pub(crate) struct ProfileExportArgs {
    /// A trace or a profile
    #[arg(value_name = "TRACE|PROFILE")]
    pub(crate) input: PathBuf,

    /// The format to write: mksquashfs, gensquashfs, list, list0, dwarfs, nydus or estargz; or
    /// entries of the archives in --source: jarlog, asar-ordering or jlink-order
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub(crate) format: ListName,

    /// The directory or image from which the other tool will build its image
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
    Jarlog,
    AsarOrdering,
    JlinkOrder,
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
