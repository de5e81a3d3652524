//! One row of figures for each contestant: what the terminal, the report and the charts show.

use coldpress_history::Study;

use crate::standing::pairs;
use crate::stats::{Ratio, Summary, median, ratio};

/// The figures of one contestant. Excluded runs take no part in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Size of the image file, or of all files of a directory.
    pub size_bytes: Option<f64>,
    /// Number of runs that count.
    pub counted: usize,
    /// Number of runs that do not.
    pub excluded: usize,
    /// Cold starts, in seconds.
    pub cold_s: Option<Summary>,
    /// Warm starts, in seconds.
    pub warm_s: Option<Summary>,
    /// Median of the reads of a cold start.
    pub reads: Option<f64>,
    /// Median of the bytes read in a cold start.
    pub read_bytes: Option<f64>,
    /// Memory that the files of the mount occupy after both starts.
    pub page_cache_bytes: Option<f64>,
    /// The comparison with the baseline; `None` in the row of the baseline.
    pub versus: Option<Versus>,
}

/// A contestant divided by the baseline: below 1 is better in every field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Versus {
    /// Median cold start.
    pub cold: Option<Ratio>,
    /// Median warm start.
    pub warm: Option<Ratio>,
    /// Size of the image.
    pub size: Option<f64>,
    /// Reads of a cold start.
    pub reads: Option<f64>,
    /// Bytes read in a cold start.
    pub read_bytes: Option<f64>,
    /// Memory occupied after both starts.
    pub page_cache: Option<f64>,
}

/// The figures of every contestant, in their order; the first one is the baseline.
///
/// # Cost
///
/// Four bootstraps for each contestant ([`Summary::new`], [`ratio`]), of some milliseconds each
/// for ten turns.
pub fn rows(study: &Study) -> Vec<Row> {
    let mut rows: Vec<Row> = (0..study.contestants.len())
        .map(|index| row(study, index))
        .collect();
    if let Some((baseline, others)) = rows.split_first_mut() {
        for (index, other) in others.iter_mut().enumerate() {
            let times = |figure: &str| ratio(&pairs(study, figure, 0, index + 1));
            other.versus = Some(Versus {
                cold: times("cold_s"),
                warm: times("warm_s"),
                size: quotient(other.size_bytes, baseline.size_bytes),
                reads: quotient(other.reads, baseline.reads),
                read_bytes: quotient(other.read_bytes, baseline.read_bytes),
                page_cache: quotient(other.page_cache_bytes, baseline.page_cache_bytes),
            });
        }
    }
    rows
}

fn row(study: &Study, index: usize) -> Row {
    let contestant = &study.contestants[index];
    let counted = study.counted(index).count();
    let all = study.runs.iter().filter(|run| run.contestant == index);
    let median_of = |figure: &str| median(&study.values(index, figure));
    Row {
        name: contestant.name.clone(),
        size_bytes: contestant.figures.get("size_bytes").copied(),
        counted,
        excluded: all.count() - counted,
        cold_s: Summary::new(&study.values(index, "cold_s")),
        warm_s: Summary::new(&study.values(index, "warm_s")),
        reads: median_of("reads"),
        read_bytes: median_of("read_bytes"),
        page_cache_bytes: median_of("page_cache_bytes"),
        versus: None,
    }
}

fn quotient(other: Option<f64>, baseline: Option<f64>) -> Option<f64> {
    let (other, baseline) = (other?, baseline?);
    (baseline != 0.0).then(|| other / baseline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::stats::Verdict;

    #[test]
    fn a_contestant_is_compared_with_the_baseline_turn_by_turn() {
        let rows = rows(&example::study(&["plain", "ordered"], 10));
        assert_eq!(rows[0].versus, None);
        let versus = rows[1].versus.expect("the second is compared");
        let cold = versus.cold.expect("times");
        assert_eq!((cold.verdict, cold.turns), (Verdict::Faster, 10));
        assert_eq!(versus.size, Some(336.0 / 326.0));
    }

    #[test]
    fn an_excluded_run_takes_its_turn_out_of_the_ratio_and_itself_out_of_the_row() {
        let mut study = example::study(&["plain", "ordered"], 10);
        let mut runs = study.runs.iter_mut();
        let run = runs.find(|run| run.contestant == 0).expect("a run");
        run.excluded = Some("the command exceeded its time limit".to_owned());
        run.figures.insert("cold_s".to_owned(), 1e9);
        let rows = rows(&study);
        assert_eq!([rows[0].counted, rows[0].excluded], [9, 1]);
        assert_eq!([rows[1].counted, rows[1].excluded], [10, 0]);
        assert!(rows[0].cold_s.expect("times").max < 1e3);
        let versus = rows[1].versus.expect("compared");
        assert_eq!(versus.cold.expect("times").turns, 9);
    }

    #[test]
    fn nothing_is_divided_by_nothing() {
        for (other, baseline, expected) in [
            (Some(3.0), Some(2.0), Some(1.5)),
            (Some(3.0), Some(0.0), None),
            (None, Some(2.0), None),
            (Some(3.0), None, None),
        ] {
            assert_eq!(quotient(other, baseline), expected);
        }
    }
}
