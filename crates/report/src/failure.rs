//! Errors as a user reads them: one sentence, and a hint where there is something to do.

use std::error::Error;
use std::fmt;
use std::io;

/// An error with a hint on what to do about it.
#[derive(Debug)]
struct Hinted {
    sentence: String,
    hint: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.sentence)
    }
}

impl Error for Hinted {}

/// Adds a hint to an error; the causes become one sentence with it.
pub fn hint(error: impl Into<anyhow::Error>, hint: impl Into<String>) -> anyhow::Error {
    let sentence = sentence(&error.into());
    anyhow::Error::new(Hinted {
        sentence,
        hint: hint.into(),
    })
}

/// What to do about a file that may not grow (`EFBIG`).
const TOO_LARGE: &str = "`ulimit -f` prints how large the files of this process may be, and \
                         `ulimit -f unlimited` lifts the limit; FAT file systems hold files of up \
                         to 4 GiB";

/// The hint of an error, if it has one.
pub fn hint_of(error: &anyhow::Error) -> Option<&str> {
    let hinted = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<Hinted>());
    match hinted {
        Some(hinted) => Some(&hinted.hint),
        None => is_too_large(error).then_some(TOO_LARGE),
    }
}

fn is_too_large(error: &anyhow::Error) -> bool {
    let causes = error.chain();
    let mut causes = causes.filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::FileTooLarge)
}

/// An error and its causes as one clause: `cannot open `x`: No such file or directory`.
///
/// A cause that its parent has already spelled out is not repeated, and the numbers that the
/// standard library adds to the words of the system are left out.
pub fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let clause = without_os_number(&cause.to_string());
        if text.is_empty() {
            text = clause;
        } else if !text.contains(&clause) {
            text.push_str(": ");
            text.push_str(&clause);
        }
    }
    text
}

/// Removes ` (os error 2)`.
pub fn without_os_number(text: &str) -> String {
    let Some((before, rest)) = text.split_once(" (os error ") else {
        return text.to_owned();
    };
    match rest.split_once(')') {
        Some((number, after)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{before}{after}")
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn causes_become_one_sentence_without_repetition() {
        let missing = || io::Error::from_raw_os_error(2);
        let plain = anyhow::Error::new(missing()).context("cannot open `x`");
        assert_eq!(
            sentence(&plain),
            "cannot open `x`: No such file or directory"
        );
        let twice = anyhow::Error::new(missing())
            .context("cannot open `x`: No such file or directory (os error 2); look elsewhere");
        assert_eq!(
            sentence(&twice),
            "cannot open `x`: No such file or directory; look elsewhere"
        );
    }

    #[test]
    fn a_hint_is_found_below_added_context() {
        let error = hint(anyhow!("no image"), "give one").context("cannot list");
        assert_eq!(sentence(&error), "cannot list: no image");
        assert_eq!(hint_of(&error), Some("give one"));
        assert_eq!(hint_of(&anyhow!("no image")), None);
    }
}
