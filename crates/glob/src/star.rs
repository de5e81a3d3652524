//! Matching without groups.

use crate::glob::{Item, Text};

/// Whether a pattern matches the whole of a text.
///
/// Only the last `*` is ever extended: what an earlier one could take instead, the last can take as
/// well, and where it must not go on, at a slash, no earlier one gets either.
pub(crate) fn matches(items: &[Item], text: Text<'_>) -> bool {
    let (mut item, mut at) = (0, 0);
    // What comes after the last `*`, and the end of what that takes.
    let mut star: Option<(usize, usize)> = None;
    loop {
        match items.get(item) {
            None if at == text.bytes.len() => return true,
            Some(Item::Star) if text.is_open(at) => {
                item += 1;
                star = Some((item, at));
                continue;
            }
            Some(one) if text.fits(one, at) => {
                (item, at) = (item + 1, at + 1);
                continue;
            }
            _ => {}
        }
        let Some((after, end)) = star.filter(|(_, end)| text.is_taken(*end)) else {
            return false;
        };
        star = Some((after, end + 1));
        (item, at) = (after, end + 1);
    }
}
