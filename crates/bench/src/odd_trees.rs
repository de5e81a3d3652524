//! Whether all contestants are of the same files.

use std::collections::BTreeSet;

use crate::comparison::Comparison;

impl Comparison {
    /// Contestants that were read whole and had other names, links or content than the first one that was, which is named
    /// behind each; in their order.
    pub fn odd_trees(&self) -> Vec<(&str, &str)> {
        let read = self.runs.iter().filter_map(|run| {
            let digest = run.walk_digest.as_deref()?;
            Some((run.contestant, run.turn, digest))
        });
        let mut read: Vec<(usize, u32, &str)> = read.collect();
        read.sort_unstable();
        let Some(&(first, _, expected)) = read.first() else {
            return Vec::new();
        };
        let odd = read.iter().filter(|(_, _, digest)| *digest != expected);
        let odd: BTreeSet<usize> = odd.map(|(contestant, ..)| *contestant).collect();
        let name = |index: usize| self.contestants.get(index).map(|it| it.name.as_str());
        let named = odd
            .into_iter()
            .filter_map(|index| Some((name(index)?, name(first)?)));
        named.collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::example;

    #[test]
    fn contestants_of_other_files_are_named() {
        let mut comparison = example::comparison(&["a", "b", "c", "d"], 2);
        assert!(comparison.odd_trees().is_empty());
        for run in &mut comparison.runs {
            let digest = match (run.contestant, run.turn) {
                // Nobody read the first one whole.
                (0, _) => None,
                (2, 1) => Some("other"),
                _ => Some("same"),
            };
            run.walk_digest = digest.map(str::to_owned);
        }
        assert_eq!(comparison.odd_trees(), [("c", "b")]);
    }
}
