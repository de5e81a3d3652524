//! Which metadata blocks are read to find a name in a listing.

use coldpress_format::{EntryRef, listing_spans};

use crate::geometry::MetadataRange;

/// For each entry the metadata blocks that are read to find it.
///
/// The kernel reads a listing from its beginning to the name, or, if the directory has an index,
/// from the metadata block in which the name's run begins.
///
/// * `first_block`, `offset`: where the listing begins: the block by its place in
///   [`Geometry::metadata`](crate::Geometry::metadata), and the byte in what it holds.
/// * `block_bytes`: what that block and those after it hold, but for the last of the table.
pub fn searches<'a>(
    (first_block, offset): (usize, u32),
    block_bytes: u64,
    is_indexed: bool,
    entries: impl IntoIterator<Item = EntryRef<'a>>,
) -> Vec<MetadataRange> {
    let block = |byte: u64| {
        let further = byte.checked_div(block_bytes).unwrap_or(0);
        first_block.saturating_add(usize::try_from(further).unwrap_or(usize::MAX))
    };
    let spans = listing_spans(entries, offset.into());
    let search = spans.map(|span| MetadataRange {
        first: if is_indexed {
            block(span.run_start)
        } else {
            first_block
        },
        last: block(span.end.saturating_sub(1)),
    });
    search.collect()
}

#[cfg(test)]
mod tests {
    use coldpress_format::{InodeKind, InodeRef, append_listing};

    use super::*;

    #[test]
    fn listings_end_where_written_ones_do() {
        for (count, offset) in [(1, 0), (300, 8000), (3000, 17), (3000, 8191)] {
            let names: Vec<String> = (0..count).map(|n| format!("{n:0>9}")).collect();
            let inode_block = |n: u32| n / 150 * 8194;
            let entries = names.iter().zip(1..).map(|(name, number)| EntryRef {
                name: name.as_bytes(),
                inode: InodeRef {
                    block_start: inode_block(number),
                    offset: 0,
                },
                number,
                kind: InodeKind::File,
            });
            let mut bytes = Vec::new();
            append_listing(entries.clone(), u64::from(offset), &mut bytes);
            let found = searches((5, offset), 8192, false, entries.clone());
            let last = 5 + (offset as usize + bytes.len() - 1) / 8192;
            assert_eq!(found.last(), Some(&MetadataRange { first: 5, last }));
            let found = searches((5, offset), 8192, true, entries);
            let longest = found.iter().map(|range| range.last - range.first).max();
            assert!(longest <= Some(1), "{longest:?}");
            assert_eq!(found.last().map(|range| range.last), Some(last));
        }
    }
}
