//! What a start asks for, in order.

use coldpress_trace::{Access, Profile, Trace};

/// What a start asks for, and what the program takes besides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// Absolute paths, each once, in the order of their first access.
    pub paths: Vec<Vec<u8>>,
    /// Accesses, in their order.
    pub steps: Vec<DemandStep>,
    /// What the program takes when it waits for nothing: a warm start, in s.
    pub compute_s: f64,
}

/// One access.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DemandStep {
    /// What was accessed.
    pub access: Access,
    /// The path, in [`Demand::paths`].
    pub path: usize,
    /// The thread's process; 0 if unknown. Waits of different processes overlap.
    pub pid: u32,
    /// The part of [`Demand::compute_s`] that passes before it.
    pub compute_share: f64,
}

impl Demand {
    /// The accesses of one recorded start. What the program takes is spread over them as the recording's time was.
    ///
    /// * `compute_s`: what the program takes when it waits for nothing.
    pub fn of_trace(trace: &Trace, compute_s: f64) -> Self {
        todo!()
    }

    /// What several recordings have in common, as one process that needs it in the order of the profile.
    ///
    /// * `min_share`: accesses that fewer of the recordings made are left out.
    /// * `compute_s`: as of [`Demand::of_trace`]; it is spread evenly.
    pub fn of_profile(profile: &Profile, min_share: f64, compute_s: f64) -> Self {
        todo!()
    }

    /// Everything in an image, each file once from its beginning to its end, depth-first: what extracting it reads.
    pub fn of_everything(geometry: &crate::Geometry) -> Self {
        todo!()
    }
}
