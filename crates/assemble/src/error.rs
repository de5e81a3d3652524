//! Why an image cannot be.

/// The image would break a limit of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the image would have {found} {what}, the format allows {limit}")]
pub struct TooMany {
    /// What there is too much of.
    pub what: &'static str,
    /// How many there are.
    pub found: u64,
    /// How many may be.
    pub limit: u64,
}
