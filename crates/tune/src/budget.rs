//! What may be spent.

/// How much larger an image may become than it is with all blocks compressed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// By so many hundredths.
    Percent(f64),
    /// By so many bytes.
    Bytes(u64),
}

impl Budget {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and a byte is nothing"
    )]
    pub(crate) fn bytes(self, image_bytes: u64) -> u64 {
        match self {
            Self::Percent(percent) => (image_bytes as f64 * percent / 100.0) as u64,
            Self::Bytes(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_part_of_the_image_or_bytes() {
        for (budget, bytes) in [
            (Budget::Percent(4.0), 40),
            (Budget::Percent(0.0), 0),
            (Budget::Percent(-1.0), 0),
            (Budget::Percent(f64::INFINITY), u64::MAX),
            (Budget::Bytes(7), 7),
        ] {
            assert_eq!(budget.bytes(1000), bytes, "{budget:?}");
        }
    }
}
