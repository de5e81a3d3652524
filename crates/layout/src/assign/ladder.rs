//! The choices of one block that can be the best of any budget.

use super::{BlockGain, PackingGain};
use crate::packing::Packing;

/// The concave hull of a block's choices: ascending by bytes, each rung saves time for its bytes,
/// and less for each byte than the rung below.
#[derive(Debug)]
pub(super) struct Ladder {
    default_bytes: u32,
    /// Never empty: the default is a choice.
    rungs: Vec<PackingGain>,
}

/// From one rung to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The rung that it leads to.
    pub(super) rung: usize,
    pub(super) more_bytes: u64,
    pub(super) saved_s: f64,
}

impl Ladder {
    pub(super) fn new(block: &BlockGain) -> Self {
        let default = PackingGain {
            packing: Packing::Default,
            stored_bytes: block.default_bytes,
            saved_s: 0.0,
        };
        // Choices that make a start slower are none, nor is what is no number.
        let is_lawful = |choice: &PackingGain| choice.saved_s.is_finite() && choice.saved_s >= 0.0;
        let choices = block.choices.iter().copied().filter(is_lawful);
        let mut choices: Vec<_> = std::iter::once(default).chain(choices).collect();
        // Stable: of equals the default is kept, which needs no rule.
        choices.sort_by(|left, right| {
            let bytes = left.stored_bytes.cmp(&right.stored_bytes);
            bytes.then(right.saved_s.total_cmp(&left.saved_s))
        });
        let mut rungs: Vec<PackingGain> = Vec::new();
        for choice in choices {
            if rungs
                .last()
                .is_some_and(|best| choice.saved_s <= best.saved_s)
            {
                continue; // Larger, and saves no more.
            }
            while let [.., below, last] = rungs.as_slice()
                && rate(below, last) <= rate(last, &choice)
            {
                rungs.pop();
            }
            rungs.push(choice);
        }
        Self {
            default_bytes: block.default_bytes,
            rungs,
        }
    }

    /// Bytes that the lowest rung takes less than the default.
    pub(super) fn freed_bytes(&self) -> u64 {
        let lowest = self.rungs.first();
        lowest.map_or(0, |lowest| {
            (self.default_bytes - lowest.stored_bytes).into()
        })
    }

    /// The steps upwards.
    pub(super) fn steps(&self) -> impl Iterator<Item = Step> {
        let pairs = self.rungs.array_windows::<2>().zip(1..);
        pairs.map(|([below, above], rung)| Step {
            rung,
            more_bytes: (above.stored_bytes - below.stored_bytes).into(),
            saved_s: above.saved_s - below.saved_s,
        })
    }

    pub(super) fn packing(&self, rung: usize) -> Packing {
        self.rungs
            .get(rung)
            .map_or(Packing::Default, |it| it.packing)
    }
}

impl Step {
    pub(super) fn saved_s_per_byte(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "blocks are at most 1 MiB")]
        let more_bytes = self.more_bytes as f64;
        self.saved_s / more_bytes
    }
}

/// Time that is saved for each byte from one choice to a larger one.
fn rate(below: &PackingGain, above: &PackingGain) -> f64 {
    (above.saved_s - below.saved_s) / f64::from(above.stored_bytes - below.stored_bytes)
}
