//! How much all xattr sets of an image may take together.

use coldpress_format::{Corrupt, Part};

use crate::allowance::Allowance;
use crate::error::Error;
use crate::image::Image;
use crate::xattr::{Xattr, memory_bytes};

/// Bytes of sets that may be kept beyond the size of their table: sets of a hostile image may share
/// pairs and values, so that a small one holds any number of large ones.
const FREE_BYTES: u64 = 1 << 30;

/// What the xattr sets that are kept of an image take so far.
#[derive(Debug, Default)]
pub struct XattrBudget(Allowance);

impl XattrBudget {
    /// Counts a set that is to be kept.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if all sets together take over 1 GiB more than their table can hold.
    pub fn take(&mut self, image: &Image, set: &[Xattr]) -> Result<(), Error> {
        let Some(sets) = &image.xattr_sets else {
            return Ok(());
        };
        let limit = ("bytes of all xattr sets", FREE_BYTES);
        match self
            .0
            .spend(image, sets.pairs(), memory_bytes(set), limit)?
        {
            None => Ok(()),
            Some(rule) => Err(Corrupt::new(Part::XattrTable, sets.start(), rule).into()),
        }
    }
}
