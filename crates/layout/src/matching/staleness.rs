//! How much of a profile is not in a tree any more.

use coldpress_trace::PAGE_SIZE_BYTES;

use super::{Matched, Matching};

/// Paths and bytes of a profile, and those that are no longer there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Staleness {
    /// Distinct paths of steps.
    pub paths: u64,
    /// Those for which nothing was found.
    pub stale_paths: u64,
    /// Bytes of touched pages, certain or not; 4096 for each.
    pub bytes: u64,
    /// Those that are not there: their file was not found, or is shorter now.
    pub stale_bytes: u64,
}

impl Staleness {
    /// Stale paths of 100; 0 without paths.
    pub fn path_percent(&self) -> f64 {
        percent(self.stale_paths, self.paths)
    }

    /// Stale bytes of 100; 0 without bytes.
    pub fn byte_percent(&self) -> f64 {
        percent(self.stale_bytes, self.bytes)
    }

    /// The staleness of the profile: the larger one of both.
    pub fn percent(&self) -> f64 {
        self.path_percent().max(self.byte_percent())
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a digit behind the point is shown"
)]
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64 * 100.0
}

impl Matching {
    /// How much is no longer there.
    pub fn staleness(&self) -> Staleness {
        let pages = |of: fn(&Matched) -> u64| {
            let pages = self.paths.iter().map(of);
            pages.fold(0, u64::saturating_add)
        };
        let stale_paths = self.paths.iter().filter(|path| path.found.is_none());
        Staleness {
            paths: self.paths.len() as u64,
            stale_paths: stale_paths.count() as u64,
            bytes: pages(|path| path.touched_pages).saturating_mul(PAGE_SIZE_BYTES),
            stale_bytes: pages(|path| path.stale_pages).saturating_mul(PAGE_SIZE_BYTES),
        }
    }

    /// What is stale, wholly or in part: the most bytes first, then by path.
    pub fn stale(&self) -> Vec<&Matched> {
        let is_stale = |path: &&Matched| path.found.is_none() || path.stale_pages > 0;
        let mut stale: Vec<_> = self.paths.iter().filter(is_stale).collect();
        stale.sort_by_key(|path| std::cmp::Reverse(path.stale_pages));
        stale
    }
}
