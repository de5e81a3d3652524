//! `coldpress run`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use coldpress_report::typed::parse_size_bytes;

use crate::flags::place::PlaceArgs;

/// Run COMMAND from an image, without root
///
/// Mounts IMAGE in user space, in a mount namespace that only COMMAND and its children see, and
/// unmounts it when COMMAND ends. COMMAND has the terminal, and run ends with its exit status: 128
/// and the number of the signal if one killed it, 127 if it does not exist, 126 if it cannot be
/// executed. docs/run.md says what COMMAND finds.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress run app.sqfs -- {root}/usr/bin/app --help
  coldpress run rootfs.sqfs --chroot --overlay tmpfs -- /bin/sh")]
pub(crate) struct RunArgs {
    /// The image to run COMMAND from
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Run COMMAND inside the image
    ///
    /// The mounted image becomes the root directory, with /proc, /dev and a writable /tmp.
    #[arg(long)]
    pub(crate) chroot: bool,

    /// Let COMMAND write, and keep what it writes in DIR; `tmpfs` keeps nothing
    ///
    /// The changes are in DIR/upper, and the next run continues with them. A directory named
    /// `tmpfs` is `./tmpfs`.
    #[arg(long, value_name = "DIR", value_parser = OsStringValueParser::new().map(OverlayArg::new))]
    pub(crate) overlay: Option<OverlayArg>,

    /// Show COMMAND the file or directory SRC of this machine at DST; may be repeated
    ///
    /// DST is a path as COMMAND sees it, and must exist; with --chroot and --overlay it is created.
    /// Without DST it is SRC.
    #[arg(long, value_name = "SRC:DST",
        value_parser = OsStringValueParser::new().try_map(|text| BindArg::parse(&text)))]
    pub(crate) bind: Vec<BindArg>,

    /// Mount through the kernel; needs root
    #[arg(long = "kernel-mount", alias = "kernel")]
    pub(crate) kernel: bool,

    /// Read ahead what this profile names, while COMMAND starts
    ///
    /// A profile or trace of a start. docs/prefetch.md says when that helps.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,

    /// Measure over several launches whether --profile helps, and skip it if not
    ///
    /// Launches with and without it take turns, and the history keeps the time until COMMAND ends.
    /// After ten of each, run reads ahead only if that was certainly faster. For a COMMAND that
    /// ends when its start is over.
    #[arg(long, requires = "profile")]
    pub(crate) prove: bool,

    /// Memory for decompressed blocks [default: 64M]
    ///
    /// The pages in the kernel's cache come on top. At least one block is cached.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = parse_size_bytes,
        default_value = "64M",
        hide_default_value = true,
        conflicts_with = "kernel"
    )]
    pub(crate) cache: u64,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// The program to run and its arguments
    ///
    /// `{root}` stands for the directory where the image is mounted. A program without a slash is
    /// looked up in PATH.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Where changes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OverlayArg {
    /// To memory, for as long as it runs.
    Tmpfs,
    Directory(PathBuf),
}

impl OverlayArg {
    fn new(text: OsString) -> Self {
        if text == "tmpfs" {
            Self::Tmpfs
        } else {
            Self::Directory(text.into())
        }
    }
}

/// Something of this machine, and where the command sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BindArg {
    pub(crate) source: PathBuf,
    pub(crate) target: PathBuf,
}

impl BindArg {
    fn parse(text: &OsStr) -> Result<Self, &'static str> {
        let bytes = text.as_bytes();
        let (source, target) = match bytes.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                let (source, rest) = bytes.split_at(colon);
                (source, rest.get(1..).unwrap_or_default())
            }
            None => (bytes, bytes),
        };
        if source.is_empty() || target.first() != Some(&b'/') {
            return Err("write `SRC:DST`, where DST begins with `/`");
        }
        Ok(Self {
            source: OsStr::from_bytes(source).into(),
            target: OsStr::from_bytes(target).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_bound_has_a_place() {
        let bound = |source: &[u8], target: &[u8]| BindArg {
            source: OsStr::from_bytes(source).into(),
            target: OsStr::from_bytes(target).into(),
        };
        for (text, expected) in [
            (&b"/a:/b"[..], Some(bound(b"/a", b"/b"))),
            (b"a:/b:c", Some(bound(b"a", b"/b:c"))),
            (b"/home", Some(bound(b"/home", b"/home"))),
            (b"/\xff:/\n", Some(bound(b"/\xff", b"/\n"))),
            (b"a", None),
            (b"/a:b", None),
            (b"/a:", None),
            (b":/b", None),
            (b"", None),
        ] {
            let found = BindArg::parse(OsStr::from_bytes(text)).ok();
            assert_eq!(found, expected, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn changes_go_to_memory_or_to_a_directory() {
        for (text, expected) in [
            ("tmpfs", OverlayArg::Tmpfs),
            ("./tmpfs", OverlayArg::Directory("./tmpfs".into())),
            ("/a b", OverlayArg::Directory("/a b".into())),
        ] {
            assert_eq!(OverlayArg::new(text.into()), expected, "{text}");
        }
    }
}
