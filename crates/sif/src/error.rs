//! What is wrong with a container.

/// A statement of a container that cannot be true.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the SIF {part} at byte {start} {rule}")]
pub struct Error {
    /// `header`, or `descriptor N`.
    pub part: String,
    /// Byte of the file at which it says so.
    pub start: u64,
    /// What it says.
    pub rule: Rule,
}

/// What a container must not say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// It has a version that nobody knows.
    #[error("states the version `{found}`, but only 01 is known")]
    Version {
        /// What is there.
        found: String,
    },
    /// Descriptors are cut off, or too many.
    #[error("states {found} descriptors at byte {table_start}, but only {room} are there or read")]
    Descriptors {
        /// What it says.
        found: u64,
        /// Where.
        table_start: u64,
        /// How many there are in the file, up to 4096.
        room: u64,
    },
    /// Descriptors take more or fewer bytes than as many do.
    #[error("states that its {count} descriptors take {found} bytes, must be {expected}")]
    TableBytes {
        /// How many descriptors it states.
        count: u64,
        /// What it says.
        found: u64,
        /// What they take.
        expected: u64,
    },
    /// Another number of descriptors is free.
    #[error("states {found} free descriptors, but {expected} are")]
    Free {
        /// What it says.
        found: u64,
        /// How many there are.
        expected: u64,
    },
    /// An object is not in the file.
    #[error("puts {size_bytes} bytes at byte {place}, but the file has {file_bytes}")]
    Outside {
        /// Where the object should be.
        place: u64,
        /// What it should take.
        size_bytes: u64,
        /// What there is.
        file_bytes: u64,
    },
    /// An object lies on something else.
    #[error("puts {size_bytes} bytes at byte {place}, where {other} is")]
    Overlap {
        /// Where the object should be.
        place: u64,
        /// What it should take.
        size_bytes: u64,
        /// What is there.
        other: String,
    },
    /// Two systems are started.
    #[error("is the second of a system that is started; a container has one")]
    SecondSystem,
    /// Two objects have one number.
    #[error("has the id {id}, as another descriptor has")]
    SameId {
        /// The number.
        id: u32,
    },
}

impl Error {
    pub(crate) fn header(start: u64, rule: Rule) -> Self {
        Self {
            part: "header".to_owned(),
            start,
            rule,
        }
    }
}
