//! What a path of mksquashfs names: it asks the kernel, in the source directory.

use crate::tree::{Kind, NodeId, Tree};

/// The kernel follows 40 links in one path (`MAXSYMLINKS`).
const LINKS_MAX: usize = 40;

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Located {
    Node(NodeId),
    /// Nothing.
    Missing,
    /// A file of the machine that need not be in the image: the path begins with `/`, `./` or
    /// `../`, or leads out of the source.
    Outside,
    /// Something in more than one source.
    Ambiguous,
}

/// Finds what `path` names in any of the sources.
pub(super) fn locate(tree: &Tree, sources: &[NodeId], path: &[u8]) -> Located {
    if [&b"/"[..], b"./", b"../"]
        .iter()
        .any(|begin| path.starts_with(begin))
    {
        return Located::Outside;
    }
    let mut found = Located::Missing;
    for &source in sources {
        found = match (found, locate_below(tree, source, path)) {
            (Located::Node(_), Located::Node(_)) => return Located::Ambiguous,
            (Located::Node(id), _) => Located::Node(id),
            (_, Located::Missing) => found,
            (_, other) => other,
        };
    }
    found
}

/// Follows symbolic links as lstat(2) does: but for one that nothing follows.
fn locate_below(tree: &Tree, source: NodeId, path: &[u8]) -> Located {
    let mut pending: Vec<&[u8]> = Vec::new();
    let push = |pending: &mut Vec<_>, path| {
        let names: Vec<_> = <[u8]>::split(path, |&byte| byte == b'/').collect();
        pending.extend(names.into_iter().rev());
    };
    push(&mut pending, path);
    // The way from the source; its last is where we are.
    let mut way = vec![source];
    let mut links = 0;
    while let Some(name) = pending.pop() {
        let Some(&here) = way.last() else {
            return Located::Outside;
        };
        match name {
            b"" | b"." if tree.is_directory(here) => continue,
            b".." if tree.is_directory(here) => {
                way.pop();
                continue;
            }
            _ => {}
        }
        let Some(id) = tree.child(here, name) else {
            return Located::Missing;
        };
        match &tree[id].kind {
            Kind::Symlink { target } if !pending.is_empty() => {
                links += 1;
                if links > LINKS_MAX {
                    return Located::Missing;
                }
                if target.starts_with(b"/") {
                    return Located::Outside;
                }
                push(&mut pending, target);
            }
            _ => way.push(id),
        }
    }
    way.last().map_or(Located::Outside, |&id| Located::Node(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::tree;

    #[test]
    fn paths_lead_where_the_kernel_would_go() {
        // 1 /d, 2 /d/f, 3 /l, 4 /abs, 5 /self, 6 /e, 7 /e/f, 8 /up
        let mut tree = tree(&[
            ("/d/", 0),
            ("/d/f", 1),
            ("/l", 0),
            ("/abs", 0),
            ("/self", 0),
            ("/e/", 0),
            ("/e/f", 1),
            ("/d/up", 0),
        ]);
        for (number, target) in [(3, "d"), (4, "/d"), (5, "self"), (8, "../e")] {
            let target = target.as_bytes().to_vec();
            tree.nodes[number].kind = Kind::Symlink { target };
        }
        let node = |number| Located::Node(NodeId(number));
        let cases = [
            ("", node(0)),
            (".", node(0)),
            ("d", node(1)),
            ("d/", node(1)),
            ("d//f", node(2)),
            ("d/./f", node(2)),
            ("d/../e/f", node(7)),
            ("l", node(3)),
            ("l/", node(1)),
            ("l/f", node(2)),
            ("l/up/f", node(7)),
            ("d/up/../d/f", node(2)),
            ("abs", node(4)),
            ("abs/f", Located::Outside),
            ("self/f", Located::Missing),
            ("x", Located::Missing),
            ("d/f/", Located::Missing),
            ("d/f/..", Located::Missing),
            ("..", Located::Outside),
            ("d/../../x", Located::Outside),
            ("/d", Located::Outside),
            ("./d", Located::Outside),
            ("../d", Located::Outside),
        ];
        for (path, expected) in cases {
            let located = locate(&tree, &[NodeId::ROOT], path.as_bytes());
            assert_eq!(located, expected, "{path}");
        }
        let sources = [NodeId(1), NodeId(6)];
        for (path, expected) in [
            ("f", Located::Ambiguous),
            ("up", node(8)),
            ("x", Located::Missing),
        ] {
            assert_eq!(locate(&tree, &sources, path.as_bytes()), expected, "{path}");
        }
    }
}
