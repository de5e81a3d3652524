//! What the running Linux can refuse, told so that a person can act on it.

use std::io;
use std::path::{Path, PathBuf};

use crate::Refusal;

/// Everything that can go wrong in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory could not be used.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// What was tried, as a verb: "open", "mount".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },

    /// A system call without a path failed.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried, and in which kernels it works.
        action: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },

    /// A device description does not follow the grammar of [`crate::Device::parse`].
    #[error(
        "device `{text}`: `{item}` {rule}; write a preset (usb2, sd, hdd, emmc, ssd, nvme, host) \
        or \
         `bw=5M,iops=100`, then `,via=file` or `,via=partition`"
    )]
    Device {
        /// The whole description.
        text: String,
        /// The part of it that is wrong.
        item: String,
        /// The rule that it breaks.
        rule: &'static str,
    },

    /// A text or binary record of the kernel does not have the form that this crate knows.
    #[error("`{}` at byte {start_byte}: {rule}", path.display())]
    Malformed {
        /// The file of the kernel.
        path: PathBuf,
        /// Where in the file, or in the page of it that was read.
        start_byte: usize,
        /// The rule that is broken.
        rule: &'static str,
    },

    /// A file system does not lie on a block device.
    #[error(
        "`{}` is on device {major}:{minor}, which is not a disk (overlay, tmpfs, network); \
         with `via=file` the disk below the image is throttled: put the image on a disk",
        path.display()
    )]
    NotOnDisk {
        /// The image.
        path: PathBuf,
        /// Major number of its file system.
        major: u32,
        /// Minor number of its file system.
        minor: u32,
    },

    /// A file system does not tell where its files lie.
    #[error(
        "`{}` is on a file system that does not report where its files lie (no FIEMAP), such as \
         one in memory or on a network",
        path.display()
    )]
    NoExtents {
        /// The file.
        path: PathBuf,
    },

    /// A file is not rewritten.
    #[error("`{}` is left as it was: {why}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why, and what to do.
        why: Refusal,
    },

    /// The size of an image is not a multiple of a sector, so a loop device would hide its end.
    #[error(
        "`{}` has {size_bytes} bytes, not a multiple of 512, so a loop device would cut its end; \
         pad it to a multiple of 4096",
        path.display()
    )]
    PartialSector {
        /// The image.
        path: PathBuf,
        /// Its size.
        size_bytes: u64,
    },

    /// A program that mounts images did not mount one.
    #[error("`{program}` did not mount `{}`; {}", path.display(), if said.is_empty() { "it said \
    nothing" } else { said })]
    NotMounted {
        /// Its name.
        program: String,
        /// The image.
        path: PathBuf,
        /// The end of what it wrote to its standard error.
        said: String,
    },

    /// Neither the kernel nor a helper mounts what this process would answer.
    #[error("cannot mount on `{}`: {}", path.display(), if said.is_empty() { "`fusermount3` failed \
    and said nothing" } else { said })]
    NotServed {
        /// The mount point.
        path: PathBuf,
        /// What the helper said.
        said: String,
    },

    /// Something still uses a mount or a cgroup although it was told to end.
    #[error("`{}` is still in use: {holder}", path.display())]
    Busy {
        /// The mount point or cgroup directory.
        path: PathBuf,
        /// Who holds it.
        holder: &'static str,
    },

    /// The kernel lacks something that cannot be done without.
    #[error("{what} not found: {advice}")]
    Unsupported {
        /// The part of the kernel.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },

    /// The image lacks a directory that a program run inside it needs.
    #[error(
        "`{directory}` is not a directory of the image at `{}`; a program that is run inside the \
         image needs it: add it to the image, or run the program without chroot",
        root.display()
    )]
    MissingDirectory {
        /// The mounted image.
        root: PathBuf,
        /// The path in the image.
        directory: &'static str,
    },

    /// A program could not be started.
    #[error("cannot run `{program}`: {source}; {place}")]
    CannotRun {
        /// The first argument.
        program: String,
        /// Where it was looked up.
        place: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },

    /// A condition of readiness does not follow the grammar of [`crate::Ready::parse`].
    #[error(
        "ready condition `{text}`: {rule}; write exit, line=REGEX, port=N, socket=PATH, file=PATH, \
        window, \
         window=NAME, dbus=NAME, dbus=system:NAME or cmd=COMMAND"
    )]
    Ready {
        /// The whole condition.
        text: String,
        /// The rule that it breaks.
        rule: String,
    },

    /// What is to show that a program is ready is there before it starts.
    #[error(
        "{what} before the program starts, so it cannot show that the program is ready; end what \
        runs already"
    )]
    AlreadyReady {
        /// What there is: "port 80 accepts connections".
        what: String,
    },

    /// Whether a program is ready cannot be seen.
    #[error("cannot watch {what}: {why}")]
    CannotWatch {
        /// The witness: "the X display `:7`".
        what: String,
        /// What it answers.
        why: String,
    },

    /// QEMU could not make a virtual machine, or lost it.
    #[error("`{program}` has no virtual machine: {said}")]
    Emulator {
        /// The program of QEMU.
        program: String,
        /// Its own words.
        said: String,
    },

    /// What QEMU tells of the requests of a disk is not understood.
    #[error("line {line} of what QEMU tells of its disk {rule}; it is `{found}`")]
    DiskLog {
        /// Its number, from 1.
        line: u64,
        /// What it must be.
        rule: &'static str,
        /// What it is.
        found: String,
    },

    /// A path is of no use for measuring a medium, or a sample for measuring a reader.
    #[error("cannot measure `{}`: {why}", path.display())]
    NotMeasured {
        /// What was to be measured.
        path: PathBuf,
        /// Why it cannot be.
        why: &'static str,
    },

    /// The caller had the program stopped; nothing of it runs any more.
    #[error("the program was stopped")]
    Stopped,

    /// A command without a program.
    #[error("there is no program to run: the command is empty")]
    EmptyCommand,
}

impl Error {
    /// For `map_err`: names the action and the path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }

    /// For `map_err` of the system calls of rustix.
    pub(crate) fn errno(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(rustix::io::Errno) -> Self {
        let name = Self::io(action, path);
        move |errno| name(errno.into())
    }
}
