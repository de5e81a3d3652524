//! The choices of one block that can be the best of any budget.

use super::{BlockGain, EncodingGain};
use crate::block_encoding::BlockEncoding;

/// The concave hull of a block's choices: ascending by bytes, each vertex saves time for its bytes,
/// and less for each byte than the vertex below.
#[derive(Debug)]
pub(super) struct Hull {
    default_bytes: u32,
    /// Never empty: the default is a choice.
    vertices: Vec<EncodingGain>,
}

/// From one vertex to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The vertex that it leads to.
    pub(super) vertex: usize,
    pub(super) more_bytes: u64,
    pub(super) saved_s: f64,
}

impl Hull {
    pub(super) fn new(block: &BlockGain) -> Self {
        let default = EncodingGain {
            encoding: BlockEncoding::Default,
            stored_bytes: block.default_bytes,
            saved_s: 0.0,
        };
        // Choices that make a start slower are none, nor is what is no number.
        let is_lawful = |choice: &EncodingGain| choice.saved_s.is_finite() && choice.saved_s >= 0.0;
        let choices = block.choices.iter().copied().filter(is_lawful);
        let mut choices: Vec<_> = std::iter::once(default).chain(choices).collect();
        // Stable: of equals the default is kept, which needs no rule.
        choices.sort_by(|left, right| {
            let bytes = left.stored_bytes.cmp(&right.stored_bytes);
            bytes.then(right.saved_s.total_cmp(&left.saved_s))
        });
        let mut vertices: Vec<EncodingGain> = Vec::new();
        for choice in choices {
            if vertices
                .last()
                .is_some_and(|best| choice.saved_s <= best.saved_s)
            {
                continue; // Larger, and saves no more.
            }
            while let [.., below, last] = vertices.as_slice()
                && rate(below, last) <= rate(last, &choice)
            {
                vertices.pop();
            }
            vertices.push(choice);
        }
        Self {
            default_bytes: block.default_bytes,
            vertices,
        }
    }

    /// Bytes that the lowest vertex takes less than the default.
    pub(super) fn freed_bytes(&self) -> u64 {
        let lowest = self.vertices.first();
        lowest.map_or(0, |lowest| {
            (self.default_bytes - lowest.stored_bytes).into()
        })
    }

    /// The steps upwards.
    pub(super) fn steps(&self) -> impl Iterator<Item = Step> {
        let pairs = self.vertices.array_windows::<2>().zip(1..);
        pairs.map(|([below, above], vertex)| Step {
            vertex,
            more_bytes: (above.stored_bytes - below.stored_bytes).into(),
            saved_s: above.saved_s - below.saved_s,
        })
    }

    pub(super) fn encoding(&self, vertex: usize) -> BlockEncoding {
        self.vertices
            .get(vertex)
            .map_or(BlockEncoding::Default, |it| it.encoding)
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
fn rate(below: &EncodingGain, above: &EncodingGain) -> f64 {
    (above.saved_s - below.saved_s) / f64::from(above.stored_bytes - below.stored_bytes)
}
