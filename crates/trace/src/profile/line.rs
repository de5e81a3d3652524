//! One line of a profile: steps or a file, spelled and parsed.

use std::fmt::Write as _;

use super::{ContentHash, FileIdentity, Step};
use crate::error::Rule;
use crate::event::Access;
use crate::excerpt::Excerpt;
use crate::line::{check_pages, parse_number, take_field};
use crate::path_text::{PathText, parse_path};

/// Runs of pages in one line: few enough that a difference shows where it is, and that a long path
/// with many runs cannot ask for much more memory than it has bytes.
pub(super) const RUNS_MAX: usize = 16;

const PAGES: &str = "PAGE or FIRST-LAST, then `?` if they are not certain, then `*` and a count";
const HASH: &str = "32 hexadecimal digits in lower case, or `-`";

/// Appends ` *2` or `*2` if not all recordings saw something.
fn spell_count(text: &mut String, before: &str, count: u32, recordings: u32) {
    if count != recordings {
        let _infallible = write!(text, "{before}*{count}");
    }
}

/// Appends a lookup or a list.
pub(super) fn spell_metadata(text: &mut String, step: &Step, recordings: u32) {
    text.push(if step.access == Access::List {
        'D'
    } else {
        'L'
    });
    spell_count(text, " ", step.recordings, recordings);
    let _infallible = write!(text, " {}", PathText(&step.path));
}

/// Appends runs of pages of one file.
pub(super) fn spell_runs(text: &mut String, steps: &[Step], recordings: u32) {
    text.push('R');
    let mut before = ' ';
    for step in steps {
        let Some((first_page, last_page)) = step.access.pages() else {
            continue;
        };
        let _infallible = write!(text, "{before}{first_page}");
        if last_page != first_page {
            let _infallible = write!(text, "-{last_page}");
        }
        if !step.access.is_certain() {
            text.push('?');
        }
        spell_count(text, "", step.recordings, recordings);
        before = ',';
    }
    let path = steps.first().map_or(&b""[..], |step| &step.path);
    let _infallible = write!(text, " {}", PathText(path));
}

/// Reads a line of steps and adds them to those before.
pub(super) fn parse_steps(text: &[u8], recordings: u32, steps: &mut Vec<Step>) -> Result<(), Rule> {
    let mut rest = text;
    let kind = take_field(&mut rest);
    let access = match kind {
        b"R" => return parse_runs(rest, recordings, steps),
        b"L" => Access::Lookup,
        b"D" => Access::List,
        _ => {
            let found = Excerpt::new(kind);
            return Err(Rule::Field {
                field: "kind",
                found,
                expected: "R, L, D or file",
            });
        }
    };
    let mut count = recordings;
    if rest.starts_with(b"*") {
        let field = take_field(&mut rest);
        count = parse_count(field.strip_prefix(b"*").unwrap_or_default(), recordings)?;
    }
    steps.push(Step {
        access,
        recordings: count,
        path: parse_end(rest)?,
    });
    Ok(())
}

fn parse_runs(text: &[u8], recordings: u32, steps: &mut Vec<Step>) -> Result<(), Rule> {
    let mut rest = text;
    let runs = take_field(&mut rest);
    let path = parse_end(rest)?;
    for (number, run) in runs.split(|&byte| byte == b',').enumerate() {
        if number == RUNS_MAX {
            return Err(Rule::Misplaced(
                "more than 16 runs of pages in a line; more follow in another line",
            ));
        }
        let (access, recordings) = parse_run(run, recordings)?;
        steps.push(Step {
            access,
            recordings,
            path: path.clone(),
        });
    }
    Ok(())
}

/// Reads `304-319?*2`.
fn parse_run(text: &[u8], recordings: u32) -> Result<(Access, u32), Rule> {
    let (pages, count) = split_at_byte(text, b'*');
    let count = count.map_or(Ok(recordings), |count| parse_count(count, recordings))?;
    let (pages, is_certain) = match pages.strip_suffix(b"?") {
        Some(pages) => (pages, false),
        None => (pages, true),
    };
    let (first, last) = split_at_byte(pages, b'-');
    let first_page = parse_number(first, "pages", PAGES)?;
    let last_page = last.map_or(Ok(first_page), |last| parse_number(last, "pages", PAGES))?;
    check_pages(first_page, last_page)?;
    Ok((Access::of_pages(first_page, last_page, is_certain), count))
}

/// What is before the first such byte, and what is behind it.
fn split_at_byte(text: &[u8], byte: u8) -> (&[u8], Option<&[u8]>) {
    let mut parts = text.splitn(2, |&found| found == byte);
    (parts.next().unwrap_or_default(), parts.next())
}

fn parse_count(text: &[u8], recordings: u32) -> Result<u32, Rule> {
    let expected = "a number from 1 to that of all recordings";
    let count = parse_number(text, "count", expected)?;
    let count = u32::try_from(count).ok();
    let count = count.filter(|count| (1..=recordings).contains(count));
    count.ok_or_else(|| Rule::Field {
        field: "count",
        found: Excerpt::new(text),
        expected,
    })
}

/// Reads the path at the end of a line.
fn parse_end(text: &[u8]) -> Result<Vec<u8>, Rule> {
    parse_path(text).map_err(|error| Rule::Text {
        field: "path",
        error,
    })
}

/// Appends what is known of a file.
pub(super) fn spell_file(text: &mut String, file: &FileIdentity, path: &[u8]) {
    let _infallible = write!(text, "file {} ", file.size_bytes);
    match file.hash {
        None => text.push('-'),
        Some(hash) => {
            for byte in hash {
                let _infallible = write!(text, "{byte:02x}");
            }
        }
    }
    let _infallible = write!(text, " {}", PathText(path));
}

/// Reads what is known of a file.
pub(super) fn parse_file(text: &[u8]) -> Result<(Vec<u8>, FileIdentity), Rule> {
    let mut rest = text.strip_prefix(b"file ").unwrap_or_default();
    let size_bytes = parse_number(take_field(&mut rest), "size", "a decimal number of bytes")?;
    let hash = parse_hash(take_field(&mut rest))?;
    let path = parse_end(rest)?;
    Ok((path, FileIdentity { size_bytes, hash }))
}

fn parse_hash(text: &[u8]) -> Result<Option<ContentHash>, Rule> {
    if text == b"-" {
        return Ok(None);
    }
    let unexpected = || Rule::Field {
        field: "hash",
        found: Excerpt::new(text),
        expected: HASH,
    };
    let mut hash = ContentHash::default();
    let (pairs, rest) = text.as_chunks::<2>();
    if pairs.len() != hash.len() || !rest.is_empty() {
        return Err(unexpected());
    }
    for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
        let (high, low) = (digit(*high), digit(*low));
        *byte = high
            .zip(low)
            .map(|(high, low)| high << 4 | low)
            .ok_or_else(unexpected)?;
    }
    Ok(Some(hash))
}

/// The value of a hexadecimal digit in lower case.
fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}
