//! Directories that lead back, and symlinks that lead out.

use coldpress_format::Body;

use super::{DIR, FIFO, LINK, ROOT, SUB, changed};
use crate::case::Case;

/// Directories that hold themselves or have two parents, and links that only look odd.
pub fn loops() -> Vec<Case> {
    let twice = "the directory is reached twice";
    let cases = [
        ("a directory in itself", SUB, SUB),
        ("the root in itself", ROOT, ROOT),
        ("a directory in its child", SUB, DIR),
        ("the root in a grandchild", SUB, ROOT),
    ];
    let back = cases.into_iter().map(|(what, from, to)| {
        let image = changed(|model| model.nodes[from].entries = vec![(b"x".to_vec(), to)]);
        Case::new(what, image.bytes, twice)
    });
    let second = changed(|model| model.nodes[ROOT].entries.push((b"zub".to_vec(), SUB)));
    let hard = changed(|model| {
        model.nodes[LINK].inode.link_count = 2;
        model.nodes[ROOT].entries.push((b"zink".to_vec(), LINK));
    });
    let dash = changed(|model| {
        model.nodes[LINK].inode.body = Body::Symlink(b"-cat".to_vec());
        let root = &mut model.nodes[ROOT].entries;
        root.retain(|(_, node)| *node != LINK);
        root.insert(0, (b"-cat".to_vec(), LINK));
    });
    back.chain([
        Case::new("a directory with two parents", second.bytes, twice),
        Case::new("two names of a symlink", hard.bytes, ""),
        Case::new("a symlink `-cat` to itself", dash.bytes, ""),
    ])
    .collect()
}

/// Symlinks with targets outside: legal, and nobody's to follow.
///
/// * `target`: absolute or relative, without zero bytes.
pub fn outward_links(target: &[u8]) -> Vec<Case> {
    let image = changed(|model| {
        model.nodes[LINK].inode.body = Body::Symlink(target.to_vec());
        // The pipe stands behind the link when it is extracted.
        model.nodes[FIFO].inode.mode = 0o777;
    });
    vec![Case::new("a symlink that leads out", image.bytes, "")]
}
