//! Where a path leads in a tree.

use coldpress_trace::import::Settled;

use crate::tree::{Kind, NodeId, Tree};

/// The kernel follows 40 links in one path (`MAXSYMLINKS`).
const LINKS_MAX: usize = 40;

/// Follows an absolute path as the kernel does; a link at its end only if `follows`. Where the tree
/// ends, or links lead in circles, the rest of the path stays as it is.
#[must_use]
pub fn settle(tree: &Tree, path: &[u8], follows: bool) -> Settled {
    let mut settled = Settled::default();
    let mut pending = Vec::new();
    push(&mut pending, path);
    let mut way = vec![NodeId::ROOT];
    while let Some(name) = pending.pop() {
        let here = way.last().copied().unwrap_or(NodeId::ROOT);
        match name {
            b"" | b"." => continue,
            b".." => {
                leave(&mut settled.path, &mut way);
                continue;
            }
            _ => {}
        }
        let above = settled.path.len();
        settled.path.push(b'/');
        settled.path.extend_from_slice(name);
        let Some(id) = child(tree, here, name) else {
            return unsettled(settled, &pending);
        };
        match &tree[id].kind {
            Kind::Symlink { target } if follows || pending.iter().any(|name| !name.is_empty()) => {
                if settled.links.len() == LINKS_MAX {
                    return unsettled(settled, &pending);
                }
                settled.links.push(settled.path.clone());
                settled.path.truncate(above);
                if target.starts_with(b"/") {
                    settled.path.clear();
                    way.truncate(1);
                }
                push(&mut pending, target);
            }
            _ => way.push(id),
        }
    }
    let end = way.last().copied().unwrap_or(NodeId::ROOT);
    settled.size_bytes = Some(tree.file_size(end).unwrap_or(0));
    if settled.path.is_empty() {
        settled.path.push(b'/');
    }
    settled
}

/// Puts the components of a path before all others.
fn push<'a>(pending: &mut Vec<&'a [u8]>, path: &'a [u8]) {
    pending.extend(path.rsplit(|&byte| byte == b'/'));
}

/// Goes to the directory above; from the root nowhere.
fn leave(path: &mut Vec<u8>, way: &mut Vec<NodeId>) {
    if way.len() > 1 {
        way.pop();
        let slash = path.iter().rposition(|&byte| byte == b'/');
        path.truncate(slash.unwrap_or(0));
    }
}

fn child(tree: &Tree, directory: NodeId, name: &[u8]) -> Option<NodeId> {
    let entries = tree.entries(directory);
    let place = entries.binary_search_by(|(entry, _)| entry.as_slice().cmp(name));
    Some(entries[place.ok()?].1)
}

/// What is not in the tree is told with the rest of its path.
fn unsettled(mut settled: Settled, pending: &[&[u8]]) -> Settled {
    for name in pending.iter().rev().filter(|name| !name.is_empty()) {
        settled.path.push(b'/');
        settled.path.extend_from_slice(name);
    }
    settled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Node;
    use crate::tree::tests::node;

    fn directory(entries: &[(&str, u32)]) -> Node {
        let entries = entries.iter();
        let entries = entries.map(|(name, id)| (name.as_bytes().to_vec(), NodeId(*id)));
        node(Kind::Directory {
            entries: entries.collect(),
        })
    }

    /// `/lib` -> `usr/lib`, `/usr/lib/a` of 5 bytes, `/usr/lib/l` -> `/lib/./a`, `/o` -> `o`.
    fn tree() -> Tree {
        let link = |target: &str| {
            node(Kind::Symlink {
                target: target.as_bytes().to_vec(),
            })
        };
        Tree {
            nodes: vec![
                directory(&[("lib", 1), ("o", 2), ("usr", 3)]),
                link("usr/lib"),
                link("o"),
                directory(&[("lib", 4)]),
                directory(&[("a", 5), ("l", 6)]),
                node(Kind::File { size_bytes: 5 }),
                link("/lib/./a"),
            ],
            ..Tree::default()
        }
    }

    /// Path, whether links at its end are followed, links, where it leads and how long that is.
    type Case<'a> = (&'a str, bool, &'a [&'a str], (&'a str, Option<u64>));

    #[test]
    fn links_are_followed_as_the_kernel_does() {
        let usr = ("/usr/lib/a", Some(5));
        let cases: &[Case<'_>] = &[
            ("/", true, &[], ("/", Some(0))),
            ("/usr/lib/a", false, &[], usr),
            ("/lib/a", true, &["/lib"], usr),
            ("/lib", true, &["/lib"], ("/usr/lib", Some(0))),
            ("/lib", false, &[], ("/lib", Some(0))),
            ("/lib/l", true, &["/lib", "/usr/lib/l", "/lib"], usr),
            ("/lib/l", false, &["/lib"], ("/usr/lib/l", Some(0))),
            ("/lib/../lib/a", true, &["/lib"], usr),
            ("/lib/x/y", true, &["/lib"], ("/usr/lib/x/y", None)),
            ("/usr/lib/a/b", true, &[], ("/usr/lib/a/b", None)),
        ];
        for (path, follows, links, (end, size_bytes)) in cases {
            let settled = settle(&tree(), path.as_bytes(), *follows);
            let expected = Settled {
                links: links.iter().map(|link| link.as_bytes().to_vec()).collect(),
                path: end.as_bytes().to_vec(),
                size_bytes: *size_bytes,
            };
            assert_eq!(settled, expected, "{path}");
        }
        let circle = settle(&tree(), b"/o/x", true);
        assert_eq!(circle.links.len(), LINKS_MAX);
        assert_eq!(
            (circle.path.as_slice(), circle.size_bytes),
            (&b"/o/x"[..], None)
        );
    }
}
