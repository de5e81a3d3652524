//! The pages of one file that were seen so far.

use std::collections::BTreeMap;

/// A set of pages as runs that neither overlap nor touch.
///
/// Each call of [`cover`](Self::cover) leaves at most one run more than it found and removes the
/// runs that it meets, so n calls cost O(n log n) whatever their order: a trace cannot make
/// this slow.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// First page to last page.
    runs: BTreeMap<u64, u64>,
}

impl Coverage {
    /// Adds the pages `first` to `last` and hands each run of pages that are new to `gap`.
    pub fn cover(&mut self, first: u64, last: u64, mut gap: impl FnMut(u64, u64)) {
        let met: Vec<(u64, u64)> = self
            .runs
            .range(..=last.saturating_add(1))
            .rev()
            .take_while(|&(_, &run_last)| run_last.saturating_add(1) >= first)
            .map(|(&run_first, &run_last)| (run_first, run_last))
            .collect();
        let (mut merged_first, mut merged_last) = (first, last);
        let mut next = first;
        for (run_first, run_last) in met.into_iter().rev() {
            self.runs.remove(&run_first);
            if next < run_first {
                gap(next, run_first - 1);
            }
            next = run_last.saturating_add(1);
            merged_first = merged_first.min(run_first);
            merged_last = merged_last.max(run_last);
        }
        if next <= last {
            gap(next, last);
        }
        self.runs.insert(merged_first, merged_last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Runs<'a> = &'a [(u64, u64)];

    #[test]
    fn only_pages_not_covered_before_are_gaps() {
        let mut coverage = Coverage::default();
        let cases: &[(u64, u64, Runs<'_>)] = &[
            (10, 19, &[(10, 19)]),
            (30, 39, &[(30, 39)]),
            (12, 15, &[]),
            (20, 20, &[(20, 20)]),
            (5, 45, &[(5, 9), (21, 29), (40, 45)]),
            (5, 45, &[]),
            (0, 4, &[(0, 4)]),
            (44, 46, &[(46, 46)]),
        ];
        for &(first, last, expected) in cases {
            let mut gaps = Vec::new();
            coverage.cover(first, last, |first, last| gaps.push((first, last)));
            assert_eq!(gaps, expected, "{first}-{last}");
        }
        assert_eq!(coverage.runs, BTreeMap::from([(0, 46)]));
    }
}
