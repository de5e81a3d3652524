//! What is wrong with an index, or with an image that is not what its index says.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The index is no JSON, or not of the form of an index.
    #[error("the index is not one of variants: {0}")]
    Json(#[from] serde_json::Error),
    /// A value of the index breaks a rule.
    #[error("`{place}` of the index {rule}")]
    Rule {
        /// Which value: `images[2].file`.
        place: String,
        /// The rule, and what was found.
        rule: String,
    },
    /// A part that is packed breaks a rule.
    #[error("`{place}` of the index, byte {at} of what it holds: {rule}")]
    Packed {
        /// Which value: `images[2].geometry`.
        place: String,
        /// Byte of what is packed.
        at: usize,
        /// The rule, and what was found.
        rule: String,
    },
    /// An image is not what its index says.
    #[error("`{file}` is not the image of the index: {why}")]
    Differs {
        /// The name of the image.
        file: String,
        /// What differs.
        why: String,
    },
    /// The bytes of an image cannot be read.
    #[error("cannot read `{file}`")]
    Read {
        /// The name of the image.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// An image is damaged, or none.
    #[error("cannot read `{file}`")]
    Image {
        /// The name of the image.
        file: String,
        /// Why.
        source: coldpress_image::Error,
    },
}

impl Error {
    pub(crate) fn rule(place: impl Into<String>, rule: impl Into<String>) -> Self {
        Self::Rule {
            place: place.into(),
            rule: rule.into(),
        }
    }
}
