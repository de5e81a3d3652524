//! Where items begin, so that an updater with blocks at fixed places finds them again.

use std::collections::BTreeMap;

use super::{FormerItem, Keeping, Places};
use crate::order::{Alignment, Item};

/// Where what is kept begins: at the same byte as in the older image, modulo the alignment. Only
/// the first of each run of neighbors is named, since the others follow it as they did; and only of
/// runs that are long enough to have a block of the updater for sure.
pub(crate) fn alignment(data: &[Item], places: &Places<'_>, keeping: Keeping<'_>) -> Alignment {
    let bytes = keeping.align_bytes;
    let mut starts = BTreeMap::new();
    if bytes > 1 {
        let mut last: Option<&FormerItem> = None;
        let mut run = (0, 0, 0);
        let mut note = |(index, start, len_bytes): (usize, u64, u64)| {
            if len_bytes >= bytes.saturating_mul(2) {
                starts.insert(index, start % bytes);
            }
        };
        for (item, index) in data.iter().zip(0..) {
            let same = same(item, places);
            if let Some(same) = same {
                let end = last.map(|last| last.start.saturating_add(last.size_bytes));
                if end == Some(same.start) {
                    run.2 += same.size_bytes;
                } else {
                    note(run);
                    run = (index, same.start, same.size_bytes);
                }
            }
            last = same;
        }
        note(run);
    }
    Alignment {
        bytes,
        starts,
        first_byte: 0,
    }
}

/// What the older image has of an item, if that is all of it and unchanged.
fn same<'a>(item: &Item, places: &Places<'a>) -> Option<&'a FormerItem> {
    let index = match item {
        Item::Blocks(id) => places.of_blocks(*id),
        Item::Fragment(members) => places.of_tail(*members.first()?),
    };
    let former = places.item(index?);
    (former.is_same && former.item == *item).then_some(former)
}
