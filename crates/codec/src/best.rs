//! Several ways to compress a block, of which the smallest result is kept.

/// Memory for a result beside the best one so far.
#[derive(Default)]
pub(crate) struct Best {
    rival: Vec<u8>,
}

impl Best {
    /// Compresses in each way; the smallest stream, of equals the first, ends up in `output`.
    ///
    /// `compress` gives the size of the stream that it put in the room, or `None` if it does not
    /// fit. Each way has room for less than the best before it, so most give up early.
    pub(crate) fn of<W, E>(
        &mut self,
        ways: &mut [W],
        output: &mut [u8],
        mut compress: impl FnMut(&mut W, &mut [u8]) -> Result<Option<usize>, E>,
    ) -> Result<Option<usize>, E> {
        let mut best = None;
        for way in ways {
            match best {
                None => best = compress(way, output)?,
                Some(size_bytes) => {
                    if self.rival.len() < output.len() {
                        self.rival.resize(output.len(), 0);
                    }
                    let room = &mut self.rival[..size_bytes - 1];
                    if let Some(smaller_bytes) = compress(way, room)? {
                        output[..smaller_bytes].copy_from_slice(&self.rival[..smaller_bytes]);
                        best = Some(smaller_bytes);
                    }
                }
            }
        }
        Ok(best)
    }
}
