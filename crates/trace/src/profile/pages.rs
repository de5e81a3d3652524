//! The pages of one file in several recordings.

use std::cmp::Reverse;

use super::merge::{RANK_END, Sighting, median};

/// Runs that began within this time of each other may be one: a 256th of the start, so that what
/// one recording read at once and another in two parts stays one run.
const MOMENT: u64 = RANK_END / 256;

/// Pages of windows that overlap at least by one: of 64 KiB, as the kernel maps them around a
/// fault.
const WINDOWS_PAGES: u64 = 2 * 16 - 1;

/// Pages that recordings of one input saw first at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeenRun {
    pub(super) first_page: u64,
    /// Inclusive.
    pub(super) last_page: u64,
    pub(super) is_certain: bool,
    pub(super) seen: Sighting,
}

/// Merges the runs of all inputs, those of each disjoint, to disjoint ones that ascend.
///
/// # Cost
///
/// O(n log n) in the runs, times the number of inputs.
pub(super) fn merged(mut runs: Vec<SeenRun>) -> Vec<SeenRun> {
    runs.sort_unstable_by_key(|run| run.first_page);
    let mut cuts: Vec<u64> = runs
        .iter()
        .flat_map(|run| [run.first_page, run.last_page.saturating_add(1)])
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut ahead = runs.into_iter().peekable();
    let mut open: Vec<SeenRun> = Vec::new();
    let mut merged: Vec<SeenRun> = Vec::new();
    for (&begin, &end) in cuts.iter().zip(cuts.iter().skip(1)) {
        open.retain(|run| run.last_page >= begin);
        while let Some(run) = ahead.next_if(|run| run.first_page <= begin) {
            open.push(run);
        }
        let Some(next) = overlaid(&open, begin, end - 1) else {
            continue;
        };
        match merged.last_mut().filter(|last| is_one(last, &next)) {
            Some(last) => {
                last.last_page = next.last_page;
                // The part that most recordings saw says when, the first of those.
                let order = |seen: &Sighting| (Reverse(seen.recordings), seen.rank);
                if order(&next.seen) < order(&last.seen) {
                    last.seen = next.seen;
                }
            }
            None => merged.push(next),
        }
    }
    merged
}

/// What the runs that cover some pages say of them together; `None` if none does.
fn overlaid(runs: &[SeenRun], first_page: u64, last_page: u64) -> Option<SeenRun> {
    let is_certain = runs.iter().any(|run| run.is_certain);
    let telling = runs.iter().filter(|run| run.is_certain == is_certain);
    let rank = median(telling.map(|run| run.seen).collect())?.rank;
    let recordings = runs.iter().map(|run| run.seen.recordings);
    let recordings = recordings.fold(0, u32::saturating_add);
    Some(SeenRun {
        first_page,
        last_page,
        is_certain,
        seen: Sighting { rank, recordings },
    })
}

/// Whether two runs can be one.
///
/// Fault-around maps a window whose place depends on where the file was mapped: a page at its edge
/// was in it by luck, so how often says nothing, and windows that overlap are one.
fn is_one(run: &SeenRun, next: &SeenRun) -> bool {
    let is_moment = run.seen.rank.abs_diff(next.seen.rank) <= MOMENT;
    let is_window = next.last_page - run.first_page < WINDOWS_PAGES;
    let is_same = if run.is_certain {
        is_moment && run.seen.recordings == next.seen.recordings
    } else {
        is_moment || is_window
    };
    is_same
        && run.is_certain == next.is_certain
        && run.last_page.checked_add(1) == Some(next.first_page)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(
        first_page: u64,
        last_page: u64,
        is_certain: bool,
        rank: u64,
        recordings: u32,
    ) -> SeenRun {
        SeenRun {
            first_page,
            last_page,
            is_certain,
            seen: Sighting { rank, recordings },
        }
    }

    #[test]
    fn runs_are_laid_over_each_other() {
        let late = MOMENT + 5;
        let cases: &[(&str, Vec<SeenRun>, Vec<SeenRun>)] = &[
            ("nothing", vec![], vec![]),
            (
                "the same twice",
                vec![run(3, 5, true, 4, 1), run(3, 5, true, 8, 2)],
                vec![run(3, 5, true, 8, 3)],
            ),
            (
                "certain in one is certain, ranked by that, counted by all",
                vec![run(0, 9, false, 0, 1), run(4, 4, true, late, 1)],
                vec![
                    run(0, 3, false, 0, 1),
                    run(4, 4, true, late, 2),
                    run(5, 9, false, 0, 1),
                ],
            ),
            (
                "certain pages of other counts stay apart, with a gap between",
                vec![
                    run(0, 3, true, 0, 1),
                    run(2, 5, true, 0, 1),
                    run(9, 9, true, 0, 1),
                ],
                vec![
                    run(0, 1, true, 0, 1),
                    run(2, 3, true, 0, 2),
                    run(4, 5, true, 0, 1),
                    run(9, 9, true, 0, 1),
                ],
            ),
            (
                "windows that only overlap are one",
                vec![run(0, 15, false, 1, 1), run(7, 22, false, 0, 1)],
                vec![run(0, 22, false, 0, 2)],
            ),
            (
                "also at different times; most recordings say when",
                vec![run(0, 15, false, late, 2), run(15, 30, false, 0, 1)],
                vec![run(0, 30, false, late, 3)],
            ),
            (
                "windows of another moment are not",
                vec![run(0, 15, false, 0, 1), run(16, 31, false, late, 1)],
                vec![run(0, 15, false, 0, 1), run(16, 31, false, late, 1)],
            ),
        ];
        for (what, runs, expected) in cases {
            assert_eq!(merged(runs.clone()), *expected, "{what}");
            let backwards = runs.iter().rev().copied().collect();
            assert_eq!(merged(backwards), *expected, "{what}, backwards");
        }
    }
}
