//! How long files are.

use coldpress_report::units::{bytes, count};
use serde::{Serialize, Serializer};

/// Lengths below which files are counted together, in bytes; what is longer comes last.
const BOUNDS_BYTES: [u64; 6] = [1, 1 << 10, 16 << 10, 128 << 10, 1 << 20, 16 << 20];

/// Files by length.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    classes: [Class; BOUNDS_BYTES.len() + 1],
}

/// Files of similar length.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Class {
    /// Length that all are below; `None` for the longest.
    below_bytes: Option<u64>,
    files: u64,
    content_bytes: u64,
}

impl Sizes {
    pub(crate) fn add(&mut self, size_bytes: u64) {
        let index = BOUNDS_BYTES.partition_point(|bound| *bound <= size_bytes);
        if let Some(class) = self.classes.get_mut(index) {
            class.files += 1;
            class.content_bytes = class.content_bytes.saturating_add(size_bytes);
        }
    }

    fn classes(&self) -> impl Iterator<Item = Class> {
        let bounds = BOUNDS_BYTES.into_iter().map(Some).chain([None]);
        self.classes
            .iter()
            .zip(bounds)
            .map(|(class, below_bytes)| Class {
                below_bytes,
                ..*class
            })
    }

    /// The table for people.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        let title = "\nlength of files          files       content\n".to_owned();
        let lines = self.classes().map(|class| {
            let name = match class.below_bytes {
                Some(1) => "empty".to_owned(),
                Some(bound) => format!("below {}", bytes(bound)),
                None => "longer".to_owned(),
            };
            let (files, content) = (count(class.files), bytes(class.content_bytes));
            format!("{name:<18} {files:>11} {content:>13}\n")
        });
        [title].into_iter().chain(lines)
    }
}

impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.classes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_below_the_next_bound() {
        let mut sizes = Sizes::default();
        for size_bytes in [0, 1, 1023, 1024, 16 << 20, u64::MAX] {
            sizes.add(size_bytes);
        }
        let files: Vec<_> = sizes.classes().map(|class| class.files).collect();
        assert_eq!(files, [1, 2, 1, 0, 0, 0, 2]);
    }
}
