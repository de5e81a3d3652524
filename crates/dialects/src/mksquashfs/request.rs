//! A command line as what it asks for: one field for each meaning.

mod talk;
mod xattrs;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use coldpress_format::BlockSize;
use coldpress_host::memory::Limit;
use coldpress_layout::Tails;
use coldpress_writer::Mode;
pub use coldpress_writer::Time;

use super::compression::Compression;
use crate::squashfs_tools::Tool;

pub use talk::{Info, Talk};
pub(crate) use xattrs::Xattrs;

/// What a command line asks for. The defaults are those of the tool.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches of the command line that do not depend on each other"
)]
pub struct Request {
    /// The tool.
    pub tool: Tool,
    /// What is to be printed instead of writing an image.
    pub print: Option<Print>,
    /// Empty if everything comes from standard input or definitions.
    pub(crate) sources: Vec<PathBuf>,
    /// Where the image is written.
    pub destination: PathBuf,
    /// What standard input is; more than one is an error.
    pub(crate) input: Vec<Input>,
    /// Sources keep their whole path.
    pub(crate) whole_paths: bool,
    pub(crate) keep_as_directory: bool,
    /// Where the root directory of an image that is appended to stands in the new one.
    pub root_becomes: Option<OsString>,
    /// The recovery file that the destination is recovered from, instead of anything else.
    pub recover: Option<PathBuf>,
    pub(crate) compression: Compression,
    pub(crate) uncompressed: Uncompressed,
    pub(crate) block_size: BlockSize,
    /// `None` for the default, which depends on the input.
    pub(crate) tails: Option<Tails>,
    pub(crate) no_fragments: bool,
    pub(crate) exportable: bool,
    /// Whether files with the same content are stored once.
    pub duplicates: bool,
    pub(crate) hard_links: bool,
    /// The times that are asked for.
    pub times: Times,
    pub(crate) owners: Owners,
    pub(crate) pseudo: Vec<Definitions>,
    /// The definition of directories that definitions lack.
    pub(crate) pseudo_directory: Option<OsString>,
    pub(crate) pseudo_override: bool,
    pub(crate) excludes: Vec<Excludes>,
    pub(crate) patterns: Patterns,
    pub(crate) max_depth: Option<u32>,
    pub(crate) boundary: Boundary,
    pub(crate) sort: Vec<PathBuf>,
    pub(crate) xattrs: Xattrs,
    pub(crate) tar: TarDefaults,
    /// What is said.
    pub talk: Talk,
    /// What the work may take.
    pub work: Work,
    /// An image that is there is replaced.
    pub(crate) replace: bool,
    /// Padded to a multiple of 4 KiB.
    pub(crate) pad: bool,
    /// Bytes in front of the image.
    pub offset_bytes: u64,
}

impl Request {
    /// A request with the defaults of a tool, without sources and destination.
    pub(crate) fn new(tool: Tool) -> Self {
        let is_tar = tool == Tool::Sqfstar;
        Self {
            tool,
            print: None,
            sources: Vec::new(),
            destination: PathBuf::new(),
            input: if is_tar { vec![Input::Tar] } else { Vec::new() },
            whole_paths: false,
            keep_as_directory: false,
            root_becomes: None,
            recover: None,
            compression: Compression::default(),
            uncompressed: Uncompressed::default(),
            block_size: BlockSize::DEFAULT,
            tails: None,
            no_fragments: false,
            exportable: !is_tar,
            duplicates: true,
            hard_links: true,
            times: Times::default(),
            owners: Owners::default(),
            pseudo: Vec::new(),
            pseudo_directory: None,
            pseudo_override: false,
            excludes: Vec::new(),
            patterns: if is_tar {
                Patterns::Wildcards
            } else {
                Patterns::Paths
            },
            max_depth: None,
            boundary: Boundary::None,
            sort: Vec::new(),
            xattrs: Xattrs::default(),
            tar: TarDefaults::default(),
            talk: Talk::default(),
            work: Work::default(),
            replace: false,
            pad: true,
            offset_bytes: 0,
        }
    }

    /// Asks for something to be printed; the first such option counts.
    pub(crate) fn print(&mut self, print: Print) {
        self.print.get_or_insert(print);
    }

    /// Whether the tree comes from a tar stream.
    pub(crate) fn is_tar(&self) -> bool {
        self.input.contains(&Input::Tar)
    }

    /// Which tail ends share blocks.
    pub(crate) fn tails(&self) -> Tails {
        let default = if self.is_tar() {
            Tails::All
        } else {
            Tails::Small
        };
        if self.no_fragments {
            Tails::None
        } else {
            self.tails.unwrap_or(default)
        }
    }
}

/// What is printed instead of writing an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Print {
    /// All options.
    Help,
    /// The options with this in their names.
    Options(String),
    /// The sections with this in their titles.
    Sections(String),
    /// The options of a compressor.
    Compressor(String),
    /// Those of the compressor that is asked for.
    CompressorInUse,
    /// The version.
    Version,
    /// The default memory limit in MiB.
    MemoryDefault,
}

/// What standard input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Tar,
    /// Names of files, each ended by this byte.
    Names {
        end: u8,
    },
    /// Pseudo definitions.
    Definitions,
}

/// What is stored as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "five parts of an image, each compressed or not"
)]
pub(crate) struct Uncompressed {
    /// Inode and directory tables, and ids.
    pub(crate) inodes: bool,
    pub(crate) ids: bool,
    pub(crate) data: bool,
    pub(crate) fragments: bool,
    pub(crate) xattrs: bool,
}

impl Uncompressed {
    /// `-no-compression`.
    pub(crate) fn everything(&mut self) {
        *self = Self {
            inodes: true,
            data: true,
            fragments: true,
            xattrs: true,
            ids: self.ids,
        };
    }
}

/// The times that are asked for. A fixed one and the newest one exclude each other, so both are
/// kept.
#[derive(Debug, Default)]
pub struct Times {
    pub(crate) mkfs: Vec<Time>,
    pub(crate) inodes: Vec<Time>,
    pub(crate) root: Vec<Time>,
    pub(crate) repro: bool,
    pub(crate) repro_time: Option<Time>,
}

impl Times {
    /// `-mkfs-time`.
    pub(crate) fn set_mkfs(&mut self, time: Time) {
        set(&mut self.mkfs, time);
    }

    /// `-inode-time`.
    pub(crate) fn set_inodes(&mut self, time: Time) {
        set(&mut self.inodes, time);
    }

    /// `-root-time`.
    pub(crate) fn set_root(&mut self, time: Time) {
        set(&mut self.root, time);
    }
}

/// The last time of a kind counts.
fn set(times: &mut Vec<Time>, time: Time) {
    let is_newest = |other: &Time| matches!(other, Time::Newest);
    times.retain(|other| is_newest(other) != is_newest(&time));
    times.push(time);
}

/// Owners and modes that are asked for.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    pub(crate) root_mode: Option<Mode>,
    pub(crate) root_uid: Option<u32>,
    pub(crate) root_gid: Option<u32>,
    pub(crate) file_mode: Option<Mode>,
    pub(crate) directory_mode: Option<Mode>,
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    /// Is added to every user and group number.
    pub(crate) offset: u32,
}

impl Owners {
    /// `-all-root`.
    pub(crate) fn all_root(&mut self) {
        self.uid = Some(0);
        self.gid = Some(0);
    }
}

/// Pseudo definitions, in the order in which they are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Definitions {
    Line(OsString),
    /// `-` is standard input.
    File(PathBuf),
}

/// What is left out, in the order in which it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Excludes {
    One(OsString),
    /// Lines of a file.
    File(PathBuf),
}

/// What excludes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patterns {
    /// Paths of the file system that are there.
    Paths,
    Wildcards,
    Regex,
}

/// What becomes of a directory on which something else is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Boundary {
    /// It is entered.
    None,
    Empty,
    Absent,
}

/// What a tar stream does not say.
#[derive(Debug, Default)]
pub(crate) struct TarDefaults {
    pub(crate) mode: Option<Mode>,
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    pub(crate) ignore_zeros: bool,
}

/// What the work may take.
#[derive(Debug, Default)]
pub struct Work {
    pub(crate) threads: Option<NonZeroUsize>,
    pub(crate) memory: Option<Limit>,
    /// The part of the time that is rested, 0 to 99.
    pub rest_percent: u32,
}
