//! A build study summed up, from its study alone: also one that was kept, or published.

use coldpress_history::{Contestant, Study};
use serde::Serialize;

use crate::pareto::pareto_front;
use crate::stats::{Summary, median};

/// A contestant that made images.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BuildRow {
    /// Index of the contestant.
    pub contestant: usize,
    /// Its name.
    pub name: String,
    /// Runs that count.
    pub counted: usize,
    /// Runs that do not.
    pub excluded: usize,
    /// Wall time; `None` if no run counts.
    pub build_s: Option<Summary>,
    /// Processor time by wall time: median.
    pub used_cores: Option<f64>,
    /// The image: median, which differs from run to run with few tools.
    pub size_bytes: Option<f64>,
    /// The image in percent of the content: median.
    pub size_percent: Option<f64>,
    /// The largest resident set: median.
    pub peak_memory_bytes: Option<f64>,
    /// The median time of the fastest way to unpack the image.
    pub unpack_s: Option<f64>,
    /// Whether no other contestant makes images as fast, as small and as fast to unpack, and is
    /// better in one.
    pub is_on_front: bool,
}

/// A contestant that unpacked images.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnpackRow {
    /// Index of the contestant.
    pub contestant: usize,
    /// Its name.
    pub name: String,
    /// Runs that count.
    pub counted: usize,
    /// Runs that do not.
    pub excluded: usize,
    /// Wall time; `None` if no run counts.
    pub unpack_s: Option<Summary>,
    /// Processor time by wall time: median.
    pub used_cores: Option<f64>,
    /// The largest resident set: median.
    pub peak_memory_bytes: Option<f64>,
}

/// The contestants of a build study that made images, those on the Pareto front of `build_s`,
/// `size_bytes` and `unpack_s` marked; what no contestant has does not decide.
///
/// The front is that of the medians: who is behind by less than runs differ may be on it in the
/// next study.
///
/// # Cost
///
/// A [`Summary`] for each.
pub fn build_rows(study: &Study) -> Vec<BuildRow> {
    let of = |contestant: usize, figure| median(&study.values(contestant, figure));
    let mut rows: Vec<BuildRow> = contestants(study, false)
        .map(|(contestant, made)| BuildRow {
            contestant,
            name: made.name.clone(),
            counted: study.counted(contestant).count(),
            excluded: excluded(study, contestant),
            build_s: Summary::new(&study.values(contestant, "build_s")),
            used_cores: of(contestant, "used_cores"),
            size_bytes: of(contestant, "size_bytes"),
            size_percent: of(contestant, "size_percent"),
            peak_memory_bytes: of(contestant, "peak_memory_bytes"),
            unpack_s: contestants(study, true)
                .filter(|(_, unpacked)| is_same_image(made, unpacked))
                .filter_map(|(contestant, _)| of(contestant, "unpack_s"))
                .min_by(f64::total_cmp),
            is_on_front: false,
        })
        .collect();
    let coordinates = |row: &BuildRow| {
        let build_s = row.build_s.map(|summary| summary.median);
        [build_s, row.size_bytes, row.unpack_s]
    };
    let points: Vec<_> = rows.iter().map(coordinates).collect();
    // Not 0 for one that misses what others have: it would win.
    let missing = [0, 1, 2].map(|index| {
        let is_known = points
            .iter()
            .any(|point: &[Option<f64>; 3]| point[index].is_some());
        if is_known { f64::NAN } else { 0.0 }
    });
    let points: Vec<_> = points
        .iter()
        .map(|point| [0, 1, 2].map(|index| point[index].unwrap_or(missing[index])))
        .collect();
    for (row, is_on_front) in rows.iter_mut().zip(pareto_front(&points)) {
        row.is_on_front = is_on_front;
    }
    rows
}

/// The contestants of a build study that unpacked images.
///
/// # Cost
///
/// A [`Summary`] for each.
pub fn unpack_rows(study: &Study) -> Vec<UnpackRow> {
    let of = |contestant: usize, figure| median(&study.values(contestant, figure));
    contestants(study, true)
        .map(|(contestant, unpacked)| UnpackRow {
            contestant,
            name: unpacked.name.clone(),
            counted: study.counted(contestant).count(),
            excluded: excluded(study, contestant),
            unpack_s: Summary::new(&study.values(contestant, "unpack_s")),
            used_cores: of(contestant, "used_cores"),
            peak_memory_bytes: of(contestant, "peak_memory_bytes"),
        })
        .collect()
}

/// Those that unpack, or those that do not.
fn contestants(study: &Study, unpack: bool) -> impl Iterator<Item = (usize, &Contestant)> {
    let all = study.contestants.iter().enumerate();
    all.filter(move |(_, contestant)| contestant.facts.contains_key("unpacker") == unpack)
}

fn excluded(study: &Study, contestant: usize) -> usize {
    let runs = study.runs.iter().filter(|run| run.contestant == contestant);
    runs.filter(|run| run.excluded.is_some()).count()
}

fn is_same_image(one: &Contestant, other: &Contestant) -> bool {
    let figure = |contestant: &Contestant| contestant.figures.get("block_size_bytes").copied();
    let facts = ["tool", "compressor", "level"];
    facts
        .iter()
        .all(|fact| one.facts.get(*fact) == other.facts.get(*fact))
        && figure(one) == figure(other)
}

#[cfg(test)]
mod tests;
