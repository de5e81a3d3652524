//! What of a source goes into the image.
//!
//! The scan asks [`Selection::enter`] for each entry while it descends, so that no pattern is
//! matched with a whole path: each directory has a [`Below`], which says how far every pattern has
//! come there. An entry costs at most one comparison for each pattern, and nothing without
//! patterns.
//!
//! Three families of patterns, each in a file of its own: `exclusions` is mksquashfs's `-e`,
//! `rules` are those of `.gitignore` files; both match names by `wildcard` or `posix`.
//!
//! Several may speak of one entry. The first of these decides:
//!
//! 1. [`Selection::include`] matches it: it stays.
//! 2. [`Selection::exclusions`] excludes it: it goes.
//! 3. [`Selection::exclude`] decides it.
//! 4. An ignore file decides it, the one that lies nearest first.
//! 5. It shares the fate of its directory.
//!
//! A directory that goes takes with it what is in it, unless something there is to stay.

mod descent;
mod exclusions;
mod keep;
mod pattern;
pub(crate) mod posix;
pub(crate) mod prune;
mod rules;
mod wildcard;

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

pub use descent::{Descent, Fate};
pub use exclusions::{Exclusions, Matching, exclude_file_lines};
pub use pattern::Pattern;
use rules::Progress;
pub use rules::Rules;

use crate::error::Error;

/// Longest pattern: the longest line of a list that mksquashfs reads. Without a limit, text of
/// which each bracket is looked for to the end would cost the square of its length.
pub(crate) const PATTERN_MAX_BYTES: usize = 16 << 10;

/// Refuses a pattern that is too long.
pub(crate) fn check_length(what: &'static str, pattern: &[u8]) -> Result<(), Error> {
    if pattern.len() <= PATTERN_MAX_BYTES {
        return Ok(());
    }
    Err(Error::value(what, pattern, "it has more than 16384 bytes"))
}

/// What of a source goes into the image; by default everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// What mksquashfs's options exclude.
    pub exclusions: Exclusions,
    /// What is left out, by paths in the image.
    pub exclude: Rules,
    /// What stays although something excludes it or a directory above it.
    pub include: Rules,
    /// Names of files in the tree whose patterns hold for the directory that they lie in and below,
    /// as those of `.gitignore` do. The files themselves stay.
    pub ignore_files: Vec<Vec<u8>>,
    /// What becomes of other file systems.
    pub mounts: Mounts,
    /// How many directories deep entries are read: 1 stores what lies in the root directory, and
    /// the directories there empty.
    pub max_depth: Option<u32>,
}

/// What becomes of entries on another file system than their source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mounts {
    /// They are entries as all others.
    #[default]
    Enter,
    /// Directories stay empty, other entries go (`-one-file-system`).
    Empty,
    /// They go (`-one-file-system-x`).
    Leave,
}

/// An entry that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'a> {
    /// Its name in the image.
    pub(crate) name: &'a [u8],
    /// Whether it is a directory.
    pub(crate) is_directory: bool,
    /// Its device and inode numbers, if it lies on a file system.
    pub(crate) inode: Option<(u64, u64)>,
}

impl<'a> Found<'a> {
    pub(crate) fn new(name: &'a [u8], metadata: &Metadata) -> Self {
        Self {
            name,
            is_directory: metadata.is_dir(),
            inode: Some((metadata.dev(), metadata.ino())),
        }
    }

    /// An entry of which nothing is known but its name.
    pub(crate) fn unknown(name: &'a [u8]) -> Self {
        Self {
            name,
            is_directory: false,
            inode: None,
        }
    }
}

/// What becomes of an entry.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    /// It is stored; a directory with the entries that [`Below`] leaves.
    Keep(Below),
    /// It is stored, a directory without entries.
    KeepEmpty,
    /// It goes, but something below it may stay: the directory is stored if there is such.
    Passage(Below),
    /// It goes.
    Drop,
}

/// What holds for the entries of a directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Below {
    /// 1 for the root directory.
    depth: u32,
    /// The device of the source; `None` until there is one.
    device: Option<u64>,
    /// Whether the directory itself is excluded.
    is_excluded: bool,
    exclusions: Vec<usize>,
    exclude: Progress,
    include: Progress,
    /// The ignore files above, the nearest last.
    ignored: Vec<(Arc<Rules>, Progress)>,
}

impl Below {
    /// Makes the patterns of an ignore file hold for the entries of this directory and below.
    ///
    /// # Errors
    ///
    /// As [`Rules::add_file`].
    pub(crate) fn ignore(&mut self, text: &[u8]) -> Result<(), Error> {
        let mut rules = Rules::default();
        rules.add_file(text)?;
        if !rules.is_empty() {
            let start = rules.start();
            self.ignored.push((Arc::new(rules), start));
        }
        Ok(())
    }
}

impl Selection {
    /// Whether nothing is left out.
    pub fn is_everything(&self) -> bool {
        self.exclusions.is_empty()
            && self.exclude.is_empty()
            && self.ignore_files.is_empty()
            && self.mounts == Mounts::Enter
            && self.max_depth.is_none()
    }

    /// What holds for the entries of the root directory of the image.
    ///
    /// * `device`: of the root directory; `None` if it is none of a file system, so that each
    ///   source in it has its own.
    pub(crate) fn root(&self, device: Option<u64>) -> Below {
        Below {
            depth: 1,
            device,
            is_excluded: false,
            exclusions: self.exclusions.root(),
            exclude: self.exclude.start(),
            include: self.include.start(),
            ignored: Vec::new(),
        }
    }

    /// What becomes of an entry of the directory for which `at` holds.
    pub(crate) fn enter(&self, at: &Below, found: &Found<'_>) -> Verdict {
        if self.max_depth.is_some_and(|limit| at.depth > limit) {
            return Verdict::Drop;
        }
        let device = found.inode.map(|(device, _)| device);
        let is_other = device.is_some() && at.device.is_some() && device != at.device;
        let leaves =
            self.mounts == Mounts::Leave || (self.mounts == Mounts::Empty && !found.is_directory);
        if is_other && leaves {
            return Verdict::Drop;
        }
        let (is_included, below) = self.decide(at, found);
        let is_passage = below.is_excluded && !is_included;
        let can_include = found.is_directory && !below.include.is_over();
        if is_passage && !can_include {
            return Verdict::Drop;
        }
        let is_deepest = self.max_depth.is_some_and(|limit| below.depth > limit);
        let ends_here = is_deepest || (is_other && self.mounts == Mounts::Empty);
        match (is_passage, ends_here) {
            (true, true) => Verdict::Drop,
            (true, false) => Verdict::Passage(below),
            (false, true) => Verdict::KeepEmpty,
            (false, false) => Verdict::Keep(below),
        }
    }

    /// Whether an entry is included whatever excludes it, and what holds below it.
    fn decide(&self, at: &Below, found: &Found<'_>) -> (bool, Below) {
        let &Found {
            name, is_directory, ..
        } = found;
        let (include, include_below) = self.include.enter(&at.include, name, is_directory);
        let (exclude, exclude_below) = self.exclude.enter(&at.exclude, name, is_directory);
        let mut ignore = None;
        let mut ignored = Vec::with_capacity(at.ignored.len());
        for (rules, progress) in &at.ignored {
            let (decision, below) = rules.enter(progress, name, is_directory);
            ignore = decision.or(ignore);
            if !below.is_over() {
                ignored.push((Arc::clone(rules), below));
            }
        }
        let has_inode = |inode| self.exclusions.has_inode(inode);
        let exclusions = match self.exclusions.enter(&at.exclusions, name) {
            Some(below) if !found.inode.is_some_and(has_inode) => Some(below),
            _ => None,
        };
        let is_included = include == Some(true);
        let is_excluded =
            !is_included && (exclusions.is_none() || exclude.or(ignore).unwrap_or(at.is_excluded));
        let below = Below {
            depth: at.depth + 1,
            device: at.device.or(found.inode.map(|(device, _)| device)),
            is_excluded,
            exclusions: exclusions.unwrap_or_default(),
            exclude: exclude_below,
            include: include_below,
            ignored,
        };
        (is_included, below)
    }
}
