//! What an image would be like.

use crate::choice::START_TOLERANCE;

/// What is predicted of a candidate. Less is better everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// A cold start in seconds; without one to predict, reading everything. Of several devices the
    /// mean by their shares; so are the figures below that depend on the device.
    pub start_s: f64,
    /// The same on each device, in the order of the devices.
    pub device_starts_s: Vec<f64>,
    /// Which of the readaheads to choose from starts soonest: its place.
    pub readahead: usize,
    /// The start with each of them, in s.
    pub readahead_starts_s: Vec<f64>,
    /// The image, in bytes.
    pub size_bytes: u64,
    /// The standard error of that: it is off by less than twice as much in 95 of 100 cases.
    pub size_error_bytes: u64,
    /// Building it with the threads that were asked for, in seconds.
    pub build_s: f64,
    /// What building takes at most, in bytes.
    pub memory_bytes: u64,
    /// What the start leaves in the page cache, in bytes.
    pub page_cache_bytes: u64,
    /// Reads of the device.
    pub reads: u64,
    /// Bytes that they read.
    pub read_bytes: u64,
    /// Bytes that come out of the decompressor.
    pub decompressed_bytes: u64,
}

/// Figures that are traded for each other.
pub(crate) const TRADED: usize = 5;

impl Outcome {
    /// By how many times a start takes as long, on the device that loses most, as from the image
    /// that starts soonest there: 1 where that is this one.
    ///
    /// * `soonest_s`: of each device, the start from that image in s.
    pub fn largest_loss(&self, soonest_s: &[f64]) -> f64 {
        let devices = self.device_starts_s.iter().zip(soonest_s);
        let losses = devices.map(|(start_s, soonest_s)| start_s / soonest_s);
        losses.fold(1.0, f64::max)
    }

    /// The readahead to have: its place. That is the soonest, or the one that needs no setting if a
    /// start hardly takes longer with it.
    ///
    /// * `unset`: the place of the one that needs no setting, if there is one.
    pub fn advised_readahead(&self, unset: Option<usize>) -> usize {
        let start_s = |place: usize| self.readahead_starts_s.get(place);
        let is_near = |unset: &usize| {
            start_s(*unset).is_some_and(|it| *it <= self.start_s * (1.0 + START_TOLERANCE))
        };
        unset.filter(is_near).unwrap_or(self.readahead)
    }

    /// What is traded: start, size, build time, memory, page cache.
    #[expect(
        clippy::cast_precision_loss,
        reason = "they are compared within some percent"
    )]
    pub(crate) fn traded(&self) -> [f64; TRADED] {
        [
            self.start_s,
            self.size_bytes as f64,
            self.build_s,
            self.memory_bytes as f64,
            self.page_cache_bytes as f64,
        ]
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::Outcome;

    /// An outcome of which only the traded figures are told.
    pub(crate) fn outcome(
        start_s: f64,
        size_bytes: u64,
        build_s: f64,
        memory_bytes: u64,
        page_cache_bytes: u64,
    ) -> Outcome {
        Outcome {
            start_s,
            device_starts_s: vec![start_s],
            readahead: 0,
            readahead_starts_s: vec![start_s],
            size_bytes,
            size_error_bytes: 0,
            build_s,
            memory_bytes,
            page_cache_bytes,
            reads: 0,
            read_bytes: 0,
            decompressed_bytes: 0,
        }
    }

    #[test]
    fn a_readahead_is_advised_if_it_brings_something() {
        let outcome = |starts_s: [f64; 3], readahead: usize| Outcome {
            start_s: starts_s[readahead],
            readahead,
            readahead_starts_s: starts_s.to_vec(),
            ..outcome(0.0, 0, 0.0, 0, 0)
        };
        for (starts_s, soonest, unset, expected) in [
            ([5.8, 6.2, 7.6], 0, Some(2), 0),
            ([5.8, 6.2, 5.9], 0, Some(2), 2),
            ([5.8, 5.7, 5.9], 1, None, 1),
            ([5.8, 6.2, 5.7], 2, Some(2), 2),
        ] {
            let advised = outcome(starts_s, soonest).advised_readahead(unset);
            assert_eq!(advised, expected, "{starts_s:?}");
        }
    }
}
