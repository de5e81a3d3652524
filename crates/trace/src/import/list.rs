//! Lists of paths: of `find`, `find -print0`, the analysis files of DwarFS, or written by hand.

use super::notes::Notes;
use super::text::lines;

/// Reads a list. Paths may be relative to the root of the image. Blank lines and lines that begin
/// with `#` say nothing; a list with NULs has neither.
pub(super) fn read(text: &[u8], notes: &mut Notes) {
    if text.contains(&0) {
        let paths = text.split(|&byte| byte == 0).zip(1..);
        for (path, number) in paths.filter(|(path, _)| !path.is_empty()) {
            notes.begin_line(number);
            notes.see_file(None, path);
        }
        return;
    }
    let said = lines(text).filter(|(line, _)| !line.is_empty() && !line.starts_with(b"#"));
    for (path, number) in said {
        notes.begin_line(number);
        notes.see_file(None, path);
    }
}
