//! Names in listings.

use std::mem::offset_of;

use coldpress_format::{RawDirectoryEntry, RawDirectoryHeader};

use super::{DIR, FILE, LINK, ROOT, SUB, changed, halves, stored};
use crate::case::Case;
use crate::model::Model;

/// Names and the nodes that they name.
type Names<'a> = &'a [(&'a [u8], usize)];

fn entries(model: &mut Model, names: Names) {
    let entries = names.iter().map(|(name, node)| (name.to_vec(), *node));
    model.nodes[DIR].entries = entries.collect();
}

/// Names that lead elsewhere, and the longest that do not.
pub fn names() -> Vec<Case> {
    let bad = "a name is empty, over 256 bytes";
    let long = vec![b'n'; 256];
    let cases: [(&[u8], _); 12] = [
        (b"../../etc/crontab", bad),
        (b"/", bad),
        (b"/etc/crontab", bad),
        (b".", bad),
        (b"..", bad),
        (b"a/b", bad),
        (b"a\0b", bad),
        (b"\0", bad),
        (b"...", ""),
        (b"\n\x1b[2J", ""),
        (b"\xff\xfe", ""),
        (&long, ""),
    ];
    let case = |(name, says): (&[u8], _)| {
        let image = changed(|model| {
            let mut names = [(name, FILE), (&b"sub"[..], SUB)];
            names.sort_unstable();
            entries(model, &names);
        });
        Case::new(format!("name `{}`", name.escape_ascii()), image.bytes, says)
    };
    cases.into_iter().map(case).collect()
}

/// A symlink and what would be written through it under the same name; names out of order.
///
/// Names that differ in case only are two names.
pub fn one_name_twice() -> Vec<Case> {
    let unsorted = "a name does not sort after the one before it";
    let twice = |what: &str, second: usize, name: &[u8], says| {
        let image = changed(|model| {
            // The link leads outside. What the directory `dir` holds would be written there.
            model.nodes[LINK].inode.body = coldpress_format::Body::Symlink(b"../outside".to_vec());
            let root = &mut model.nodes[ROOT].entries;
            root.retain(|(_, node)| *node != second && *node != LINK);
            root.push((b"x".to_vec(), LINK));
            root.push((name.to_vec(), second));
            root.sort_by(|left, right| left.0.cmp(&right.0));
        });
        Case::new(what, image.bytes, says)
    };
    let mut cases = vec![
        twice("a symlink and a directory", DIR, b"x", unsorted),
        twice("a symlink and a file", super::TAIL, b"x", unsorted),
        twice("names of other case", DIR, b"X", ""),
    ];
    let orders: [(_, Names); 3] = [
        ("descending names", &[(b"b", FILE), (b"a", SUB)]),
        (
            "equal names apart",
            &[(b"a", FILE), (b"b", SUB), (b"a", FILE)],
        ),
        ("a name before its prefix", &[(b"ab", FILE), (b"a", SUB)]),
    ];
    cases.extend(orders.into_iter().map(|(what, order)| {
        let image = changed(|model| entries(model, order));
        Case::new(what, image.bytes, unsorted)
    }));
    cases
}

/// Sizes of a name over its listing and over any buffer.
pub fn name_sizes() -> Vec<Case> {
    let image = stored();
    let first = image.listing_at + size_of::<RawDirectoryHeader>();
    let at = first + offset_of!(RawDirectoryEntry, name_size);
    let cut = "directory entry at byte";
    halves(
        "name size",
        &image,
        at,
        &[
            (0xffff, cut),
            (0x7fff, cut),
            (0x0100, cut),
            (0x00ff, cut),
            (3, cut),
            (0, "directory"),
        ],
    )
}
