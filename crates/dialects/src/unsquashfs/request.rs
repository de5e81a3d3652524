//! A command line as what it asks for: one field for each meaning.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use coldpress_host::memory::Limit;
use coldpress_writer::Mode;

use crate::squashfs_tools::Tool;

/// Where files go, and what their paths begin with in listings, if nothing else is asked for.
const DESTINATION: &str = "squashfs-root";

/// What a command line asks for. The defaults are those of the tool.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches of the command line that do not depend on each other"
)]
pub struct Request {
    /// The tool.
    pub tool: Tool,
    /// What is to be printed instead of reading an image.
    pub print: Option<Print>,
    /// The image.
    pub image: PathBuf,
    /// Bytes in front of the image.
    pub(crate) offset_bytes: u64,
    /// What stands behind the image.
    pub(crate) paths: Vec<OsString>,
    /// Whether those are excludes.
    pub(crate) paths_exclude: bool,
    /// Options that choose paths, in the order of the line.
    pub(crate) filters: Vec<Filter>,
    /// Whether a path without a match is an error.
    pub(crate) must_match: bool,
    /// Whether what a symbolic link at the end of a path points to is extracted with it.
    pub(crate) follows: bool,
    pub(crate) no_wildcards: bool,
    pub(crate) regex: bool,
    pub(crate) max_depth: Option<u32>,
    /// Whether files are printed.
    pub cat: bool,
    /// Whether the superblock is printed.
    pub superblock: bool,
    /// Whether the time of the image is printed.
    pub mkfs_time: bool,
    /// Where pseudo definitions go; `-` is standard output.
    pub pseudo: Option<PathBuf>,
    /// Whether and how files are listed.
    pub listing: Listing,
    /// Where files are extracted.
    pub destination: PathBuf,
    /// Whether files in the way are replaced.
    pub(crate) force: bool,
    /// The time of all files, seconds since 1970.
    pub(crate) time_s: Option<u32>,
    /// Owners and modes that are asked for.
    pub owners: Owners,
    /// Which extended attributes are restored.
    pub xattrs: Xattrs,
    /// What becomes of errors.
    pub errors: Errors,
    /// What is printed.
    pub talk: Talk,
    pub(crate) threads: Option<NonZeroUsize>,
    pub(crate) memory: Option<Limit>,
}

impl Request {
    /// A request with the defaults of a tool, without an image.
    pub(crate) fn new(tool: Tool) -> Self {
        Self {
            tool,
            print: None,
            image: PathBuf::new(),
            offset_bytes: 0,
            paths: Vec::new(),
            paths_exclude: false,
            filters: Vec::new(),
            must_match: false,
            follows: false,
            no_wildcards: false,
            regex: false,
            max_depth: None,
            cat: tool == Tool::Sqfscat,
            superblock: false,
            mkfs_time: false,
            pseudo: None,
            listing: Listing::default(),
            destination: DESTINATION.into(),
            force: false,
            time_s: None,
            owners: Owners::default(),
            xattrs: Xattrs::default(),
            errors: Errors::default(),
            talk: Talk::default(),
            threads: None,
            memory: None,
        }
    }

    /// Asks for something to be printed; the first such option counts.
    pub(crate) fn print(&mut self, print: Print) {
        self.print.get_or_insert(print);
    }

    /// Follows symbolic links at the ends of paths, which are then no patterns, as in
    /// squashfs-tools.
    pub(crate) fn follow(&mut self) {
        self.follows = true;
        self.no_wildcards = true;
    }

    /// How patterns are read.
    pub(crate) fn patterns(&self) -> Patterns {
        match (self.no_wildcards, self.regex) {
            (true, _) => Patterns::Names,
            (false, true) => Patterns::Regex,
            (false, false) => Patterns::Wildcards,
        }
    }

    /// Whether there is a progress bar: names or percents on standard output take its place.
    pub fn shows_bar(&self) -> bool {
        let prints = self.listing.is_wanted() || self.cat || self.pseudo_to_stdout();
        !prints && !self.talk.no_progress && !self.talk.percentage
    }

    /// Whether pseudo definitions go to standard output.
    pub fn pseudo_to_stdout(&self) -> bool {
        self.pseudo.as_deref().is_some_and(|path| path == "-")
    }
}

/// What is printed instead of reading an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Print {
    /// All options.
    Help,
    /// The options with this in their names.
    Options(String),
    /// The sections with this in their titles.
    Sections(String),
    /// The version.
    Version,
    /// The default memory limit in MiB.
    MemoryDefault,
}

/// An option that chooses paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    /// Lines of a file name what is extracted.
    ExtractFile(PathBuf),
    /// Lines of a file name what is excluded.
    ExcludeFile(PathBuf),
    Exclude(OsString),
}

/// How the components of paths are matched with names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patterns {
    /// They are names.
    Names,
    Wildcards,
    /// Extended regular expressions.
    Regex,
}

/// Whether and how files are listed.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches of the command line that do not depend on each other"
)]
pub struct Listing {
    /// They are, and not extracted.
    pub only: bool,
    /// They are when they are extracted.
    pub info: bool,
    /// With their attributes.
    pub(crate) long: bool,
    /// Owners as numbers.
    pub(crate) numeric: bool,
    /// Of directories only empty ones.
    pub(crate) concise: bool,
    /// Times with seconds.
    pub(crate) seconds: bool,
    /// Times in UTC.
    pub(crate) utc: bool,
}

impl Listing {
    /// Asks for a listing without extraction.
    pub(crate) fn set_only(&mut self, long: bool) {
        self.only = true;
        self.long |= long;
    }

    /// Whether files are listed at all.
    pub(crate) fn is_wanted(&self) -> bool {
        self.only || self.info
    }
}

/// Owners and modes that are asked for.
#[derive(Debug, Default)]
pub struct Owners {
    /// The owner of everything.
    pub uid: Option<u32>,
    /// The group of everything.
    pub gid: Option<u32>,
    pub(crate) file_mode: Option<Mode>,
    pub(crate) directory_mode: Option<Mode>,
}

/// Which extended attributes are restored.
#[derive(Debug)]
pub struct Xattrs {
    /// Whether any is.
    pub restored: bool,
    /// A regular expression; the last one counts.
    pub(crate) exclude: Option<String>,
    pub(crate) include: Option<String>,
}

impl Default for Xattrs {
    fn default() -> Self {
        Self {
            restored: true,
            exclude: None,
            include: None,
        }
    }
}

impl Xattrs {
    /// `-xattrs-exclude`.
    pub(crate) fn exclude(&mut self, regex: String) {
        self.exclude = Some(regex);
        self.restored = true;
    }

    /// `-xattrs-include`.
    pub(crate) fn include(&mut self, regex: String) {
        self.include = Some(regex);
        self.restored = true;
    }
}

/// What becomes of errors.
#[derive(Debug, Default)]
pub struct Errors {
    /// A file that cannot be written does not end the work.
    pub ignore: bool,
    /// Everything that is wrong ends the work.
    pub strict: bool,
    /// What did not end the work does not change the exit status.
    pub no_exit_code: bool,
}

/// What is printed while an image is extracted.
#[derive(Debug, Default)]
pub struct Talk {
    /// No counts.
    pub quiet: bool,
    pub(crate) no_progress: bool,
    /// Percents on standard output.
    pub percentage: bool,
}
