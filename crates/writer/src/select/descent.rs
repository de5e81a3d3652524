//! A selection followed through a walk of something else than the sources of an image.

use super::{Below, Found, Selection, Verdict};

/// What becomes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays; a directory with what is left of its entries.
    Kept,
    /// It stays, a directory without entries.
    KeptEmpty,
    /// It goes, unless something below it stays.
    Passage,
    /// It goes with all that is below it.
    Dropped,
}

/// Follows a selection down a tree, and knows which of its patterns had something to match.
#[derive(Debug)]
pub struct Descent<'a> {
    selection: &'a Selection,
    /// What holds for the entries of each directory on the path, the root directory first.
    levels: Vec<Below>,
    /// For each pattern whether it matched something: those to exclude, to include, and the
    /// exclusions.
    used: [Vec<bool>; 3],
}

impl<'a> Descent<'a> {
    /// Begins at the root directory.
    pub fn new(selection: &'a Selection) -> Self {
        let unused = |count| vec![false; count];
        Self {
            selection,
            levels: vec![selection.root(None)],
            used: [
                unused(selection.exclude.texts().count()),
                unused(selection.include.texts().count()),
                unused(selection.exclusions.texts().count()),
            ],
        }
    }

    /// What becomes of the next path of a depth-first walk. What is below a path that is
    /// [`Fate::Dropped`] or [`Fate::KeptEmpty`] must not follow.
    ///
    /// * `depth`: number of names in the path, at least 1.
    /// * `name`: the last of them.
    /// * `inode`: two numbers that names of one file have in common, as those of
    ///   [`Exclusions::by_inode`](super::Exclusions::by_inode).
    pub fn enter(
        &mut self,
        depth: usize,
        name: &[u8],
        is_directory: bool,
        inode: (u64, u64),
    ) -> Fate {
        self.levels.truncate(depth);
        let Some(at) = self.levels.last() else {
            return Fate::Dropped;
        };
        let found = Found {
            name,
            is_directory,
            inode: Some(inode),
        };
        mark(&mut self.used, self.selection, at, &found);
        let (fate, below) = match self.selection.enter(at, &found) {
            Verdict::Keep(below) => (Fate::Kept, below),
            Verdict::Passage(below) => (Fate::Passage, below),
            Verdict::KeepEmpty => return Fate::KeptEmpty,
            Verdict::Drop => return Fate::Dropped,
        };
        self.levels.push(below);
        fate
    }

    /// The patterns that matched nothing so far, as they were given.
    pub fn unused(&self) -> Vec<&'a [u8]> {
        let Selection {
            exclude,
            include,
            exclusions,
            ..
        } = self.selection;
        let texts = exclude
            .texts()
            .chain(include.texts())
            .chain(exclusions.texts());
        let used = self.used.iter().flatten();
        let unused = texts.zip(used).filter(|(_, used)| !**used);
        unused.map(|(text, _)| text).collect()
    }
}

/// Notes which patterns match an entry, as long as there are some that matched nothing.
fn mark(used: &mut [Vec<bool>; 3], selection: &Selection, at: &Below, found: &Found<'_>) {
    let &Found {
        name, is_directory, ..
    } = found;
    let [exclude, include, exclusions] = used;
    if exclude.contains(&false) {
        for index in selection.exclude.matching(&at.exclude, name, is_directory) {
            exclude[index] = true;
        }
    }
    if include.contains(&false) {
        for index in selection.include.matching(&at.include, name, is_directory) {
            include[index] = true;
        }
    }
    if exclusions.contains(&false) {
        for index in selection.exclusions.matching(&at.exclusions, name) {
            exclusions[index] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::{Exclusions, Matching, Rules};

    fn rules(patterns: &[&str]) -> Rules {
        let mut rules = Rules::default();
        for pattern in patterns {
            rules.add(pattern.as_bytes()).unwrap();
        }
        rules
    }

    #[test]
    fn a_walk_meets_the_fates_of_its_paths_and_patterns() {
        let selection = Selection {
            exclude: rules(&["*.o", "/a", "!keep.o", "nothing"]),
            include: rules(&["a/b/c", "z"]),
            ..Selection::default()
        };
        let mut descent = Descent::new(&selection);
        for (depth, name, is_directory, expected) in [
            (1, "a", true, Fate::Passage),
            (2, "b", true, Fate::Passage),
            (3, "c", false, Fate::Kept),
            (3, "d", false, Fate::Dropped),
            (2, "e", false, Fate::Dropped),
            (1, "f", true, Fate::Kept),
            (2, "keep.o", false, Fate::Kept),
            (2, "x.o", false, Fate::Dropped),
        ] {
            let fate = descent.enter(depth, name.as_bytes(), is_directory, (0, 0));
            assert_eq!(fate, expected, "{name}");
        }
        assert_eq!(descent.unused(), [&b"nothing"[..], b"z"]);
    }

    #[test]
    fn exclusions_are_marked_by_the_pattern_that_ends() {
        let patterns = ["a/b", "... c", "d"];
        let selection = Selection {
            exclusions: Exclusions::by_pattern(&patterns, Matching::Wildcards).unwrap(),
            ..Selection::default()
        };
        let mut descent = Descent::new(&selection);
        assert_eq!(descent.enter(1, b"a", true, (0, 0)), Fate::Kept);
        assert_eq!(descent.unused().len(), 3);
        assert_eq!(descent.enter(2, b"b", false, (0, 0)), Fate::Dropped);
        assert_eq!(descent.enter(2, b"c", false, (0, 0)), Fate::Dropped);
        assert_eq!(descent.unused(), [b"d"]);
    }

    #[test]
    fn inodes_are_excluded_under_all_their_names() {
        let selection = Selection {
            exclusions: Exclusions::by_inode([(0, 7)]),
            ..Selection::default()
        };
        let mut descent = Descent::new(&selection);
        assert_eq!(descent.enter(1, b"a", false, (0, 7)), Fate::Dropped);
        assert_eq!(descent.enter(1, b"b", false, (0, 8)), Fate::Kept);
    }
}
