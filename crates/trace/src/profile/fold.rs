//! Windows around faults as one run each.
//!
//! A fault needs one page, and the kernel maps those around it: what is new of the window are two
//! runs or more, apart from each other by pages that were touched before or will surely be needed.
//! One run that reaches over these says the same, and makes the profile of a large program half as
//! long.

use std::collections::HashMap;

use super::{Step, touched};
use crate::event::Access;
use crate::working_set::FileAccess;

/// Makes one step of runs that are not certain and are apart by pages that count elsewhere.
pub(super) fn folded(steps: Vec<Step>) -> Vec<Step> {
    let set = touched(&steps);
    let files = set.files.iter().map(|file| (file.path.as_slice(), file));
    let files: HashMap<&[u8], &FileAccess> = files.collect();
    let mut folded: Vec<Step> = Vec::with_capacity(steps.len());
    for (step, rank) in steps.into_iter().zip(0..) {
        let file = files.get(step.path.as_slice());
        match folded.last_mut().filter(|last| last.path == step.path) {
            Some(last) if file.is_some_and(|file| is_window(last, &step, rank, file)) => {
                if let Some(((first, _), (_, end))) = last.access.pages().zip(step.access.pages()) {
                    last.access = Access::of_pages(first, end, false);
                    last.recordings = last.recordings.max(step.recordings);
                }
            }
            _ => folded.push(step),
        }
    }
    folded
}

/// Whether a run and the next one are parts of a window: all pages between them are certain, or
/// were touched before.
///
/// * `rank`: the place of the next run in the steps.
fn is_window(run: &Step, next: &Step, rank: u64, file: &FileAccess) -> bool {
    let (Some((_, end)), Some((begin, _))) = (run.access.pages(), next.access.pages()) else {
        return false;
    };
    if run.access.is_certain() || next.access.is_certain() || begin <= end {
        return false;
    }
    let mut between = end + 1;
    if between < begin {
        for known in file.runs(between..=begin - 1) {
            let counts_elsewhere = known.certain || known.rank < rank;
            if known.first_page > between || !counts_elsewhere {
                return false;
            }
            between = known.last_page.saturating_add(1);
        }
    }
    between >= begin
}
