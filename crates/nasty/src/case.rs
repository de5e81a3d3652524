//! An image and what is wrong with it.

/// An image, and what coldpress says of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is special about it, such as `block log 21`.
    pub what: String,
    /// The image.
    pub bytes: Vec<u8>,
    /// A part of what `check` tells as an error, empty if it tells none; `None` if that is not the
    /// point.
    pub says: Option<&'static str>,
}

impl Case {
    /// An image in which `check` finds an error, or none if `says` is empty.
    pub fn new(what: impl Into<String>, bytes: Vec<u8>, says: &'static str) -> Self {
        Self {
            what: what.into(),
            bytes,
            says: Some(says),
        }
    }

    /// An image that may be sound or not.
    pub fn any(what: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self {
            what: what.into(),
            bytes,
            says: None,
        }
    }
}
