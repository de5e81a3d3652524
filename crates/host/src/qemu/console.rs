//! What a guest writes to its serial console, as lines of plain text.

/// Longer lines are cut into several: a guest may write without end.
const LINE_BYTES_MAX: usize = 4096;

/// Turns the bytes of a console into lines.
///
/// A line ends with a line feed or a carriage return; empty ones are dropped. Escape sequences
/// (colors, cursor movements, titles) and control characters are left out, so that a rule for a
/// prompt need not know them.
#[derive(Debug, Default)]
pub struct Console {
    line: Vec<u8>,
    state: State,
}

/// Where in an escape sequence the next byte stands (ECMA-48).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After `ESC [`, up to a letter.
    Control,
    /// After `ESC ]` and its kin, up to BEL or `ESC \`.
    Words,
}

impl Console {
    /// Takes what was written; calls `ended` for each line that it ends.
    pub fn feed(&mut self, bytes: &[u8], ended: &mut dyn FnMut(String)) {
        for &byte in bytes {
            // Also inside an escape sequence: one that is never ended must not swallow all that
            // follows.
            if matches!(byte, b'\n' | b'\r') {
                self.state = State::Text;
                self.end(ended);
                continue;
            }
            self.state = match (self.state, byte) {
                (State::Text | State::Words, 0x1b) | (State::Escape, 0x20..=0x2f) => State::Escape,
                (State::Text, _) => {
                    self.take(byte, ended);
                    State::Text
                }
                (State::Escape, b'[') => State::Control,
                (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => State::Words,
                (State::Control, byte) if !(0x40..=0x7e).contains(&byte) => State::Control,
                (State::Words, byte) if byte != 0x07 => State::Words,
                _ => State::Text,
            };
        }
    }

    /// The line that has begun and has no end yet: a prompt has none.
    pub fn unfinished(&self) -> String {
        let text = String::from_utf8_lossy(&self.line);
        // In UTF-8 there are 32 more control characters; terminals obey some of them.
        text.chars()
            .filter(|&c| c == '\t' || !c.is_control())
            .collect()
    }

    fn take(&mut self, byte: u8, ended: &mut dyn FnMut(String)) {
        if byte == b'\t' || !byte.is_ascii_control() {
            self.line.push(byte);
        }
        if self.line.len() >= LINE_BYTES_MAX {
            self.end(ended);
        }
    }

    fn end(&mut self, ended: &mut dyn FnMut(String)) {
        if !self.line.is_empty() {
            ended(self.unfinished());
            self.line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines and the unfinished rest of some pieces.
    fn lines(pieces: &[&[u8]]) -> (Vec<String>, String) {
        let mut console = Console::default();
        let mut lines = Vec::new();
        for piece in pieces {
            console.feed(piece, &mut |line| lines.push(line));
        }
        (lines, console.unfinished())
    }

    #[test]
    fn lines_are_the_same_however_they_are_split() {
        let whole = b"[\x1b[0;32m  OK  \x1b[0m] Started \x1b]0;title\x07ssh.\r\n\r\n\x1b(B\tx\x08\xff\xc2\x9b\rhost login: ";
        let expected = lines(&[whole]);
        assert_eq!(
            expected,
            (
                vec!["[  OK  ] Started ssh.".to_owned(), "\tx\u{fffd}".to_owned()],
                "host login: ".to_owned()
            )
        );
        for at in 0..whole.len() {
            let (before, after) = whole.split_at(at);
            assert_eq!(lines(&[before, after]), expected, "split at {at}");
        }
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let (lines, rest) = lines(&[&vec![b'x'; 3 * LINE_BYTES_MAX + 5]]);
        assert!(lines.iter().all(|line| line.len() == LINE_BYTES_MAX));
        assert_eq!((lines.len(), rest.len()), (3, 5));
    }

    #[test]
    fn a_sequence_without_end_hides_one_line_at_most() {
        for begun in [&b"\x1b]0;title"[..], b"\x1b[12;", b"\x1bP", b"\x1b"] {
            let (lines, rest) = lines(&[begun, b"\nlogin: "]);
            assert_eq!((lines.len(), rest.as_str()), (0, "login: "));
        }
    }
}
