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
    /// Whether no other contestant makes images as fast, as small and as fast to unpack, and is better in one.
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

/// The contestants of a build study that made images, those on the Pareto front of `build_s`, `size_bytes` and
/// `unpack_s` marked; what no contestant has does not decide.
///
/// The front is that of the medians: who is behind by less than runs differ may be on it in the next study.
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
mod tests {
    use coldpress_history::{Facts, Figures, Kind, Origin, Run, State};

    use super::*;

    fn contestant(name: &str, tool: &str, unpacker: Option<&str>) -> Contestant {
        let mut facts = Facts::from([("tool".to_owned(), tool.to_owned())]);
        facts.extend(unpacker.map(|name| ("unpacker".to_owned(), name.to_owned())));
        Contestant {
            name: name.to_owned(),
            facts,
            figures: Figures::new(),
        }
    }

    fn run(contestant: usize, figures: &[(&str, f64)]) -> Run {
        Run {
            contestant,
            turn: 0,
            excluded: figures.is_empty().then(|| "it failed".to_owned()),
            figures: figures
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
        }
    }

    fn study(contestants: Vec<Contestant>, runs: Vec<Run>) -> Study {
        Study {
            kind: Kind::Build,
            title: String::new(),
            began_unix_ms: 0,
            origin: Origin::Measured,
            state: State::Done,
            facts: Facts::new(),
            contestants,
            runs,
        }
    }

    #[test]
    fn a_row_has_medians_and_the_fastest_way_to_unpack_its_image() {
        let contestants = vec![
            contestant("a", "a", None),
            contestant("b", "b", None),
            contestant("c", "c", None),
            contestant("u of a", "a", Some("u")),
            contestant("v of a", "a", Some("v")),
            contestant("u of b", "b", Some("u")),
        ];
        let runs = vec![
            run(0, &[("build_s", 1.0), ("size_bytes", 10.0)]),
            run(0, &[("build_s", 3.0), ("size_bytes", 10.0)]),
            run(1, &[("build_s", 3.0), ("size_bytes", 10.0)]),
            run(2, &[]),
            run(3, &[("unpack_s", 5.0)]),
            run(4, &[("unpack_s", 4.0)]),
            run(5, &[("unpack_s", 4.5)]),
        ];
        let study = study(contestants, runs);
        let rows = build_rows(&study);
        let summary: Vec<_> = rows
            .iter()
            .map(|row| {
                let build_s = row.build_s.map(|summary| summary.median);
                (
                    build_s,
                    row.unpack_s,
                    row.counted,
                    row.excluded,
                    row.is_on_front,
                )
            })
            .collect();
        assert_eq!(
            summary,
            [
                (Some(2.0), Some(4.0), 2, 0, true),
                (Some(3.0), Some(4.5), 1, 0, false),
                (None, None, 0, 1, false),
            ]
        );
        let unpacks: Vec<_> = unpack_rows(&study)
            .into_iter()
            .map(|row| row.name)
            .collect();
        assert_eq!(unpacks, ["u of a", "v of a", "u of b"]);
    }

    #[test]
    fn without_unpacking_time_and_size_make_the_front() {
        let contestants = ["fast", "small", "neither"].map(|name| contestant(name, name, None));
        let runs = [(1.0, 9.0), (9.0, 1.0), (9.0, 9.0)];
        let runs = runs
            .iter()
            .enumerate()
            .map(|(index, (build_s, size_bytes))| {
                run(index, &[("build_s", *build_s), ("size_bytes", *size_bytes)])
            });
        let rows = build_rows(&study(contestants.to_vec(), runs.collect()));
        let front: Vec<_> = rows.iter().map(|row| row.is_on_front).collect();
        assert_eq!(front, [true, true, false]);
    }
}
