//! What is wrong with a trace, a profile, or a recording that should become a trace: the line and
//! the rule that it breaks.

use serde_json::error::Category;

use crate::event::PAGE_COUNT_MAX;
use crate::excerpt::Excerpt;
use crate::import::{Format, GROWTH_MAX};
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
    /// A document of another recorder is none, or is another one.
    #[error("{format}, line {line}, column {column}: {problem}; expected {expected}")]
    Document {
        /// Whose it should be.
        format: Format,
        /// The line, counted from 1.
        line: usize,
        /// The column there, in bytes.
        column: usize,
        /// What is wrong.
        problem: &'static str,
        /// What should stand there.
        expected: &'static str,
    },
    /// A recording of another tool names inodes only by their numbers.
    #[error(
        "the recording has inode numbers and no paths; only the recorded image can resolve them"
    )]
    Inodes,
    /// A recording of another tool would take far more memory than its text.
    #[error(
        "the accesses take more than {limit_bytes} bytes, {GROWTH_MAX} times the text, because \
         short lines repeat long paths; read it in pieces"
    )]
    Growth {
        /// The limit.
        limit_bytes: u64,
    },
}

impl Error {
    /// What is wrong with a JSON document. What it holds is not repeated.
    pub(crate) fn document(
        format: Format,
        error: &serde_json::Error,
        expected: &'static str,
    ) -> Self {
        let problem = match error.classify() {
            Category::Syntax => "this is no JSON",
            Category::Eof => "the JSON ends too early",
            Category::Data => "a value is missing or has another type",
            Category::Io => "it cannot be read",
        };
        Self::Document {
            format,
            line: error.line(),
            column: error.column(),
            problem,
            expected,
        }
    }
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
