//! The profile of one trace: its events without those that touch nothing new.

use std::collections::{BTreeMap, HashSet};

use super::fold::folded;
use super::{Profile, Step, reduced};
use crate::event::{Access, Trace};
use crate::header::Header;
use crate::working_set::{PageRun, parent};

impl From<&Trace> for Profile {
    /// The profile of one recording.
    ///
    /// # Cost
    ///
    /// O(n log n) in the number of events.
    fn from(trace: &Trace) -> Self {
        let fields = trace.header.fields.iter();
        // A profile says itself of how many recordings it is.
        let fields = fields.filter(|(key, _)| key != super::text::RECORDINGS);
        Self {
            recordings: 1,
            header: Header {
                fields: fields.cloned().collect(),
            },
            steps: folded(reduced(first_accesses(trace))),
            files: BTreeMap::new(),
        }
    }
}

/// What was touched for the first time, by event: the listing above, the inode, the listing or the
/// pages.
fn first_accesses(trace: &Trace) -> Vec<Step> {
    let set = trace.working_set();
    let mut runs: Vec<&PageRun> = set.files.iter().flat_map(|file| &file.pages).collect();
    runs.sort_unstable_by_key(|run| (run.rank, run.first_page));
    let mut runs = runs.into_iter().peekable();
    let (mut looked_up, mut searched) = (HashSet::new(), HashSet::new());
    let mut steps = Vec::new();
    for (event, rank) in trace.events.iter().zip(0..) {
        let path = event.path.as_slice();
        let mut push = |access, path: &[u8]| {
            steps.push(Step {
                access,
                recordings: 1,
                path: path.to_vec(),
            });
        };
        if let Some(directory) = parent(path).filter(|directory| searched.insert(*directory)) {
            push(Access::List, directory);
        }
        if looked_up.insert(path) {
            push(Access::Lookup, path);
        }
        if event.access == Access::List && searched.insert(path) {
            push(Access::List, path);
        }
        while let Some(run) = runs.next_if(|run| run.rank == rank) {
            push(
                Access::of_pages(run.first_page, run.last_page, run.certain),
                path,
            );
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_reduced_to_what_is_new() {
        let trace = Trace::parse(
            b"coldpress-trace 1\n\
              # recordings: 9\n\
              # kernel: 6.18\n\
              0 1 D /\n\
              0 1 L /usr\n\
              0 1 L /usr/a\n\
              1 1 R 0-1 /usr/a\n\
              2 1 F 9 /usr/a\n\
              2 1 M 0-15 /usr/a\n\
              3 1 F 10 /usr/a\n\
              4 2 L /usr/a\n\
              4 2 R 0-3 /usr/a\n\
              5 2 M 0-0 /b\n\
              5 2 R 0-0 /b\n\
              6 2 D /usr\n",
        )
        .expect("it is a trace");
        let profile = Profile::from(&trace);
        let mut text = Vec::new();
        profile.write(&mut text).expect("it can be written");
        let expected = "coldpress-profile 1\n\
                        # recordings: 1\n\
                        # kernel: 6.18\n\
                        L /\n\
                        L /usr\n\
                        R 0-1,9,4-15?,10,2-3 /usr/a\n\
                        R 0 /b\n";
        assert_eq!(String::from_utf8(text).as_deref(), Ok(expected));
    }
}
