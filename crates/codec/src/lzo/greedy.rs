//! The first match that is seen is taken.

use super::finder::common_len;
use super::last_seen::{LastSeen, hash};
use super::stream::{MAX_DISTANCE, Match, Writer};

/// Literals without a match after which the search takes larger steps, as in data that does not
/// shrink.
const PATIENCE_BYTES: usize = 32;

/// A search that knows one candidate for each position.
pub(super) struct Greedy(LastSeen);

impl Greedy {
    pub(super) fn new() -> Self {
        Self(LastSeen::new())
    }

    /// Writes all of the block but its last literals; `None` if the buffer is full.
    pub(super) fn compress(&mut self, input: &[u8], writer: &mut Writer) -> Option<()> {
        self.0.start_block(input.len());
        let (mut position, mut done_len) = (0, 0);
        while let Some(&first) = input.get(position..).and_then(<[u8]>::first_chunk) {
            let distance = self.0.replace(hash(u32::from_le_bytes(first)), position);
            let found = distance
                .filter(|&distance| distance <= MAX_DISTANCE)
                .map(|distance| Match {
                    len: common_len(&input[position - distance..], &input[position..], 0),
                    distance,
                })
                .filter(|found| found.len >= first.len());
            if let Some(found) = found {
                writer.copy(position - done_len, found)?;
                position += found.len;
                done_len = position;
            } else {
                position += 1 + (position - done_len) / PATIENCE_BYTES;
            }
        }
        Some(())
    }
}
