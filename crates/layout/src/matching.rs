//! A profile and the tree of another release: what is still there, and where.
//!
//! A profile is kept for years, while versions change, directories move and files go. Each path is
//! looked for as docs/profile-format.md, "Finding the files in another release", says; what is
//! found makes the profile as it would have been recorded from the tree, and what is not is
//! counted as stale.

mod content;
mod elsewhere;
mod search;
mod staleness;
mod version;

use std::collections::{BTreeMap, HashMap, HashSet};

use coldpress_trace::{Access, ContentHash, PAGE_SIZE_BYTES, Profile, Step};

use crate::tree::{Kind, Node, NodeId, Tree};
use search::{Found, Search};

pub use staleness::Staleness;

/// What became of a profile in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// The profile with the paths of the tree, without what was not found, and without what was
    /// known of files.
    pub profile: Profile,
    /// What became of each path that the profile has steps for, ascending by path.
    pub paths: Vec<Matched>,
}

/// What became of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    /// The path in the profile.
    pub path: Vec<u8>,
    /// How it was found, and its path in the tree; `None` if it was not.
    pub found: Option<(How, Vec<u8>)>,
    /// How many of its pages were touched, certainly or maybe.
    pub touched_pages: u64,
    /// How many of these are no longer there.
    pub stale_pages: u64,
    /// Whether the file has another length than the profile knows.
    pub is_resized: bool,
}

/// How a path was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By itself.
    Path,
    /// By its name without version.
    Name,
    /// By the hash of its content.
    Content,
}

/// What a path must be in a tree to be the one of the profile; of several the last counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Shape {
    /// It was looked up.
    Any,
    /// It was listed, or something in it was touched.
    Directory,
    /// Pages of it were touched.
    File,
}

impl Shape {
    fn fits(self, node: &Node) -> bool {
        match self {
            Self::File => matches!(node.kind, Kind::File { .. }),
            Self::Directory => matches!(node.kind, Kind::Directory { .. }),
            Self::Any => true,
        }
    }
}

/// Finds what a profile names in a tree.
///
/// * `hash`: the content of a file, as the profile knows it; `None` if it cannot be read. It is
///   asked for files of the same length as one that is found in no other way, each once.
///
/// # Cost
///
/// O(n log n) in the profile and the tree, but that of `hash`; up to 1024 comparisons for each path
/// that is found neither by itself nor by versions on its way.
pub fn match_profile(
    tree: &Tree,
    profile: &Profile,
    hash: &mut dyn FnMut(NodeId) -> Option<ContentHash>,
) -> Matching {
    let wanted = wanted(&profile.steps);
    let mut search = Search::new(tree, &wanted);
    search.by_path();
    search.by_version();
    search.elsewhere();
    search.by_content(&profile.files, hash);
    let found = search.found;
    Matching {
        profile: Profile {
            recordings: profile.recordings,
            header: profile.header.clone(),
            steps: moved(tree, &profile.steps, &found),
            files: BTreeMap::new(),
        },
        paths: matched(tree, profile, &wanted, &found),
    }
}

/// The paths of steps, and what each must be.
fn wanted(steps: &[Step]) -> BTreeMap<&[u8], Shape> {
    let mut wanted: BTreeMap<&[u8], Shape> = BTreeMap::new();
    for step in steps {
        let shape = match step.access {
            Access::Lookup => Shape::Any,
            Access::List => Shape::Directory,
            _ => Shape::File,
        };
        let known = wanted.entry(&step.path).or_insert(shape);
        *known = shape.max(*known);
    }
    let has_inside = |path: &[u8]| {
        let inside = [path, b"/"].concat();
        let next = wanted.range(inside.as_slice()..).next();
        next.is_some_and(|(next, _)| next.starts_with(&inside))
    };
    let any = wanted.iter().filter(|(_, shape)| **shape == Shape::Any);
    let directories: Vec<_> = any
        .map(|(path, _)| *path)
        .filter(|path| has_inside(path))
        .collect();
    wanted.extend(directories.into_iter().map(|path| (path, Shape::Directory)));
    wanted
}

/// The steps with the paths of the tree. Pages behind the ends of files are cut off; if nothing
/// is left of a step, its inode was needed all the same.
fn moved(tree: &Tree, steps: &[Step], found: &BTreeMap<&[u8], Found>) -> Vec<Step> {
    let mut told = HashSet::new();
    let moved = steps.iter().filter_map(|step| {
        let found = found.get(step.path.as_slice())?;
        let access = rest_of(tree, step.access, found.node);
        let is_new = told.insert(found.path.as_slice());
        let access = access.or(is_new.then_some(Access::Lookup))?;
        Some(Step {
            access,
            recordings: step.recordings,
            path: found.path.clone(),
        })
    });
    moved.collect()
}

/// What of an access can be made to a node.
fn rest_of(tree: &Tree, access: Access, node: NodeId) -> Option<Access> {
    let Some((first_page, last_page)) = access.pages() else {
        let can_be = access == Access::Lookup || tree.is_directory(node);
        return can_be.then_some(access);
    };
    let last_page = last_page.min(page_count(tree, node).checked_sub(1)?);
    if first_page > last_page {
        return None;
    }
    Some(Access::of_pages(first_page, last_page, access.is_certain()))
}

/// What became of each path.
fn matched(
    tree: &Tree,
    profile: &Profile,
    wanted: &BTreeMap<&[u8], Shape>,
    found: &BTreeMap<&[u8], Found>,
) -> Vec<Matched> {
    let set = profile.working_set(0.0);
    let touched: HashMap<&[u8], _> = set
        .files
        .iter()
        .map(|file| (file.path.as_slice(), &file.pages))
        .collect();
    let of_path = |path: &[u8]| {
        let runs = touched.get(path).map_or(&[][..], |runs| runs.as_slice());
        let found = found.get(path);
        let count = found.map_or(0, |found| page_count(tree, found.node));
        let pages = runs.iter().map(|run| (run.first_page, run.last_page));
        let stale = pages.clone().filter(|&(_, last)| last >= count);
        let size_bytes = found.and_then(|found| tree.file_size(found.node));
        let known_bytes = profile.files.get(path).map(|file| file.size_bytes);
        Matched {
            path: path.to_vec(),
            found: found.map(|found| (found.how, found.path.clone())),
            touched_pages: pages.map(|(first, last)| last - first + 1).sum(),
            stale_pages: stale.map(|(first, last)| last - first.max(count) + 1).sum(),
            is_resized: size_bytes
                .zip(known_bytes)
                .is_some_and(|(size, known)| size != known),
        }
    };
    wanted.keys().map(|path| of_path(path)).collect()
}

/// How many pages a file has, 0 of other nodes.
fn page_count(tree: &Tree, node: NodeId) -> u64 {
    tree.file_size(node).unwrap_or(0).div_ceil(PAGE_SIZE_BYTES)
}

#[cfg(test)]
mod tests;
