//! Whose recording a text is.

use super::text::lines;
use super::{Format, access_list, opensnoop, perf, strace, ureadahead};

/// How much of the text is looked at, and how many of its lines.
const LOOK_BYTES: usize = 64 << 10;
const LOOK_LINES: usize = 200;

/// Whether a line is one of a format.
type Tell = fn(&[u8]) -> bool;

/// Tells the format of a recording from what it looks like; `None` if it looks like none.
///
/// A format must be that of more than half of the first lines. A list is what looks like nothing
/// else, if most lines have a slash.
pub fn detect(text: &[u8]) -> Option<Format> {
    let text = text.get(..LOOK_BYTES).unwrap_or(text);
    if ureadahead::is_pack(text) {
        return Some(Format::Ureadahead);
    }
    if let b'{' | b'[' = text.trim_ascii_start().first()? {
        return detect_json(text.trim_ascii_start());
    }
    if text.contains(&0) {
        return Some(Format::List);
    }
    let said = lines(text).map(|(line, _)| line);
    let said = said.filter(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"));
    let sample: Vec<&[u8]> = said.take(LOOK_LINES).collect();
    if sample.first() == Some(&access_list::CSV_HEADINGS) {
        return Some(Format::Nydus);
    }
    if sample.iter().any(|line| opensnoop::is_heading(line)) {
        return Some(Format::Opensnoop);
    }
    if sample.iter().any(|line| ureadahead::is_telling(line)) {
        return Some(Format::Ureadahead);
    }
    let tells: [(Format, Tell); 4] = [
        (Format::PerfScript, perf::is_filemap_event),
        (Format::PerfTrace, perf::is_trace_line),
        (Format::Strace, strace::is_line),
        (Format::List, is_path),
    ];
    let is_most = |tell: Tell| {
        let count = sample.iter().filter(|line| tell(line)).count();
        count * 2 > sample.len()
    };
    let found = tells.into_iter().find(|(_, tell)| is_most(*tell));
    found.map(|(format, _)| format)
}

fn is_path(line: &[u8]) -> bool {
    line.contains(&b'/') && !line.iter().any(u8::is_ascii_control)
}

/// The names of a format stand in its first kilobytes, whatever the rest is.
fn detect_json(text: &[u8]) -> Option<Format> {
    let (line, _) = lines(text).next()?;
    let has = |text: &[u8], name: &[u8]| super::text::find(text, name).is_some();
    if has(text, b"\"ExecvePaths\"") || has(text, b"\"Runs\"") {
        return Some(Format::Etrace);
    }
    if has(text, b"\"files\"") || has(line, b"\"elapsed\"") {
        return Some(Format::Nydus);
    }
    has(line, b"\"path\"").then_some(Format::Estargz)
}
