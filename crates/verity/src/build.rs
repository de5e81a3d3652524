//! A tree from its leaves to its root, one hash block of each level in memory.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use crate::error::Error;
use crate::geometry::Level;
use crate::hex::RootHash;
use crate::parameters::Parameters;
use crate::salted::Salted;

/// A hash block that is being filled.
struct Partial {
    bytes: Vec<u8>,
    entries: u64,
    /// Byte of the file at which it will be written.
    start: u64,
}

/// Takes the hashes of data blocks in order, and writes hash blocks as they become full.
pub(crate) struct Builder<'a> {
    salted: &'a Salted<'a>,
    parameters: &'a Parameters,
    to: &'a File,
    /// One for each level, from the lowest.
    partial: Vec<Partial>,
    root: Vec<u8>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(
        salted: &'a Salted<'a>,
        parameters: &'a Parameters,
        levels: &[Level],
        to: &'a File,
    ) -> Self {
        let partial = levels.iter().map(|level| Partial {
            bytes: vec![0; parameters.hash_block.len()],
            entries: 0,
            start: level.start,
        });
        Self {
            salted,
            parameters,
            to,
            partial: partial.collect(),
            root: Vec::new(),
        }
    }

    /// Adds the hash of the next block below a level. What is above the highest level is the root.
    pub(crate) fn push(&mut self, level: usize, digest: &[u8]) -> Result<(), Error> {
        let Some(partial) = self.partial.get_mut(level) else {
            digest.clone_into(&mut self.root);
            return Ok(());
        };
        let entry_bytes = self.parameters.entry_bytes();
        let mut entries = partial.bytes.chunks_exact_mut(entry_bytes);
        let index = usize::try_from(partial.entries).unwrap_or(usize::MAX);
        if let Some(entry) = entries.nth(index) {
            entry[..digest.len()].copy_from_slice(digest);
        }
        partial.entries += 1;
        if partial.entries == self.parameters.entries_per_block() {
            self.write(level)?;
        }
        Ok(())
    }

    /// Writes the block of a level, and adds its hash to the level above.
    fn write(&mut self, level: usize) -> Result<(), Error> {
        let partial = &mut self.partial[level];
        let start = partial.start;
        self.to
            .write_all_at(&partial.bytes, start)
            .map_err(|source| Error::Write { start, source })?;
        let mut digest = vec![0; self.parameters.algorithm.digest_bytes()];
        self.salted.hash(&partial.bytes, &mut digest);
        partial.bytes.fill(0);
        partial.entries = 0;
        partial.start += self.parameters.hash_block.bytes();
        self.push(level + 1, &digest)
    }

    /// Writes the last block of each level.
    pub(crate) fn finish(mut self) -> Result<RootHash, Error> {
        for level in 0..self.partial.len() {
            if self.partial[level].entries > 0 {
                self.write(level)?;
            }
        }
        Ok(RootHash::new(self.root))
    }
}
