//! What an updater transfers.

use std::ops::Range;

use crate::cause::{Cause, CauseBytes};
use crate::regions::Region;

/// Bytes that an updater transfers to make the new file of the old one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    /// What it needs beside parts of the new file: an index, a control file.
    pub index_bytes: u64,
    /// What it fetches of the new file.
    pub parts: Vec<Part>,
    /// A patch, which does not tell for what its bytes are.
    pub patch_bytes: u64,
}

/// A part of the new file that is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Bytes of the new file.
    pub bytes: Range<u64>,
    /// Bytes that are transferred for them.
    pub transferred_bytes: u64,
}

impl Part {
    /// A part that is transferred as it is.
    pub(crate) fn plain(bytes: Range<u64>) -> Self {
        let transferred_bytes = bytes.end - bytes.start;
        Self {
            bytes,
            transferred_bytes,
        }
    }
}

impl Transfer {
    /// Everything.
    pub fn bytes(&self) -> u64 {
        let parts: u64 = self.parts.iter().map(|part| part.transferred_bytes).sum();
        self.index_bytes + self.patch_bytes + parts
    }

    /// Everything by cause.
    ///
    /// * `regions`: those of the new image.
    ///
    /// # Cost
    ///
    /// O(log n) in the regions for each part, and O(1) for each that it meets.
    pub fn by_cause(&self, regions: &[Region]) -> CauseBytes {
        let mut causes = CauseBytes {
            index_bytes: self.index_bytes,
            ..CauseBytes::default()
        };
        for part in &self.parts {
            let first = regions.partition_point(|region| region.bytes.end <= part.bytes.start);
            let met = regions.get(first..).unwrap_or_default();
            let met = met
                .iter()
                .take_while(|region| region.bytes.start < part.bytes.end);
            let weights = met.map(|region| {
                let start = region.bytes.start.max(part.bytes.start);
                let end = region.bytes.end.min(part.bytes.end);
                (region.cause, end.saturating_sub(start))
            });
            spread(part.transferred_bytes, weights.collect(), &mut causes);
        }
        let new = regions.iter().filter(|region| region.cause.is_new());
        let weights = new.map(|region| (region.cause, region.bytes.end - region.bytes.start));
        spread(self.patch_bytes, weights.collect(), &mut causes);
        causes
    }
}

/// Spreads bytes over causes by their weights. What has no weight is the updater's own.
fn spread(bytes: u64, weights: Vec<(Cause, u64)>, causes: &mut CauseBytes) {
    let mut weight_left: u128 = weights.iter().map(|(_, weight)| u128::from(*weight)).sum();
    let mut left = u128::from(bytes);
    for (cause, weight) in weights {
        let weight = u128::from(weight);
        if weight_left == 0 {
            break;
        }
        // Of what is left, so that all add up.
        let share = left * weight / weight_left;
        weight_left -= weight;
        left -= share;
        *causes.of_mut(cause) += u64::try_from(share).unwrap_or(u64::MAX);
    }
    causes.index_bytes += u64::try_from(left).unwrap_or(u64::MAX);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions() -> Vec<Region> {
        let region = |bytes, cause| Region { bytes, cause };
        vec![
            region(0..96, Cause::Tables),
            region(96..1000, Cause::Moved),
            region(1000..3000, Cause::Content),
            region(3000..4000, Cause::Repacked),
            region(4000..4096, Cause::Tables),
        ]
    }

    #[test]
    fn parts_are_told_by_what_they_meet() {
        let transfer = Transfer {
            index_bytes: 7,
            parts: vec![
                Part::plain(0..1),
                Part {
                    bytes: 900..1100,
                    transferred_bytes: 20,
                },
                Part::plain(3999..5000),
            ],
            patch_bytes: 0,
        };
        let causes = transfer.by_cause(&regions());
        let expected = CauseBytes {
            content_bytes: 10,
            repacked_bytes: 1001 / 97,
            moved_bytes: 10,
            tables_bytes: 1 + 1001 - 1001 / 97,
            index_bytes: 7,
            ..CauseBytes::default()
        };
        assert_eq!(causes, expected);
        let sum: u64 = Cause::ALL.iter().map(|cause| causes.of(*cause)).sum();
        assert_eq!(sum, transfer.bytes());
    }

    #[test]
    fn a_patch_is_spread_over_what_changed() {
        let transfer = Transfer {
            patch_bytes: 3192,
            ..Transfer::default()
        };
        let causes = transfer.by_cause(&regions());
        assert_eq!(
            (
                causes.content_bytes,
                causes.repacked_bytes,
                causes.tables_bytes
            ),
            (2000, 1000, 192)
        );
        let nothing = transfer.by_cause(&[]);
        assert_eq!(nothing.index_bytes, 3192);
    }
}
