//! Parts of a time, in proportion to what they were spent on.

/// `total` times `part` by `whole`, rounded down; nothing of nothing.
pub(crate) fn share(total: u64, part: u64, whole: u64) -> u64 {
    let product = u128::from(total) * u128::from(part);
    let share = product.checked_div(whole.into()).unwrap_or(0);
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_proportional_and_never_overflow() {
        for (total, part, whole, expected) in [
            (100, 1, 4, 25),
            (100, 0, 4, 0),
            (100, 4, 0, 0),
            (u64::MAX, u64::MAX, u64::MAX, u64::MAX),
            (u64::MAX, u64::MAX, 1, u64::MAX),
        ] {
            assert_eq!(share(total, part, whole), expected);
        }
    }
}
