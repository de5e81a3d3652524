//! Which paths are extracted.

use coldpress_format::Body;

use super::ExtractOptions;
use crate::walk::Visited;

/// What becomes of a path. The least of several counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Choice {
    /// Neither it nor what is below it is extracted.
    Leave,
    /// Something below it may be; if so, the directory is made with its metadata.
    Pass,
    /// It is extracted. What is below it is asked for.
    Take,
    /// It is extracted with all that is below it.
    TakeAll,
}

/// Who takes all that is below a directory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TakenBy {
    paths: bool,
    caller: bool,
}

/// Chooses by the options' paths and by asking the caller.
pub(super) struct Chooser<'a> {
    paths: Paths,
    ask: Option<&'a dyn Fn(&Visited) -> Choice>,
}

impl<'a> Chooser<'a> {
    pub(super) fn new(options: &ExtractOptions<'a>) -> Self {
        Self {
            paths: Paths::new(&options.paths),
            ask: options.choose,
        }
    }

    /// What becomes of a path, and who takes all that is below it.
    ///
    /// * `above`: the same of its directory.
    pub(super) fn choose(&self, visited: &Visited, above: TakenBy) -> (Choice, TakenBy) {
        if visited.depth == 0 {
            return (Choice::Take, TakenBy::default());
        }
        let directory = matches!(visited.inode.body, Body::Directory(_));
        let by_paths = if above.paths {
            Choice::TakeAll
        } else {
            self.paths.choose(visited.path)
        };
        let by_caller = match self.ask {
            Some(ask) if !above.caller && by_paths != Choice::Leave => ask(visited),
            _ => Choice::TakeAll,
        };
        let taken_by = TakenBy {
            paths: by_paths == Choice::TakeAll,
            caller: by_caller == Choice::TakeAll,
        };
        match by_paths.min(by_caller) {
            Choice::Pass if !directory => (Choice::Leave, taken_by),
            choice => (choice, taken_by),
        }
    }
}

/// Paths with all that is below them, sorted; each begins with a slash and ends without, and the
/// root is empty.
struct Paths(Vec<Vec<u8>>);

impl Paths {
    fn new(paths: &[Vec<u8>]) -> Self {
        let mut paths: Vec<_> = paths.iter().map(|path| normalize(path)).collect();
        paths.sort_unstable();
        Self(paths)
    }

    /// What becomes of a path that lies below none of these.
    fn choose(&self, path: &[u8]) -> Choice {
        if self.0.first().is_none_or(Vec::is_empty) {
            return Choice::TakeAll;
        }
        let Err(place) = self.0.binary_search_by(|known| known.as_slice().cmp(path)) else {
            return Choice::TakeAll;
        };
        // What is below stands behind the path, but so may others, such as `/a-b` before `/a/b`.
        let mut below = path.to_vec();
        below.push(b'/');
        let rest = self.0.get(place..).unwrap_or_default();
        let first = rest.partition_point(|known| *known < below);
        match rest.get(first) {
            Some(known) if known.starts_with(&below) => Choice::Pass,
            _ => Choice::Leave,
        }
    }
}

/// The path with one slash before each name and none at the end; the root is empty.
fn normalize(path: &[u8]) -> Vec<u8> {
    let mut normal = Vec::new();
    for name in path
        .split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty())
    {
        normal.push(b'/');
        normal.extend_from_slice(name);
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_take_what_they_name_and_pass_the_directories_above() {
        let paths = Paths::new(&[b"//usr/bin/".to_vec(), b"/usr-x".to_vec(), b"/a/b".to_vec()]);
        for (path, expected) in [
            (&b"/usr"[..], Choice::Pass),
            (b"/us", Choice::Leave),
            (b"/usr/bin", Choice::TakeAll),
            (b"/usr/bin2", Choice::Leave),
            (b"/usr/lib", Choice::Leave),
            (b"/usr-x", Choice::TakeAll),
            (b"/a", Choice::Pass),
            (b"/z", Choice::Leave),
        ] {
            assert_eq!(paths.choose(path), expected, "{}", path.escape_ascii());
        }
    }

    #[test]
    fn no_path_and_the_root_mean_everything() {
        for paths in [vec![], vec![b"/".to_vec(), b"/a".to_vec()]] {
            assert_eq!(Paths::new(&paths).choose(b"/x"), Choice::TakeAll);
        }
    }
}
