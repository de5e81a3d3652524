//! What the console of a guest tells: its lines, when it is ready, and that it never will be.

use std::collections::VecDeque;

use coldpress_host::Console;
use regex::Regex;

use super::chart::ChartLine;

/// Lines that are kept for a chart; a boot has some hundreds.
const LINES_MAX: usize = 10_000;

/// Last lines that are kept for a failure.
const TAIL_LINES: usize = 20;

/// What a guest says that waits for a person or for nothing any more.
const LAST_WORDS: [&str; 4] = [
    "Kernel panic - not syncing",
    "(initramfs)",
    "You are in emergency mode",
    "Entering emergency mode",
];

/// What a line says about the boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Ready,
    /// The boot has failed, in these words.
    Lost(String),
}

/// Listens to a console.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    ready: &'a Regex,
    console: Console,
    lines: Vec<ChartLine>,
    tail: VecDeque<String>,
    first_of_userspace_s: Option<f64>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(ready: &'a Regex) -> Self {
        Self {
            ready,
            console: Console::default(),
            lines: Vec::new(),
            tail: VecDeque::new(),
            first_of_userspace_s: None,
        }
    }

    /// Takes what was written until `at_s`; returns the first sign in it.
    pub(super) fn hear(&mut self, at_s: f64, bytes: &[u8]) -> Option<Sign> {
        let mut ended = Vec::new();
        self.console.feed(bytes, &mut |line| ended.push(line));
        let mut sign = None;
        for line in ended {
            for text in pieces(&line) {
                sign = sign.or_else(|| sign_of(text, self.ready));
                let text = text.to_owned();
                self.keep(ChartLine { at_s, text });
            }
        }
        // A prompt has no end.
        let begun = self.console.unfinished();
        if begun.is_empty() {
            return sign;
        }
        sign.or_else(|| pieces(&begun).find_map(|text| sign_of(text, self.ready)))
    }

    /// When the first line came that is not the kernel's.
    pub(super) fn first_of_userspace_s(&self) -> Option<f64> {
        self.first_of_userspace_s
    }

    /// The last lines, the unfinished one too.
    pub(super) fn tail(&self) -> String {
        let begun = self.console.unfinished();
        let lines = self.tail.iter().map(String::as_str);
        let begun = Some(begun.as_str()).filter(|line| !line.is_empty());
        lines.chain(begun).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn into_lines(self) -> Vec<ChartLine> {
        self.lines
    }

    fn keep(&mut self, line: ChartLine) {
        if self.first_of_userspace_s.is_none() && !is_of_kernel(&line.text) {
            self.first_of_userspace_s = Some(line.at_s);
        }
        if self.tail.len() == TAIL_LINES {
            self.tail.pop_front();
        }
        self.tail.push_back(line.text.clone());
        if self.lines.len() < LINES_MAX {
            self.lines.push(line);
        }
    }
}

fn sign_of(line: &str, ready: &Regex) -> Option<Sign> {
    if ready.is_match(line) {
        return Some(Sign::Ready);
    }
    let lost = LAST_WORDS.iter().any(|words| line.contains(words));
    lost.then(|| Sign::Lost(line.trim().to_owned()))
}

/// The parts of a line: the kernel does not wait for the end of what others write, so a prompt can
/// have its message behind it.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let mut brackets = line
            .match_indices('[')
            .map(|(at, _)| at)
            .skip_while(|at| *at == 0);
        let stamp = brackets.find(|at| is_of_kernel(&line[*at..]));
        let (piece, more) = line.split_at(stamp.unwrap_or(line.len()));
        rest = Some(more).filter(|more| !more.is_empty());
        Some(piece)
    })
}

/// Whether a line has the time stamp of the kernel: `[    1.234567] `.
fn is_of_kernel(line: &str) -> bool {
    let stamp = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    stamp.is_some_and(|(stamp, _)| stamp.contains('.') && stamp.trim().parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login() -> Regex {
        Regex::new(r"\blogin:\s*$").expect("a pattern")
    }

    #[test]
    fn a_prompt_is_ready_without_an_end_of_line_and_in_pieces() {
        let ready = login();
        let mut watch = Watch::new(&ready);
        for piece in ["[    0.5] Freeing\r\n", "Welcome\r\n", "debian lo", "gin"] {
            assert_eq!(watch.hear(1.0, piece.as_bytes()), None, "{piece}");
        }
        assert_eq!(watch.hear(2.0, b": "), Some(Sign::Ready));
        assert_eq!(watch.first_of_userspace_s(), Some(1.0));
        assert_eq!(watch.tail(), "[    0.5] Freeing\nWelcome\ndebian login: ");
        assert_eq!(watch.into_lines().len(), 2);
    }

    #[test]
    fn a_guest_that_gives_up_is_told_from_one_that_is_slow() {
        let ready = login();
        for (said, lost) in [
            ("[    1.0] Kernel panic - not syncing: VFS: x\r\n", true),
            ("(initramfs) ", true),
            ("You are in emergency mode. After logging in\n", true),
            ("a panic is no last word\n", false),
            ("user login: failed\n", false),
        ] {
            let sign = Watch::new(&ready).hear(1.0, said.as_bytes());
            assert_eq!(matches!(sign, Some(Sign::Lost(_))), lost, "{said}");
            assert_ne!(sign, Some(Sign::Ready), "{said}");
        }
    }

    #[test]
    fn the_kernel_may_speak_behind_a_prompt() {
        let ready = login();
        for said in [
            "host login: [   12.345678] sched_process_exit: comm=a pid=1 prio=1\n",
            "host login: [   12.345678] sch",
        ] {
            let sign = Watch::new(&ready).hear(1.0, said.as_bytes());
            assert_eq!(sign, Some(Sign::Ready), "{said}");
        }
        let line = "a[1]: [  OK  ] b [    1.5] c[    2.5] d";
        let found: Vec<_> = pieces(line).collect();
        assert_eq!(found, ["a[1]: [  OK  ] b ", "[    1.5] c", "[    2.5] d"]);
    }

    #[test]
    fn the_first_sign_counts() {
        let ready = login();
        let mut watch = Watch::new(&ready);
        let said = b"host login: \r\nKernel panic - not syncing\r\n";
        assert_eq!(watch.hear(1.0, said), Some(Sign::Ready));
    }

    #[test]
    fn memory_is_bounded_however_much_is_written() {
        let ready = login();
        let mut watch = Watch::new(&ready);
        for number in 0..2 * LINES_MAX {
            watch.hear(1.0, format!("line {number}\n").as_bytes());
        }
        assert_eq!(watch.tail().lines().count(), TAIL_LINES);
        assert!(
            watch
                .tail()
                .ends_with(&format!("line {}", 2 * LINES_MAX - 1))
        );
        assert_eq!(watch.into_lines().len(), LINES_MAX);
    }
}
