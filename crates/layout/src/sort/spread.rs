//! A plan to a sort file: a place in an order to a priority.

use std::collections::HashSet;

use super::mksquashfs::PRIORITIES;
use super::{Dialect, SortEntry, SortFile, SortFlag, spell};
use crate::block_encoding::BlockEncoding;
use crate::plan::{Plan, PlanItem};

/// Between the priorities of gensquashfs, so that lines can be put in by hand.
const GENSQUASHFS_STEP: i64 = 10;

/// What of a plan a sort file cannot say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The path has a line feed or is too long for a line. The file is left out.
    Path(Vec<u8>),
    /// The encoding of the file's blocks.
    BlockEncoding(Vec<u8>),
    /// The place: more files are in no natural order than there are priorities.
    Place(Vec<u8>),
}

impl SortFile {
    /// The sort file that gives the files of a plan's data their order, before all others, and
    /// what is lost.
    ///
    /// A file has one place: that of its blocks, or else of its tail end. Which tails share a
    /// fragment block is left to the tool. For gensquashfs a file whose tail the plan packs
    /// nowhere is `dont_fragment`, and one whose blocks are all stored is `dont_compress`.
    ///
    /// mksquashfs has 65,536 priorities. Up to 32,767 files have priorities above 0 and as far
    /// apart as can be. More files take the whole range, the rest of the image the lowest of it,
    /// and where even that is too little, files that stand in the plan as mksquashfs would write
    /// them anyway share one. Names that are hard links of each other are not known to be such.
    ///
    /// # Cost
    ///
    /// O(n) in the paths of the plan.
    pub fn from_plan(plan: &Plan, dialect: Dialect) -> (Self, Vec<Loss>) {
        let mut losses = Vec::new();
        let paths: Vec<&[u8]> = ordered_paths(plan)
            .into_iter()
            .filter(|path| {
                let can = spell(&entry(path, 1), dialect).is_ok();
                if !can {
                    losses.push(Loss::Path(path.to_vec()));
                }
                can
            })
            .collect();
        let entries = match dialect {
            Dialect::Mksquashfs => {
                let packed = packed_files(plan).into_iter();
                losses.extend(packed.map(|(path, _)| Loss::BlockEncoding(path.to_vec())));
                spread(&paths, &mut losses)
            }
            Dialect::Gensquashfs => number(plan, &paths, &mut losses),
        };
        (Self { dialect, entries }, losses)
    }
}

/// An entry for an absolute path.
fn entry(path: &[u8], priority: i64) -> SortEntry {
    SortEntry {
        line: 0,
        path: path[1..].to_vec(),
        priority,
        flags: Vec::new(),
    }
}

/// The files of a plan, each once. Paths that can name nothing are left out.
fn ordered_paths(plan: &Plan) -> Vec<&[u8]> {
    let with_blocks: HashSet<&[u8]> = plan.data.iter().filter_map(blocks).collect();
    let mut known = HashSet::new();
    let mut paths = Vec::new();
    for item in &plan.data {
        let (named, waits) = match item {
            PlanItem::Blocks(path) => (std::slice::from_ref(path), false),
            PlanItem::Fragment(members) => (members.as_slice(), true),
        };
        for path in named.iter().map(Vec::as_slice) {
            if !(waits && with_blocks.contains(path)) && is_plain(path) && known.insert(path) {
                paths.push(path);
            }
        }
    }
    paths
}

fn blocks(item: &PlanItem) -> Option<&[u8]> {
    match item {
        PlanItem::Blocks(path) => Some(path),
        PlanItem::Fragment(_) => None,
    }
}

/// Whether a path is one that a node of a tree may have, and not the root.
fn is_plain(path: &[u8]) -> bool {
    let mut names = path.split(|&byte| byte == b'/');
    names.next() == Some(b"") && names.all(|name| !matches!(name, b"" | b"." | b".."))
}

/// Priorities of gensquashfs: below 0, which those have that are not listed.
fn number(plan: &Plan, paths: &[&[u8]], losses: &mut Vec<Loss>) -> Vec<SortEntry> {
    let tails = plan.data.iter().filter_map(|item| match item {
        PlanItem::Blocks(_) => None,
        PlanItem::Fragment(members) => Some(members),
    });
    let packed: HashSet<&[u8]> = tails.flatten().map(Vec::as_slice).collect();
    let (stored, others): (Vec<_>, Vec<_>) = packed_files(plan)
        .into_iter()
        .partition(|(path, is_stored)| *is_stored && is_plain(path));
    losses.extend(
        others
            .iter()
            .map(|(path, _)| Loss::BlockEncoding(path.to_vec())),
    );
    let stored: Vec<&[u8]> = stored.into_iter().map(|(path, _)| path).collect();
    let stored_set: HashSet<&[u8]> = stored.iter().copied().collect();
    let listed: HashSet<&[u8]> = paths.iter().copied().collect();
    let mut entries = Vec::with_capacity(paths.len());
    for (&path, before_rest) in paths.iter().zip((1..=paths.len()).rev()) {
        let place = i64::try_from(before_rest).expect("as many as fit into memory");
        let mut entry = entry(path, -place * GENSQUASHFS_STEP);
        if !packed.contains(path) {
            entry.flags.push(SortFlag::DontFragment);
        }
        if stored_set.contains(path) {
            entry.flags.push(SortFlag::DontCompress);
        }
        entries.push(entry);
    }
    for path in stored.into_iter().filter(|path| !listed.contains(path)) {
        let mut entry = entry(path, 0);
        entry.flags.push(SortFlag::DontCompress);
        if spell(&entry, Dialect::Gensquashfs).is_ok() {
            entries.push(entry);
        } else {
            losses.push(Loss::BlockEncoding(path.to_vec()));
        }
    }
    entries
}

/// The files that a plan packs in a way of their own, and whether that is all of them stored. The
/// first rule tells: if it is about some blocks only, no sort file can say the whole.
fn packed_files(plan: &Plan) -> Vec<(&[u8], bool)> {
    let mut known = HashSet::new();
    let first = plan
        .encoding
        .iter()
        .filter(|rule| known.insert(rule.path.as_slice()));
    let packed =
        first.filter(|rule| rule.encoding != BlockEncoding::Default || !rule.blocks.is_empty());
    packed
        .map(|rule| {
            let is_stored = rule.encoding == BlockEncoding::Stored && rule.blocks.is_empty();
            (rule.path.as_slice(), is_stored)
        })
        .collect()
}

/// Priorities of mksquashfs.
fn spread(paths: &[&[u8]], losses: &mut Vec<Loss>) -> Vec<SortEntry> {
    let highest = *PRIORITIES.end();
    let positive = usize::try_from(highest).expect("15 bits");
    // The lowest is for the rest of the image.
    let all = 2 * positive + 1;
    let groups = if paths.len() <= all {
        (0..paths.len()).collect()
    } else {
        natural_runs(paths)
    };
    let count = groups.last().map_or(0, |last| last + 1);
    let signed = |number: usize| i64::try_from(number).expect("at most 16 bits");
    if count <= positive {
        let step = positive / count.max(1);
        let files = paths.iter().zip(groups);
        return files
            .map(|(path, group)| entry(path, signed((count - group) * step)))
            .collect();
    }
    let mut entries = vec![entry(b"/", *PRIORITIES.start())];
    let mut before: Option<(usize, usize)> = None;
    for (path, group) in paths.iter().zip(groups) {
        let bucket = if count <= all {
            group
        } else {
            group * all / count
        };
        if before.is_some_and(|before| before.0 != group && before.1 == bucket) {
            losses.push(Loss::Place(path.to_vec()));
        }
        before = Some((group, bucket));
        entries.push(entry(path, highest - signed(bucket)));
    }
    entries
}

/// Numbers the runs of files that stand as mksquashfs writes files of one priority: backwards.
fn natural_runs(paths: &[&[u8]]) -> Vec<usize> {
    let mut run = 0;
    let mut runs = vec![0];
    for pair in paths.windows(2) {
        let [before, after] = [pair[0], pair[1]].map(|path| path.split(|&byte| byte == b'/'));
        run += usize::from(after.ge(before));
        runs.push(run);
    }
    runs.truncate(paths.len());
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::SortFlag::{DontCompress, DontFragment};

    fn plan(text: &str) -> Plan {
        let text = format!("coldpress-plan 1\n{text}");
        Plan::parse(text.as_bytes()).expect("legal")
    }

    fn entries(file: &SortFile) -> Vec<(&str, i64, &[SortFlag])> {
        let mut found = Vec::new();
        for entry in &file.entries {
            let path = str::from_utf8(&entry.path).expect("ASCII");
            found.push((path, entry.priority, entry.flags.as_slice()));
        }
        found
    }

    const TEXT: &str = "[data]\nfragment\n /b\n /a\nblocks /c/d\nblocks /a\nfragment\n /a b\n\
                        blocks /c/d\nblocks /x\\ny\nblocks /../z\nblocks /\n[packing]\n\
                        stored /a\nlevel 9 /c/d\nstored 1 /e\nstored /e\nstored /f\n\
                        default /g\nstored /g\n";

    #[test]
    fn files_have_the_place_of_their_blocks_or_else_of_their_tail() {
        let (file, losses) = SortFile::from_plan(&plan(TEXT), Dialect::Gensquashfs);
        let expected = [
            ("b", -40, &[][..]),
            ("c/d", -30, &[DontFragment]),
            ("a", -20, &[DontCompress]),
            ("a b", -10, &[]),
            ("f", 0, &[DontCompress]),
        ];
        assert_eq!(entries(&file), expected);
        let lost = |path: &str| Loss::BlockEncoding(path.as_bytes().to_vec());
        assert_eq!(
            losses,
            [Loss::Path(b"/x\ny".to_vec()), lost("/c/d"), lost("/e")]
        );

        let (file, losses) = SortFile::from_plan(&plan(TEXT), Dialect::Mksquashfs);
        let step = 32_767 / 4;
        let expected = [
            ("b", 4 * step, &[][..]),
            ("c/d", 3 * step, &[]),
            ("a", 2 * step, &[]),
            ("a b", step, &[]),
        ];
        assert_eq!(entries(&file), expected);
        assert_eq!(losses.len(), 5, "{losses:?}");
    }

    /// A plan of `count` files in the order of their names, or backwards.
    fn long(count: usize, is_backwards: bool) -> Plan {
        let number = |place| if is_backwards { count - place } else { place };
        let path = |place| format!("/d/{:07}", number(place)).into_bytes();
        Plan {
            data: (0..count)
                .map(|place| PlanItem::Blocks(path(place)))
                .collect(),
            ..Plan::default()
        }
    }

    #[test]
    fn many_files_take_the_whole_range_and_then_share_priorities() {
        let cases = [
            (32_767, false, 32_767, 0),
            (32_768, false, 32_769, 0),
            (65_535, false, 65_536, 0),
            (65_536, false, 65_536, 1),
            (131_070, false, 65_536, 65_535),
            (100_000, true, 1, 0),
        ];
        for (count, is_backwards, priorities, lost) in cases {
            let (file, losses) =
                SortFile::from_plan(&long(count, is_backwards), Dialect::Mksquashfs);
            let mut found: Vec<_> = file.entries.iter().map(|entry| entry.priority).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!((found.len(), losses.len()), (priorities, lost), "{count}");
            assert!(PRIORITIES.contains(&found[0]) && PRIORITIES.contains(&found[found.len() - 1]));
        }
    }
}
