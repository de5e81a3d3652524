//! What a start asks for, in order.

use std::collections::HashMap;

use coldpress_trace::{Access, Profile, Trace};

use crate::device::as_f64;
use crate::geometry::{Geometry, InodeGeometryKind};

/// What a start asks for, and what the program takes besides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccessSequence {
    /// Absolute paths, each once, in the order of their first access.
    pub paths: Vec<Vec<u8>>,
    /// Accesses, in their order.
    pub steps: Vec<AccessStep>,
    /// What the program takes when it waits for nothing: a warm start, in s.
    pub compute_s: f64,
}

/// One access.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessStep {
    /// What was accessed.
    pub access: Access,
    /// The path, in [`AccessSequence::paths`].
    pub path: usize,
    /// The thread that asks; 0 if unknown. Waits of different threads overlap.
    pub pid: u32,
    /// The part of [`AccessSequence::compute_s`] that passes before it.
    pub compute_share: f64,
}

impl AccessSequence {
    /// The accesses of one recorded start. What the program takes is spread over them as the time
    /// of the recording was.
    ///
    /// * `compute_s`: what the program takes when it waits for nothing.
    pub fn of_trace(trace: &Trace, compute_s: f64) -> Self {
        let whole_us = trace.events.last().map_or(0, |event| event.time_us);
        let mut sequence = Collector::new(compute_s);
        let mut before_us = 0;
        for event in &trace.events {
            let share = if whole_us == 0 {
                1.0 / as_f64(trace.events.len() as u64)
            } else {
                as_f64(event.time_us.saturating_sub(before_us)) / as_f64(whole_us)
            };
            before_us = event.time_us;
            sequence.push(event.access, &event.path, event.pid, share);
        }
        sequence.sequence
    }

    /// What several recordings have in common, as one thread that needs it in the order of the
    /// profile.
    ///
    /// * `min_share`: accesses that fewer of the recordings made are left out.
    /// * `compute_s`: as of [`AccessSequence::of_trace`]; it is spread evenly.
    pub fn of_profile(profile: &Profile, min_share: f64, compute_s: f64) -> Self {
        let common = profile.at_least(min_share);
        let share = 1.0 / as_f64(common.steps.len().max(1) as u64);
        let mut sequence = Collector::new(compute_s);
        for step in &common.steps {
            sequence.push(step.access, &step.path, 0, share);
        }
        sequence.sequence
    }

    /// Everything in an image: each listing, and each file from its beginning to its end, in the
    /// order of the paths, by a program that takes no time itself.
    pub fn of_everything(geometry: &Geometry) -> Self {
        let mut names: Vec<_> = geometry.names.iter().collect();
        names.sort_unstable_by_key(|(path, _)| *path);
        let mut sequence = Collector::new(0.0);
        for (path, name) in names {
            let kind = geometry.places.get(name.place).map(|place| &place.kind);
            let access = match kind {
                Some(InodeGeometryKind::Directory(_)) => Access::List,
                Some(InodeGeometryKind::File(file)) if file.size_bytes > 0 => Access::Read {
                    first_page: 0,
                    last_page: file.page_count() - 1,
                },
                _ => Access::Lookup,
            };
            sequence.push(access, path, 0, 0.0);
        }
        sequence.sequence
    }
}

/// A sequence while its paths are numbered.
struct Collector<'a> {
    sequence: AccessSequence,
    known: HashMap<&'a [u8], usize>,
}

impl<'a> Collector<'a> {
    fn new(compute_s: f64) -> Self {
        Self {
            sequence: AccessSequence {
                compute_s,
                ..AccessSequence::default()
            },
            known: HashMap::new(),
        }
    }

    fn push(&mut self, access: Access, path: &'a [u8], pid: u32, compute_share: f64) {
        let next = self.sequence.paths.len();
        let number = *self.known.entry(path).or_insert(next);
        if number == next {
            self.sequence.paths.push(path.to_vec());
        }
        self.sequence.steps.push(AccessStep {
            access,
            path: number,
            pid,
            compute_share,
        });
    }
}

#[cfg(test)]
mod tests {
    use coldpress_trace::Event;

    use super::*;

    #[test]
    fn a_trace_gives_its_paths_once_and_its_time_as_shares() {
        let event = |time_us, path: &str| Event {
            time_us,
            pid: 7,
            access: Access::Lookup,
            path: path.as_bytes().to_vec(),
        };
        let trace = Trace {
            events: vec![event(0, "/a"), event(30, "/b"), event(120, "/a")],
            ..Trace::default()
        };
        let sequence = AccessSequence::of_trace(&trace, 2.0);
        assert_eq!(sequence.paths, [b"/a", b"/b"]);
        let steps: Vec<_> = sequence
            .steps
            .iter()
            .map(|step| (step.path, step.compute_share))
            .collect();
        assert_eq!(steps, [(0, 0.0), (1, 0.25), (0, 0.75)]);
        let profile = AccessSequence::of_profile(&Profile::from(&trace), 0.0, 2.0);
        assert_eq!(profile.paths, sequence.paths);
        assert!(profile.steps.iter().all(|step| step.pid == 0));
        assert_eq!(AccessSequence::of_trace(&Trace::default(), 1.0).steps, []);
    }
}
