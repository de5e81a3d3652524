//! How many bytes of a table may be read or kept, by what the table can hold.

use coldpress_format::Rule;

use crate::error::Error;
use crate::image::Image;
use crate::region::Region;

/// Bytes read of a table, compared with those that it can hold.
#[derive(Debug, Default)]
pub(crate) struct Allowance {
    spent_bytes: u64,
    table_bytes: Option<u64>,
}

impl Allowance {
    /// Counts bytes; returns the rule that they break, if they are too many.
    ///
    /// * `free_bytes`: what is allowed beyond the size of the table, and before its metadata
    ///   blocks are counted.
    pub(crate) fn spend(
        &mut self,
        image: &Image,
        table: Region,
        bytes: u64,
        (field, free_bytes): (&'static str, u64),
    ) -> Result<Option<Rule>, Error> {
        self.spent_bytes = self.spent_bytes.saturating_add(bytes);
        if self.spent_bytes <= free_bytes {
            return Ok(None);
        }
        let table_bytes = match self.table_bytes {
            Some(bytes) => bytes,
            None => image.store.metadata_bytes_max(table)?,
        };
        self.table_bytes = Some(table_bytes);
        let (found, high) = (self.spent_bytes, free_bytes.saturating_add(table_bytes));
        Ok((found > high).then_some(Rule::OutOfRange {
            field,
            found,
            low: 0,
            high,
        }))
    }
}
