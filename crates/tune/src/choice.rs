//! The one to build.

use crate::candidate::Candidate;
use crate::front::differs;
use crate::outcome::Outcome;

/// Starts that differ by less are called equal: less than a measurement shows in ten turns.
pub(crate) const START_TOLERANCE: f64 = 0.03;
/// Images whose sizes differ by less are called equal.
const SIZE_TOLERANCE: f64 = 0.005;

/// What an image may be at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// The image, in bytes.
    pub size_bytes: Option<u64>,
    /// Building it, in seconds.
    pub build_s: Option<f64>,
    /// What building takes, in bytes.
    pub memory_bytes: Option<u64>,
    /// What the start leaves in the page cache, in bytes.
    pub page_cache_bytes: Option<u64>,
}

/// Why there is nothing to choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unmet {
    /// There is no candidate at all.
    Nothing,
    /// None is as small as this; the least is this many bytes.
    Size(u64),
    /// None is built as soon; the least is this many seconds.
    Build(f64),
    /// None is built with as little memory; the least is this many bytes.
    Memory(u64),
    /// None leaves as little in the page cache; the least is this many bytes.
    PageCache(u64),
    /// Each limit can be kept, all of them together cannot.
    Together,
}

/// What the choice is to make small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The start; of several devices the mean by their shares.
    #[default]
    ExpectedStart,
    /// The largest loss: by how much a start takes longer on a device, as a part of it, than from
    /// the image that starts soonest there.
    LargestLoss,
}

/// A candidate and what it would give.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Whose default it is, if it stands there to be compared with.
    pub tool: Option<&'static str>,
    /// The candidate.
    pub candidate: Candidate,
    /// What it would give.
    pub outcome: Outcome,
}

/// Chooses the row to build, of those that no tool has as its default.
///
/// That which starts soonest; of those that start as soon, the smallest; of those as small, the one
/// that leaves least in the page cache; then the first, which of a compressor has the lowest level.
/// A start that is faster by less than can be measured is not worth a byte. Build times are
/// measured, so they count only where they are limited: the choice is the same each time.
///
/// # Errors
///
/// The limit that none keeps.
pub fn recommend(rows: &[Row], limits: &Limits, goal: Goal) -> Result<usize, Unmet> {
    best(rows, limits, goal, |_| true).ok_or_else(|| unmet(rows, limits))
}

/// For each device the start from the image that starts soonest there, in s, of those that keep the
/// limits and are no tool's default.
pub fn soonest_starts_s(rows: &[Row], limits: &Limits) -> Vec<f64> {
    let may = |row: &&Row| row.tool.is_none() && keeps(&row.outcome, limits);
    let mut soonest_s: Vec<f64> = Vec::new();
    for row in rows.iter().filter(may) {
        let starts_s = &row.outcome.device_starts_s;
        soonest_s.resize(starts_s.len(), f64::INFINITY);
        for (soonest_s, start_s) in soonest_s.iter_mut().zip(starts_s) {
            *soonest_s = soonest_s.min(*start_s);
        }
    }
    soonest_s
}

/// What the choice stands beside, to say why it was made. All of them keep the limits but the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rivals {
    /// The best with another compressor.
    pub other_compressor: Option<usize>,
    /// The best with the same compressor and another block size.
    pub other_block_size: Option<usize>,
    /// What mksquashfs builds unless told otherwise, or the first of the tools.
    pub today: Option<usize>,
}

impl Rivals {
    /// Those of a row.
    pub fn of(chosen: usize, rows: &[Row], limits: &Limits, goal: Goal) -> Self {
        let Some(row) = rows.get(chosen) else {
            return Self {
                other_compressor: None,
                other_block_size: None,
                today: None,
            };
        };
        let (compressor, block_size) = (row.candidate.compressor(), row.candidate.block_size);
        Self {
            other_compressor: best(rows, limits, goal, |other| other.compressor() != compressor),
            other_block_size: best(rows, limits, goal, |other| {
                other.compressor() == compressor && other.block_size != block_size
            }),
            today: rows.iter().position(|row| row.tool.is_some()),
        }
    }
}

fn best(
    rows: &[Row],
    limits: &Limits,
    goal: Goal,
    is_meant: impl Fn(&Candidate) -> bool,
) -> Option<usize> {
    let may =
        |row: &Row| row.tool.is_none() && is_meant(&row.candidate) && keeps(&row.outcome, limits);
    let places = (0..rows.len()).filter(|&place| may(&rows[place]));
    let soonest_s = soonest_starts_s(rows, limits);
    let figure = |place: usize| {
        let outcome: &Outcome = &rows[place].outcome;
        match goal {
            Goal::ExpectedStart => outcome.start_s,
            Goal::LargestLoss => outcome.largest_loss(&soonest_s),
        }
    };
    let equal = least(places, START_TOLERANCE, figure);
    #[expect(clippy::cast_precision_loss, reason = "compared within some percent")]
    let size = |place: usize| rows[place].outcome.size_bytes as f64;
    let equal = least(equal.into_iter(), SIZE_TOLERANCE, size);
    let page_cache = |place: &usize| rows[*place].outcome.page_cache_bytes;
    equal.into_iter().min_by_key(page_cache)
}

/// The places with the least figure, and those that differ from it by too little to count.
fn least(
    places: impl Iterator<Item = usize>,
    tolerance: f64,
    figure: impl Fn(usize) -> f64,
) -> Vec<usize> {
    let places: Vec<usize> = places.collect();
    let least = places
        .iter()
        .map(|&place| figure(place))
        .fold(f64::INFINITY, f64::min);
    let is_least = |place: &usize| differs(figure(*place), least, tolerance).is_le();
    places.into_iter().filter(is_least).collect()
}

fn keeps(outcome: &Outcome, limits: &Limits) -> bool {
    fn within<T: PartialOrd + Copy>(value: T, limit: Option<T>) -> bool {
        limit.is_none_or(|limit| value <= limit)
    }
    within(outcome.size_bytes, limits.size_bytes)
        && within(outcome.build_s, limits.build_s)
        && within(outcome.memory_bytes, limits.memory_bytes)
        && within(outcome.page_cache_bytes, limits.page_cache_bytes)
}

/// The limit that none keeps.
fn unmet(rows: &[Row], limits: &Limits) -> Unmet {
    let outcomes = || {
        rows.iter()
            .filter(|row| row.tool.is_none())
            .map(|row| &row.outcome)
    };
    let least = |figure: fn(&Outcome) -> u64| outcomes().map(figure).min();
    let (Some(size), Some(memory), Some(page_cache)) = (
        least(|outcome| outcome.size_bytes),
        least(|outcome| outcome.memory_bytes),
        least(|outcome| outcome.page_cache_bytes),
    ) else {
        return Unmet::Nothing;
    };
    let build_s = outcomes()
        .map(|outcome| outcome.build_s)
        .fold(f64::INFINITY, f64::min);
    if limits.size_bytes.is_some_and(|limit| limit < size) {
        Unmet::Size(size)
    } else if limits.build_s.is_some_and(|limit| limit < build_s) {
        Unmet::Build(build_s)
    } else if limits.memory_bytes.is_some_and(|limit| limit < memory) {
        Unmet::Memory(memory)
    } else if limits
        .page_cache_bytes
        .is_some_and(|limit| limit < page_cache)
    {
        Unmet::PageCache(page_cache)
    } else {
        Unmet::Together
    }
}

#[cfg(test)]
mod tests;
