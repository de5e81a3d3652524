//! What is wrong with a trace or a profile: the line and the rule that it breaks.

use crate::event::PAGE_COUNT_MAX;
use crate::excerpt::Excerpt;
use crate::path_text::{LINE_BYTES_MAX, PathTextError};

/// A trace or a profile that cannot be read, or could not be read back once written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line breaks a rule of docs/trace-format.md.
    #[error("trace line {line}: {rule}")]
    Line {
        /// The line, counted from 1.
        line: u64,
        /// The rule that it breaks, with what was found.
        rule: Rule,
    },
    /// A line breaks a rule of docs/profile-format.md.
    #[error("profile line {line}: {rule}")]
    ProfileLine {
        /// The line, counted from 1.
        line: u64,
        /// The rule that it breaks, with what was found.
        rule: Rule,
    },
}

/// The rules that a line of a trace or a profile can break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// The first line is not that of a file that this version reads.
    #[error("found `{found}`, expected `{expected}`; no other format is read")]
    FirstLine {
        /// The first line.
        found: Excerpt,
        /// What it should be.
        expected: &'static str,
    },
    /// The last line has no newline.
    #[error("has no newline at its end; the file was cut short, record again or delete the line")]
    Unfinished,
    /// The line is too long.
    #[error("has {len_bytes} bytes, limit is {LINE_BYTES_MAX}")]
    TooLong {
        /// Its length without the newline.
        len_bytes: usize,
    },
    /// A field is not what stands there.
    #[error("{field} is `{found}`, expected {expected}")]
    Field {
        /// The field, as docs/trace-format.md calls it.
        field: &'static str,
        /// What stands there.
        found: Excerpt,
        /// What should stand there.
        expected: &'static str,
    },
    /// The pages of an access are no range.
    #[error(
        "pages are {first_page}-{last_page}, expected first not above last, both below \
         {PAGE_COUNT_MAX}"
    )]
    Pages {
        /// The first page.
        first_page: u64,
        /// The last page, inclusive.
        last_page: u64,
    },
    /// The path or the value of a header line is spelled wrongly.
    #[error("{field}, {error}")]
    Text {
        /// The field, as docs/trace-format.md calls it.
        field: &'static str,
        /// Where in the field and why.
        error: PathTextError,
    },
    /// The event is earlier than the one before it.
    #[error("time is {time_us}, before {previous_us} of the line above; events are in time order")]
    TimeDecreases {
        /// Time of the event, in us.
        time_us: u64,
        /// Time of the event before it, in us.
        previous_us: u64,
    },
    /// A header line stands after an event.
    #[error("a header line after the first event; header lines come first")]
    LateHeader,
    /// The line of a profile stands where another kind belongs.
    #[error("{0}")]
    Misplaced(&'static str),
}
