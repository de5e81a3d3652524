//! Whether all contestants are of the same files.

use coldpress_history::Study;

use crate::study::TREE_DIGEST;

/// Contestants that were read whole and had other names, links or content than the first one that
/// was, each with the name of that one; in their order.
pub fn odd_trees(study: &Study) -> Vec<(&str, &str)> {
    let mut read = study.contestants.iter().filter_map(|contestant| {
        let digest = contestant.facts.get(TREE_DIGEST)?;
        Some((contestant.name.as_str(), digest))
    });
    let Some((first, expected)) = read.next() else {
        return Vec::new();
    };
    read.filter(|(_, digest)| *digest != expected)
        .map(|(name, _)| (name, first))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn contestants_of_other_files_are_named() {
        let mut study = example::study(&["a", "b", "c", "d"], 2);
        assert!(odd_trees(&study).is_empty());
        // Nobody read the first one whole.
        let digests = [None, Some("same"), Some("other same"), Some("same")];
        for (contestant, digest) in study.contestants.iter_mut().zip(digests) {
            let digest = digest.map(|digest| (TREE_DIGEST.to_owned(), digest.to_owned()));
            contestant.facts.extend(digest);
        }
        assert_eq!(odd_trees(&study), [("c", "b")]);
    }
}
