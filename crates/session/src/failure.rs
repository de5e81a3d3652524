//! Standard output that cannot be written: nobody reading it any more is no failure.

use std::error::Error;
use std::fmt;
use std::io;

/// Why standard output cannot be written.
#[derive(Debug)]
pub struct StdoutFailed(pub io::Error);

impl fmt::Display for StdoutFailed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot write to standard output: {}", self.0)
    }
}

impl Error for StdoutFailed {}

/// Why standard output cannot be written, if that is what ended the command.
pub fn stdout_failure(error: &anyhow::Error) -> Option<io::ErrorKind> {
    error.chain().find_map(|cause| {
        let inner = cause.downcast_ref::<io::Error>()?.get_ref()?;
        Some(inner.downcast_ref::<StdoutFailed>()?.0.kind())
    })
}

/// Whether the command ended because nobody reads its output any more: that is success, as for
/// `coldpress ls image.sqfs | head`.
pub fn is_stdout_closed(error: &anyhow::Error) -> bool {
    stdout_failure(error) == Some(io::ErrorKind::BrokenPipe)
}

/// What was printed beside the work itself: if nobody reads it any more, the work is wanted all the
/// same.
///
/// # Errors
///
/// All others.
pub fn unless_stdout_closed(printed: anyhow::Result<()>) -> anyhow::Result<()> {
    match printed {
        Err(error) if is_stdout_closed(&error) => Ok(()),
        printed => printed,
    }
}

#[cfg(test)]
mod tests {
    use coldpress_report::failure::sentence;

    use super::*;

    #[test]
    fn only_a_closed_standard_output_counts_as_success() {
        let of = |error: io::Error| {
            let marked = io::Error::new(error.kind(), StdoutFailed(error));
            anyhow::Error::new(marked).context("cannot print")
        };
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_stdout_closed(&of(closed())));
        let full = of(io::Error::from_raw_os_error(28));
        assert!(!is_stdout_closed(&full));
        assert_eq!(
            sentence(&full),
            "cannot print: cannot write to standard output: No space left on device"
        );
        assert_eq!(stdout_failure(&anyhow::Error::new(closed())), None);
    }
}
