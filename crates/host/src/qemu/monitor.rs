//! QEMU's control: one JSON value a line over a socket (QMP).

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::{Value, json};

/// An answer takes less than a millisecond; a machine that swaps takes longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The longest answers, lists of block devices, have a few KiB.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Events that may come before an answer: a guest that resets again and again makes many.
const EVENTS_MAX: usize = 10_000;

/// A conversation with a QEMU.
#[derive(Debug)]
pub(super) struct Monitor {
    lines: BufReader<UnixStream>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// QEMU has ended, or does not answer any more.
    Gone,
    /// It refused, in its own words.
    Refused(String),
}

impl Monitor {
    /// Waits for the greeting, and leaves the state in which nothing else is allowed.
    pub(super) fn open(socket: UnixStream) -> Result<Self, NoAnswer> {
        let limits = socket
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| socket.set_write_timeout(Some(PATIENCE)));
        limits.map_err(|_| NoAnswer::Gone)?;
        let mut monitor = Self {
            lines: BufReader::new(socket),
        };
        monitor.line()?;
        monitor.ask("qmp_capabilities")?;
        Ok(monitor)
    }

    /// Gives a command without arguments and waits for its answer.
    pub(super) fn ask(&mut self, command: &str) -> Result<Value, NoAnswer> {
        let mut line = json!({ "execute": command }).to_string();
        line.push('\n');
        let socket = self.lines.get_mut();
        socket
            .write_all(line.as_bytes())
            .map_err(|_| NoAnswer::Gone)?;
        for _ in 0..EVENTS_MAX {
            let mut answer = self.line()?;
            if let Some(value) = answer.get_mut("return") {
                return Ok(value.take());
            }
            if let Some(error) = answer.get("error") {
                let words = error.get("desc").and_then(Value::as_str);
                return Err(NoAnswer::Refused(words.unwrap_or_default().to_owned()));
            }
        }
        Err(NoAnswer::Gone)
    }

    fn line(&mut self) -> Result<Value, NoAnswer> {
        let mut line = Vec::new();
        let mut limited = (&mut self.lines).take(LINE_BYTES_MAX);
        let read = limited.read_until(b'\n', &mut line);
        match read {
            Ok(_) if line.ends_with(b"\n") => {
                serde_json::from_slice(&line).map_err(|_| NoAnswer::Gone)
            }
            _ => Err(NoAnswer::Gone),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Opens a monitor whose other end says `said` and listens no more.
    fn monitor(said: &str) -> Result<Monitor, NoAnswer> {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        let said = said.to_owned();
        thread::spawn(move || {
            let _ = theirs.write_all(said.as_bytes());
            let _ = theirs.shutdown(std::net::Shutdown::Write);
            let _ = theirs.read_to_end(&mut Vec::new());
        });
        Monitor::open(ours)
    }

    #[test]
    fn answers_are_found_between_events() {
        let mut monitor = monitor(
            "{\"QMP\": {}}\n{\"return\": {}}\n{\"event\": \"RESUME\"}\n{\"return\": {\"enabled\": true}}\n\
             {\"error\": {\"desc\": \"no such command\"}}\n",
        )
        .expect("a greeting and an answer");
        assert_eq!(monitor.ask("query-kvm"), Ok(json!({ "enabled": true })));
        let refused = NoAnswer::Refused("no such command".into());
        assert_eq!(monitor.ask("x"), Err(refused));
        assert_eq!(monitor.ask("x"), Err(NoAnswer::Gone));
    }

    #[test]
    fn what_is_no_qemu_is_told_from_one() {
        for said in ["", "{\"QMP\": {}}", "hello\n", "{\"QMP\": {}}\n"] {
            assert!(matches!(monitor(said), Err(NoAnswer::Gone)), "{said}");
        }
    }
}
