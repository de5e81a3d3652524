//! Renames and moves, a directory's once and not for each file in it.

use std::collections::BTreeMap;

use coldpress_layout::{How, Matching};
use coldpress_report::text::escaped;
use serde::Serialize;

/// What was found elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Move {
    /// With escapes.
    pub(super) from: String,
    /// With escapes.
    pub(super) to: String,
    /// `name` or `content`.
    pub(super) by: &'static str,
    /// How many paths of the profile it explains.
    pub(super) paths: u64,
}

/// The moves that explain where paths were found, ascending.
pub(super) fn moves(matching: &Matching) -> Vec<Move> {
    let mut moves: BTreeMap<_, u64> = BTreeMap::new();
    for matched in &matching.paths {
        let (by, there) = match &matched.found {
            Some((How::Name, there)) => ("name", there),
            Some((How::Content, there)) => ("content", there),
            Some((How::Path, _)) | None => continue,
        };
        *moves
            .entry((differing(&matched.path, there), by))
            .or_default() += 1;
    }
    let moves = moves.into_iter();
    let row = |(((from, to), by), paths): (((&[u8], &[u8]), _), _)| Move {
        from: escaped(from),
        to: escaped(to),
        by,
        paths,
    };
    moves.map(row).collect()
}

/// Both paths without the names that they have in common at their ends.
fn differing<'a>(mut from: &'a [u8], mut to: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    while let (Some((above, name)), Some((other_above, other))) = (last_name(from), last_name(to))
        && name == other
        && !above.is_empty()
        && !other_above.is_empty()
    {
        (from, to) = (above, other_above);
    }
    (from, to)
}

/// What is above the last name of a path, and that.
fn last_name(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = path.iter().rposition(|&byte| byte == b'/')?;
    Some((path.get(..slash)?, path.get(slash + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        for (from, to, expected) in [
            ("/l/p3.1/os.py", "/l/p3.2/os.py", ("/l/p3.1", "/l/p3.2")),
            ("/l/a.so.1", "/l/a.so.2", ("/l/a.so.1", "/l/a.so.2")),
            ("/opt/a/x/f", "/srv/a/x/f", ("/opt", "/srv")),
            ("/x/f", "/y/x/f", ("/x", "/y/x")),
            ("/f", "/d/f", ("/f", "/d/f")),
        ] {
            let (from, to) = differing(from.as_bytes(), to.as_bytes());
            assert_eq!((from, to), (expected.0.as_bytes(), expected.1.as_bytes()));
        }
    }
}
