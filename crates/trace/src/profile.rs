//! A profile: what several recorded starts touched first, in one order.

mod first;
mod fold;
mod line;
mod merge;
mod pages;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Access, Event, Trace};
use crate::header::Header;
use crate::working_set::{WorkingSet, listed};

/// The first half of the BLAKE3 hash of a file's content, as `b3sum --length 16` prints it.
///
/// Half is enough: it finds a file again that was moved, it does not guard against forgery.
pub type ContentHash = [u8; 16];

/// What the starts of one program touched, of one recording or merged of several.
///
/// It is made of a trace by `From`, of several by [`Profile::merge`], of profiles by
/// [`Profile::combine`]; the text file is described in docs/profile-format.md.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// How many recordings it was made of, at least 1; 0 only of a profile of nothing, which
    /// cannot be written.
    pub recordings: u32,
    /// What the recordings said of themselves.
    pub header: Header,
    /// First accesses, in the order of the start.
    ///
    /// An access implies the lookup of its path and the search in the directory above, as in a
    /// trace: what is implied by the next step, and was seen by as many recordings, is no step.
    /// Runs of pages may overlap: a page counts where it is first certain, else where it stands
    /// first.
    pub steps: Vec<Step>,
    /// What the files were that were read, by path, as far as it is known.
    pub files: BTreeMap<Vec<u8>, FileIdentity>,
}

/// The first access to something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What was accessed. Pages that were surely needed are a [`Access::Read`], those that may have
    /// been are a [`Access::Map`]; there is no [`Access::Fault`].
    pub access: Access,
    /// How many recordings accessed it: from 1 to [`Profile::recordings`].
    pub recordings: u32,
    /// Absolute path, raw bytes.
    pub path: Vec<u8>,
}

/// By what a file is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    /// Its length.
    pub size_bytes: u64,
    /// Its content, if that was hashed.
    pub hash: Option<ContentHash>,
}

impl Profile {
    /// The profile without what fewer than a share of the recordings touched.
    ///
    /// * `min_share`: 0 keeps everything, 1 what all recordings touched.
    #[must_use]
    pub fn at_least(&self, min_share: f64) -> Self {
        // Less than any two shares of 2^29 recordings differ: 0.7 of 10 recordings is 7.
        let least = (min_share - 1e-9) * f64::from(self.recordings);
        let is_common = |step: &&Step| f64::from(step.recordings) >= least;
        Self {
            steps: self.steps.iter().filter(is_common).cloned().collect(),
            ..self.clone()
        }
    }

    /// What the starts touched; ranks are places in [`Profile::steps`].
    ///
    /// The working set of the profile of one trace has the order of that of the trace.
    ///
    /// * `min_share`: see [`at_least`](Self::at_least).
    ///
    /// # Cost
    ///
    /// O(n log n) in the number of steps.
    pub fn working_set(&self, min_share: f64) -> WorkingSet {
        self.at_least(min_share).all_touched()
    }

    /// The working set of everything.
    fn all_touched(&self) -> WorkingSet {
        touched(&self.steps)
    }

    /// The files whose data was accessed, by path.
    pub fn data_paths(&self) -> BTreeSet<&[u8]> {
        let reads = self.steps.iter();
        let reads = reads.filter(|step| step.access.pages().is_some());
        reads.map(|step| step.path.as_slice()).collect()
    }

    /// Notes the length and the content of the files whose data was accessed.
    ///
    /// * `identify`: is asked for each of them once, by path. What it does not know stays as it is.
    pub fn fill(&mut self, mut identify: impl FnMut(&[u8]) -> Option<(u64, Option<ContentHash>)>) {
        let known = self.data_paths().into_iter().filter_map(|path| {
            let (size_bytes, hash) = identify(path)?;
            Some((path.to_vec(), FileIdentity { size_bytes, hash }))
        });
        let known: Vec<_> = known.collect();
        self.files.extend(known);
    }
}

/// What steps touched; ranks are places in them.
fn touched(steps: &[Step]) -> WorkingSet {
    let event = |(step, time_us): (&Step, u64)| Event {
        time_us,
        pid: 0,
        access: step.access,
        path: step.path.clone(),
    };
    let trace = Trace {
        header: Header::default(),
        events: steps.iter().zip(0..).map(event).collect(),
    };
    trace.working_set()
}

/// Leaves out what the next step implies and as many recordings saw, and makes one step of runs of
/// pages each of which goes on where the one before it ended.
fn reduced(steps: Vec<Step>) -> Vec<Step> {
    // Backwards: what is left out cannot imply what stood before it.
    let mut kept: Vec<Step> = Vec::new();
    for step in steps.into_iter().rev() {
        match kept.last_mut() {
            Some(next) if is_implied(&step, next) => {}
            Some(next) => match followed(&step, next) {
                Some(access) => next.access = access,
                None => kept.push(step),
            },
            None => kept.push(step),
        }
    }
    kept.reverse();
    kept
}

/// Whether the next step says what a step does.
fn is_implied(step: &Step, next: &Step) -> bool {
    let is_told = match step.access {
        Access::Lookup => next.path == step.path,
        Access::List => listed(next.access, &next.path).any(|path| path == step.path),
        _ => false,
    };
    is_told && next.recordings == step.recordings
}

/// Both accesses as one, if the second goes on where the first ended.
fn followed(step: &Step, next: &Step) -> Option<Access> {
    let ((first, last), (next_first, next_last)) = (step.access.pages()?, next.access.pages()?);
    let is_certain = step.access.is_certain();
    let goes_on = last.checked_add(1) == Some(next_first)
        && is_certain == next.access.is_certain()
        && step.recordings == next.recordings
        && step.path == next.path;
    goes_on.then(|| Access::of_pages(first, next_last, is_certain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(access: Access, recordings: u32, path: &str) -> Step {
        Step {
            access,
            recordings,
            path: path.as_bytes().to_vec(),
        }
    }

    #[test]
    fn a_share_of_the_recordings_is_exact() {
        let count = 10;
        let profile = Profile {
            recordings: count,
            steps: (1..=count)
                .map(|it| step(Access::Lookup, it, "/"))
                .collect(),
            ..Profile::default()
        };
        for tenths in 0..=count {
            let kept = profile.at_least(f64::from(tenths) / 10.0).steps;
            let expected = count - tenths.max(1) + 1;
            assert_eq!(kept.len(), expected as usize, "{tenths}");
        }
    }

    #[test]
    fn only_runs_of_one_kind_that_follow_each_other_are_joined() {
        let steps = [
            step(Access::of_pages(0, 3, true), 2, "/a"),
            step(Access::of_pages(4, 4, true), 2, "/a"),
            step(Access::of_pages(5, 6, false), 2, "/a"),
            step(Access::of_pages(7, 7, false), 1, "/a"),
            step(Access::of_pages(8, 8, false), 1, "/b"),
            step(Access::List, 1, "/c"),
            step(Access::of_pages(9, 9, false), 1, "/b"),
            step(Access::of_pages(11, 12, false), 1, "/b"),
        ];
        let expected = [
            &[step(Access::of_pages(0, 4, true), 2, "/a")][..],
            &steps[2..],
        ];
        assert_eq!(reduced(steps.to_vec()), expected.concat());
    }

    #[test]
    fn what_the_next_step_says_is_no_step() {
        let lookup = |recordings, path| step(Access::Lookup, recordings, path);
        let list = |recordings, path| step(Access::List, recordings, path);
        let read = |recordings, path| step(Access::of_pages(0, 0, true), recordings, path);
        let cases = [
            (vec![lookup(1, "/a"), read(1, "/a")], &[1][..]),
            (vec![lookup(2, "/a"), read(1, "/a")], &[0, 1]),
            (vec![lookup(1, "/a"), read(1, "/b")], &[0, 1]),
            (
                vec![list(1, "/a"), lookup(1, "/a/b"), read(1, "/a/b")],
                &[2],
            ),
            (
                vec![list(1, "/a"), lookup(2, "/a/b"), read(1, "/a/b")],
                &[0, 1, 2],
            ),
            // That the directory itself was looked up is said by nothing but its own step.
            (
                vec![lookup(1, "/a"), list(1, "/a"), lookup(1, "/a/b")],
                &[0, 2],
            ),
            (
                vec![lookup(1, "/a"), list(1, "/a"), lookup(1, "/b")],
                &[1, 2],
            ),
        ];
        for (steps, kept) in cases {
            let expected: Vec<_> = kept.iter().map(|&it: &usize| steps[it].clone()).collect();
            assert_eq!(reduced(steps), expected);
        }
    }

    #[test]
    fn files_are_asked_for_once_and_what_is_not_known_stays() {
        let identity = |size_bytes| FileIdentity {
            size_bytes,
            hash: None,
        };
        let mut profile = Profile {
            recordings: 1,
            steps: vec![
                step(Access::of_pages(0, 0, true), 1, "/b"),
                step(Access::Lookup, 1, "/c"),
                step(Access::of_pages(0, 0, true), 1, "/a"),
                step(Access::of_pages(3, 3, true), 1, "/b"),
            ],
            files: BTreeMap::from([(b"/a".to_vec(), identity(1))]),
            ..Profile::default()
        };
        let mut asked = Vec::new();
        profile.fill(|path| {
            asked.push(path.to_vec());
            (path == b"/b").then_some((7, None))
        });
        assert_eq!(asked, [b"/a", b"/b"]);
        let files = [(b"/a".to_vec(), identity(1)), (b"/b".to_vec(), identity(7))];
        assert_eq!(profile.files, BTreeMap::from(files));
    }
}
