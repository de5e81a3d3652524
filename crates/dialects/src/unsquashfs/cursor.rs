//! A walk through an image that asks a selection what becomes of each path.

use coldpress_format::Body;
use coldpress_image::Visited;
use coldpress_report::text::base_name;

use super::path_tree::{NodeId, PathTree};
use super::selection::Selection;

/// What becomes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is left out, with what is below it.
    Leave,
    /// It is taken, without what is below it.
    Take,
    /// A directory: it is taken, and what is below it is asked for.
    Enter,
}

/// A place in a walk through the image.
#[derive(Debug)]
pub struct Cursor<'a> {
    selection: &'a Selection,
    /// What holds for the entries of the directories on the path, that of the root first.
    levels: Vec<Level>,
}

#[derive(Clone, Debug)]
struct Level {
    /// `None` if all entries are taken.
    taken: Option<NodeId>,
    /// `None` if no entry is excluded by its path.
    excluded: Option<NodeId>,
    /// Patterns that go on here, and the component that is next.
    floating: Vec<(usize, usize)>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(selection: &'a Selection) -> Self {
        let taken = selection.taken.as_ref();
        let taken = taken.filter(|tree| !tree.is_whole(PathTree::ROOT));
        let root = Level {
            taken: taken.map(|_| PathTree::ROOT),
            excluded: (!selection.excluded.is_empty()).then_some(PathTree::ROOT),
            floating: Vec::new(),
        };
        Self {
            selection,
            levels: vec![root],
        }
    }

    /// What becomes of a path; to be asked for each in the order of a walk, but for the root
    /// directory, of which it is known.
    pub(crate) fn visit(&mut self, visited: &Visited) -> Verdict {
        let max_depth = self.selection.max_depth;
        let is_deepest = max_depth.is_some_and(|max_depth| visited.depth >= max_depth);
        if visited.depth == 0 {
            return if is_deepest {
                Verdict::Take
            } else {
                Verdict::Enter
            };
        }
        self.levels.truncate(visited.depth);
        let above = self.levels.last();
        let Some(level) = above.and_then(|above| self.enter(above, base_name(visited.path))) else {
            return Verdict::Leave;
        };
        if !matches!(visited.inode.body, Body::Directory(_)) {
            let is_on_the_way = level.taken.is_some();
            return if is_on_the_way {
                Verdict::Leave
            } else {
                Verdict::Take
            };
        }
        self.levels.push(level);
        if is_deepest {
            Verdict::Take
        } else {
            Verdict::Enter
        }
    }

    /// What holds below an entry; `None` if it is left out.
    fn enter(&self, above: &Level, name: &[u8]) -> Option<Level> {
        let mut taken = None;
        if let (Some(at), Some(tree)) = (above.taken, &self.selection.taken) {
            let child = tree.child(at, name)?;
            taken = (!tree.is_whole(child)).then_some(child);
        }
        let mut excluded = None;
        if let Some(at) = above.excluded {
            let tree = &self.selection.excluded;
            excluded = tree.child(at, name);
            if tree.is_whole(at) || excluded.is_some_and(|child| tree.is_whole(child)) {
                return None;
            }
        }
        let patterns = &self.selection.floating;
        let starts = (0..patterns.len()).map(|pattern| (pattern, 0));
        let mut floating = Vec::new();
        for (pattern, at) in starts.chain(above.floating.iter().copied()) {
            let components = &patterns[pattern];
            if components[at].matches(name) {
                if at + 1 == components.len() {
                    return None;
                }
                floating.push((pattern, at + 1));
            }
        }
        Some(Level {
            taken,
            excluded,
            floating,
        })
    }
}
