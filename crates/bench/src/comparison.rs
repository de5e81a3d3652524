//! What is compared, and what was found: plain values, written and read as JSON.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use coldpress_history::{Facts, Figures};
use coldpress_report::text::printable;
use serde::{Deserialize, Serialize};

use crate::run::Run;

/// Readahead of every loop device before it is mounted, in KiB: the default of the kernel. A loop device whose limits
/// were set anew can have 4096, which moved 19 % more bytes for the same start; so it is set, and
/// to the same value for all.
///
/// `SquashFS` raises it to four blocks when it mounts (Linux 6.18: 512 KiB with blocks of 128 KiB, 4 MiB with those of 1 MiB).
/// That is so for everyone who mounts the image, and a part of what a block size costs: it is not undone.
pub const READ_AHEAD_KIB: u32 = 128;

/// One of those that are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Contestant {
    /// What it is called in tables and charts.
    pub name: String,
    /// What the command is started from.
    pub what: What,
    /// What it is, for those who read the samples: `compressor`, `tool`.
    pub facts: Facts,
    /// What is known of it before it runs: `build_s`, `block_size_bytes`.
    pub figures: Figures,
}

impl Contestant {
    /// An image that the kernel mounts, and of which no more is told.
    pub fn image(name: &str, path: &Path) -> Contestant {
        Contestant {
            name: name.to_owned(),
            what: What::Image {
                path: path.to_owned(),
                mount: MountBy::Kernel,
            },
            facts: Facts::new(),
            figures: Figures::new(),
        }
    }
}

/// What a command is started from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// An image in a file.
    Image {
        /// The file.
        path: PathBuf,
        /// Who mounts it.
        mount: MountBy,
    },
    /// The files as they are, in a directory that is seen read-only.
    Directory(PathBuf),
}

impl What {
    /// The file or directory.
    pub fn path(&self) -> &Path {
        match self {
            What::Image { path, .. } | What::Directory(path) => path,
        }
    }
}

/// Who mounts an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MountBy {
    /// The kernel, from a loop device.
    Kernel,
    /// A program, called as `PROGRAM... IMAGE DIRECTORY`, through FUSE.
    Program(Vec<OsString>),
}

/// What every contestant has to do.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The program to start; `{root}` in its arguments stands for the mounted image.
    pub command: coldpress_host::Command,
    /// The storage device to imitate.
    pub device: coldpress_host::Device,
    /// Number of turns: cold starts of each contestant.
    pub runs: u32,
    /// What the order of the contestants in each turn is drawn from.
    pub seed: u64,
    /// Whether every file of each contestant is read too, cold again, after its starts.
    pub walk: bool,
}

/// Everything measured by [`compare`](crate::compare), and what it depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// When the comparison began, in seconds since 1970.
    pub began_unix_s: u64,
    /// Where it ran.
    pub machine: MachineFacts,
    /// The imitated storage device.
    pub device: DeviceFacts,
    /// The started program.
    pub command: CommandFacts,
    /// Readahead of the loop devices before they were mounted.
    pub read_ahead_kib: u32,
    /// Number of turns asked for.
    pub turns: u32,
    /// What the order of the contestants in each turn was drawn from.
    #[serde(default)]
    pub seed: u64,
    /// Who took part; the first one is the baseline of all ratios.
    pub contestants: Vec<ContestantFacts>,
    /// All runs in the order in which they were made, the excluded ones among them.
    pub runs: Vec<Run>,
}

/// A contestant as it was when the comparison began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContestantFacts {
    /// Its name in tables and charts.
    pub name: String,
    /// Size of the image file, or of all files of a directory.
    pub size_bytes: u64,
    /// What it is.
    #[serde(default)]
    pub facts: Facts,
    /// What was known of it before it ran.
    #[serde(default)]
    pub figures: Figures,
}

/// The machine on which a comparison ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineFacts {
    /// Kernel release.
    pub kernel: String,
    /// Processor model.
    pub cpu_model: String,
    /// Number of processors.
    pub cores: u32,
    /// Main memory.
    pub memory_bytes: Option<u64>,
    /// Whether it is a virtual machine.
    pub virtual_machine: bool,
    /// How the kernel decompresses images: `single`, `multi`, `percpu`.
    pub squashfs_decompressor: String,
    /// Fragment blocks that it keeps decompressed.
    pub squashfs_cached_fragments: Option<u32>,
    /// Whether it decompresses straight into the page cache.
    pub squashfs_file_direct: Option<bool>,
}

/// The imitated storage device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Name of the preset, or the limits as given.
    pub name: String,
    /// Bandwidth limit; `None` if there is none.
    pub read_bytes_per_s: Option<u64>,
    /// Limit of reads per second; `None` if there is none.
    pub read_iops: Option<u64>,
    /// What the image stands for.
    pub via: ViaFacts,
}

/// Where the image lies on the imitated device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViaFacts {
    /// On a partition of its own: direct I/O, the loop device itself is throttled.
    Partition,
    /// As a file: buffered I/O, the disk below is throttled.
    File,
}

/// The started program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandFacts {
    /// Program and arguments. Bytes that are not UTF-8 are written `\xNN`.
    pub args: Vec<String>,
    /// Whether the image was its root directory.
    pub chroot: bool,
    /// Time limit of each start.
    pub timeout_s: u64,
    /// What ended a start: `exit`, `port=80`.
    #[serde(default = "exit")]
    pub ready: String,
}

/// Until there was another condition, every start ended with the command.
fn exit() -> String {
    coldpress_host::Ready::Exit.text()
}

impl CommandFacts {
    /// The command as a shell would take it.
    pub fn line(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%{}".contains(c);
        let quoted = self.args.iter().map(|arg| {
            if !arg.is_empty() && arg.chars().all(plain) {
                arg.clone()
            } else {
                format!("'{}'", arg.replace('\'', r"'\''"))
            }
        });
        quoted.collect::<Vec<_>>().join(" ")
    }
}

impl From<&coldpress_host::Command> for CommandFacts {
    fn from(command: &coldpress_host::Command) -> CommandFacts {
        let args = command
            .args
            .iter()
            .map(|arg| printable(arg.as_encoded_bytes()));
        CommandFacts {
            args: args.collect(),
            chroot: command.chroot,
            timeout_s: command.timeout_s,
            ready: printable(command.ready.text().as_bytes()),
        }
    }
}

impl From<&coldpress_host::Device> for DeviceFacts {
    fn from(device: &coldpress_host::Device) -> DeviceFacts {
        DeviceFacts {
            name: device.name.clone(),
            read_bytes_per_s: device.read_bytes_per_s,
            read_iops: device.read_iops,
            via: match device.via {
                coldpress_host::Via::Partition => ViaFacts::Partition,
                coldpress_host::Via::File => ViaFacts::File,
            },
        }
    }
}

impl From<coldpress_host::Machine> for MachineFacts {
    fn from(machine: coldpress_host::Machine) -> MachineFacts {
        MachineFacts {
            kernel: machine.kernel,
            cpu_model: machine.cpu_model,
            cores: machine.cores,
            memory_bytes: machine.memory_bytes,
            virtual_machine: machine.virtual_machine,
            squashfs_decompressor: machine.squashfs_decompressor,
            squashfs_cached_fragments: machine.squashfs_cached_fragments,
            squashfs_file_direct: machine.squashfs_file_direct,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Excluded, Exit};

    #[test]
    fn a_command_is_shown_as_a_shell_takes_it() {
        let command = CommandFacts {
            args: ["{root}/bin/sh", "-c", "echo 'a b' <x>", ""]
                .map(str::to_owned)
                .to_vec(),
            chroot: false,
            timeout_s: 10,
            ready: exit(),
        };
        assert_eq!(
            command.line(),
            r"{root}/bin/sh -c 'echo '\''a b'\'' <x>' ''"
        );
    }

    #[test]
    fn a_comparison_is_the_same_after_json() {
        let mut comparison = crate::example::comparison(&["plain", "ordered"], 7);
        let reasons = [
            Excluded::Failed {
                exit: Exit::Signal(11),
            },
            Excluded::NotReady {
                exit: Exit::Code(0),
            },
            Excluded::TimedOut,
            Excluded::StartedWarm { pages: 3 },
            Excluded::MountedBefore,
            Excluded::BelowCpuTime,
        ];
        for (run, reason) in comparison.runs.iter_mut().zip(reasons) {
            run.excluded = Some(reason);
            run.warm_s = None;
        }
        let json = serde_json::to_string(&comparison).expect("plain values");
        assert!(
            json.contains(r#""excluded":{"failed":{"exit":{"signal":11}}}"#),
            "{json}"
        );
        let back: Comparison = serde_json::from_str(&json).expect("its own output");
        assert_eq!(back, comparison);
    }
}
