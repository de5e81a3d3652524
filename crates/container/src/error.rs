//! Why a container image cannot be had.

use std::io;
use std::path::PathBuf;

use coldpress_writer::Digest;

/// A reason for which a container image is no source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A reference that names nothing.
    #[error("`{text}` is not a reference: {rule}")]
    Reference {
        /// The reference.
        text: String,
        /// What is wrong with it.
        rule: &'static str,
    },
    /// A file or directory cannot be read.
    #[error("cannot {action} `{}`: {error}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system answered.
        error: io::Error,
    },
    /// An archive cannot be read.
    #[error(transparent)]
    Archive(#[from] coldpress_writer::Error),
    /// There is none of what was looked for.
    #[error("`{image}` has no {what}")]
    Missing {
        /// The image, or where it is looked for.
        image: String,
        /// What is not there.
        what: String,
    },
    /// A document is not what it should be.
    #[error("`{image}`: {what} cannot be used: {error}")]
    Json {
        /// The image.
        image: String,
        /// Which document.
        what: String,
        /// Where, and why.
        error: serde_json::Error,
    },
    /// A document breaks a rule.
    #[error("`{image}`: {what} {rule}")]
    Rule {
        /// The image.
        image: String,
        /// Which document or part of one.
        what: String,
        /// The rule that it breaks, and what was found.
        rule: String,
    },
    /// The bytes of a document are not those that are named.
    #[error("`{image}`: the digest of {what} is {found}, must be {expected}; fetch it again")]
    Digest {
        /// The image.
        image: String,
        /// Which document.
        what: String,
        /// The name.
        expected: Box<Digest>,
        /// That of the bytes.
        found: Box<Digest>,
    },
    /// Several images could be meant.
    #[error("`{image}` holds several images; name one of {choices}")]
    Ambiguous {
        /// Where they are.
        image: String,
        /// How they can be named.
        choices: String,
    },
    /// There is no image of the name.
    #[error("`{image}` has no image `{name}`; it has {choices}")]
    NoName {
        /// Where it was looked for.
        image: String,
        /// The name.
        name: String,
        /// What there is.
        choices: String,
    },
    /// There is no image for the platform.
    #[error("`{image}` has no image for {wanted}; it has {choices}, see --platform")]
    NoPlatform {
        /// Where it was looked for.
        image: String,
        /// The platform.
        wanted: String,
        /// Those that there are.
        choices: String,
    },
    /// A program that should write an image failed.
    #[error("`{command}` failed: {reason}")]
    Command {
        /// The command.
        command: String,
        /// How it ended.
        reason: String,
    },
    /// A registry does not give what was asked for.
    #[error("`{image}`: {reason}")]
    Registry {
        /// The image.
        image: String,
        /// What it answered, without credentials.
        reason: String,
    },
}
