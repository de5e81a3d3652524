//! One row of figures for each contestant: what the terminal, the report and the charts show.

use coldpress_report::units::as_f64;

use crate::comparison::Comparison;
use crate::run::Run;
use crate::stats::{Ratio, Summary, ratio};

/// The figures of one contestant. Excluded runs take no part in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Size of the image file.
    pub size_bytes: u64,
    /// Number of runs that count.
    pub counted: usize,
    /// Number of runs that do not.
    pub excluded: usize,
    /// Cold starts, in seconds.
    pub cold_s: Option<Summary>,
    /// Warm starts, in seconds.
    pub warm_s: Option<Summary>,
    /// Median of the reads of a cold start.
    pub reads: Option<u64>,
    /// Median of the bytes read in a cold start.
    pub read_bytes: Option<u64>,
    /// Memory that the files of the mount occupy after both starts.
    pub page_cache_bytes: Option<u64>,
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

impl Comparison {
    /// The figures of every contestant, in their order; the first one is the baseline.
    ///
    /// # Cost
    ///
    /// Four bootstraps for each contestant ([`Summary::new`], [`ratio`]), of some milliseconds each
    /// for ten turns.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = (0..self.contestants.len())
            .map(|index| self.row(index))
            .collect();
        if let Some((baseline, others)) = rows.split_first_mut() {
            for (index, other) in others.iter_mut().enumerate() {
                other.versus = Some(Versus {
                    cold: ratio(&self.pairs(index + 1, |run| run.cold_s)),
                    warm: ratio(&self.pairs(index + 1, |run| run.warm_s)),
                    size: quotient(Some(other.size_bytes), Some(baseline.size_bytes)),
                    reads: quotient(other.reads, baseline.reads),
                    read_bytes: quotient(other.read_bytes, baseline.read_bytes),
                    page_cache: quotient(other.page_cache_bytes, baseline.page_cache_bytes),
                });
            }
        }
        rows
    }

    /// The runs of one contestant that count, in the order of their turns.
    pub fn counted(&self, contestant: usize) -> impl Iterator<Item = &Run> {
        self.runs
            .iter()
            .filter(move |run| run.contestant == contestant && run.excluded.is_none())
    }

    /// The runs that do not count, of all contestants.
    pub fn excluded(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| run.excluded.is_some())
    }

    fn row(&self, index: usize) -> Row {
        let facts = &self.contestants[index];
        let times = |time: fn(&Run) -> Option<f64>| {
            Summary::new(&self.counted(index).filter_map(time).collect::<Vec<_>>())
        };
        let counts = |count: fn(&Run) -> Option<u64>| {
            median_count(self.counted(index).filter_map(count).collect())
        };
        Row {
            name: facts.name.clone(),
            size_bytes: facts.size_bytes,
            counted: self.counted(index).count(),
            excluded: self
                .excluded()
                .filter(|run| run.contestant == index)
                .count(),
            cold_s: times(|run| run.cold_s),
            warm_s: times(|run| run.warm_s),
            reads: counts(|run| run.reads),
            read_bytes: counts(|run| run.read_bytes),
            page_cache_bytes: counts(|run| run.page_cache_bytes),
            versus: None,
        }
    }

    /// One (baseline, other) for each turn in which both count.
    fn pairs(&self, other: usize, time_s: fn(&Run) -> Option<f64>) -> Vec<(f64, f64)> {
        let of_other = self.counted(other);
        let pair = |run: &Run| {
            let baseline = self.counted(0).find(|baseline| baseline.turn == run.turn)?;
            Some((time_s(baseline)?, time_s(run)?))
        };
        of_other.filter_map(pair).collect()
    }
}

fn median_count(mut counts: Vec<u64>) -> Option<u64> {
    counts.sort_unstable();
    let last = counts.len().checked_sub(1)?;
    Some(u64::midpoint(counts[last / 2], counts[last.div_ceil(2)]))
}

fn quotient(other: Option<u64>, baseline: Option<u64>) -> Option<f64> {
    match (other?, baseline?) {
        (_, 0) => None,
        (other, baseline) => Some(as_f64(other) / as_f64(baseline)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::run::Excluded;
    use crate::stats::Verdict;

    #[test]
    fn a_contestant_is_compared_with_the_baseline_turn_by_turn() {
        let comparison = example::comparison(&["plain", "ordered"], 10);
        let rows = comparison.rows();
        assert_eq!(rows[0].versus, None);
        let versus = rows[1].versus.expect("the second is compared");
        let cold = versus.cold.expect("times");
        assert_eq!((cold.verdict, cold.turns), (Verdict::Faster, 10));
        let size = as_f64(rows[1].size_bytes) / as_f64(rows[0].size_bytes);
        assert_eq!(versus.size, Some(size));
    }

    #[test]
    fn an_excluded_run_takes_its_turn_out_of_the_ratio_and_itself_out_of_the_row() {
        let mut comparison = example::comparison(&["plain", "ordered"], 10);
        let run = comparison
            .runs
            .iter_mut()
            .find(|run| run.contestant == 0)
            .expect("a run");
        run.excluded = Some(Excluded::TimedOut);
        run.cold_s = Some(1e9);
        let rows = comparison.rows();
        assert_eq!([rows[0].counted, rows[0].excluded], [9, 1]);
        assert_eq!([rows[1].counted, rows[1].excluded], [10, 0]);
        assert!(rows[0].cold_s.expect("times").max < 1e3);
        assert_eq!(
            rows[1].versus.expect("compared").cold.expect("times").turns,
            9
        );
    }

    #[test]
    fn medians_of_counts_are_exact() {
        let cases = [(vec![], None), (vec![3], Some(3)), (vec![5, 1], Some(3))];
        for (counts, expected) in cases {
            assert_eq!(median_count(counts), expected);
        }
        assert_eq!(median_count(vec![9, 1, u64::MAX]), Some(9));
    }
}
