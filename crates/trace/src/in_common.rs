//! What several recordings of one start have in common.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::event::PAGE_SIZE_BYTES;
use crate::working_set::{FileAccess, WorkingSet};

/// How much of what any of some recordings touched all of them did:
///
/// `in all 5 recordings: 99.8 % of the bytes of touched blocks, 100.0 % of the files, 100.0 % of
/// the lookups and 100.0 % of the directories; 97.1 % of the pages, 90.2 % of those surely used`
///
/// Blocks are what an image is made of and the kernel reads: whoever orders an image by a recording
/// places them, whichever of their pages were touched. docs/recording.md, "The same start again",
/// says why the others differ.
///
/// * `block_bytes`: how long the blocks of the image are, at least 1.
/// * `size_bytes`: the length of the file of a path.
///
/// # Cost
///
/// A few set entries for each page, block and name.
#[must_use]
pub fn in_common(
    sets: &[WorkingSet],
    block_bytes: u64,
    size_bytes: &dyn Fn(&[u8]) -> Option<u64>,
) -> String {
    let block_bytes = block_bytes.max(1);
    let mut tallies = Tallies::default();
    for set in sets {
        let files = || set.files.iter();
        tallies
            .blocks
            .add(files().flat_map(|file| blocks(file, block_bytes)));
        tallies
            .pages
            .add(files().flat_map(|file| pages(file, false)));
        tallies
            .sure_pages
            .add(files().flat_map(|file| pages(file, true)));
        tallies.files.add(files().map(|file| file.path.as_slice()));
        tallies.lookups.add(set.lookups.iter().map(Vec::as_slice));
        tallies.lists.add(set.lists.iter().map(Vec::as_slice));
    }
    let length = |&(path, block): &(&[u8], u64)| {
        let start = block.saturating_mul(block_bytes);
        let rest = size_bytes(path).map(|size_bytes| size_bytes.saturating_sub(start));
        rest.map_or(block_bytes, |rest| rest.min(block_bytes))
    };
    let all = sets.len();
    format!(
        "in all {all} recordings: {} of the bytes of touched blocks, {} of the files, {} of the \
        lookups and {} of the \
         directories; {} of the pages, {} of those surely used",
        tallies.blocks.share(all, length),
        tallies.files.share(all, |_| 1),
        tallies.lookups.share(all, |_| 1),
        tallies.lists.share(all, |_| 1),
        tallies.pages.share(all, |_| 1),
        tallies.sure_pages.share(all, |_| 1),
    )
}

/// What recordings touched, and how many of them did.
#[derive(Default)]
struct Tallies<'a> {
    blocks: Tally<(&'a [u8], u64)>,
    pages: Tally<(&'a [u8], u64)>,
    sure_pages: Tally<(&'a [u8], u64)>,
    files: Tally<&'a [u8]>,
    lookups: Tally<&'a [u8]>,
    lists: Tally<&'a [u8]>,
}

/// For each of many things how many recordings have it.
struct Tally<T>(HashMap<T, usize>);

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Copy + Eq + Hash> Tally<T> {
    /// Counts what one recording has, however often it names it.
    fn add(&mut self, things: impl Iterator<Item = T>) {
        let mut seen = HashSet::new();
        for thing in things.filter(|thing| seen.insert(*thing)) {
            *self.0.entry(thing).or_insert(0) += 1;
        }
    }

    /// How much of it all have, by weight, in percent, rounded down; of nothing all have
    /// everything.
    fn share(&self, all: usize, weight: impl Fn(&T) -> u64) -> String {
        let (mut common, mut total) = (0_u128, 0_u128);
        for (thing, &count) in &self.0 {
            let weight = u128::from(weight(thing));
            total += weight;
            common += if count == all { weight } else { 0 };
        }
        let permille = (common * 1000).checked_div(total).unwrap_or(1000);
        format!("{}.{} %", permille / 10, permille % 10)
    }
}

/// The blocks of a file that were touched, certainly or perhaps.
fn blocks(file: &FileAccess, block_bytes: u64) -> impl Iterator<Item = (&[u8], u64)> {
    let block_pages = (block_bytes / PAGE_SIZE_BYTES).max(1);
    let runs = file.pages.iter();
    runs.flat_map(move |run| run.first_page / block_pages..=run.last_page / block_pages)
        .map(move |block| (file.path.as_slice(), block))
}

/// The pages of a file that were touched, or only those that surely were.
fn pages(file: &FileAccess, only_certain: bool) -> impl Iterator<Item = (&[u8], u64)> {
    let runs = file.pages.iter();
    runs.filter(move |run| run.certain || !only_certain)
        .flat_map(|run| run.first_page..=run.last_page)
        .map(move |page| (file.path.as_slice(), page))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Access, Event, Trace};

    fn set(accesses: &[(Access, &str)]) -> WorkingSet {
        let event = |&(access, path): &(Access, &str)| Event {
            time_us: 0,
            pid: 1,
            access,
            path: path.as_bytes().to_vec(),
        };
        let trace = Trace {
            events: accesses.iter().map(event).collect(),
            ..Trace::default()
        };
        trace.working_set()
    }

    fn fault(page: u64) -> Access {
        Access::Fault { page }
    }

    fn map(first_page: u64, last_page: u64) -> Access {
        Access::Map {
            first_page,
            last_page,
        }
    }

    /// Of files of 40 pages, with blocks of 32.
    fn told(sets: &[WorkingSet]) -> String {
        in_common(sets, 128 << 10, &|_| Some(40 * PAGE_SIZE_BYTES))
    }

    #[test]
    fn what_recordings_have_in_common_is_told_in_percent() {
        let sets = [
            set(&[(fault(0), "/a"), (fault(1), "/a"), (fault(2), "/a")]),
            set(&[
                (fault(1), "/a"),
                (fault(2), "/a"),
                (fault(3), "/a"),
                (Access::Lookup, "/b"),
            ]),
        ];
        assert_eq!(
            told(&sets),
            "in all 2 recordings: 100.0 % of the bytes of touched blocks, 100.0 % of the files, 50.0 % of the lookups and \
             100.0 % of the directories; 50.0 % of the pages, 50.0 % of those surely used"
        );
    }

    #[test]
    fn a_block_counts_by_its_bytes_and_however_it_was_touched() {
        // A whole block in both, once mapped in passing; the tail of 8 pages in one.
        let sets = [
            set(&[(fault(0), "/a"), (map(16, 31), "/a")]),
            set(&[(map(0, 15), "/a"), (fault(39), "/a")]),
        ];
        let told = told(&sets);
        assert!(
            told.contains(" 80.0 % of the bytes of touched blocks, "),
            "{told}"
        );
        assert!(
            told.ends_with(" 3.0 % of the pages, 0.0 % of those surely used"),
            "{told}"
        );
    }

    #[test]
    fn nothing_is_all_there_is_in_common() {
        let told = told(&[set(&[]), set(&[])]);
        assert_eq!(told.matches("100.0 %").count(), 6, "{told}");
    }
}
