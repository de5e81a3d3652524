//! A process, named so that no later one is taken for it.

use std::fmt;
use std::fs;
use std::io;
use std::str::FromStr;

/// A process by its number, and by what tells it from others that get the same number: the boot,
/// the namespace of the numbers, and when it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessId {
    boot_id: String,
    namespace: String,
    pid: u32,
    start_ticks: u64,
}

impl ProcessId {
    /// This process. Needs no privilege.
    ///
    /// # Errors
    ///
    /// If `/proc` is missing or not that of this process.
    pub fn of_this() -> io::Result<ProcessId> {
        let pid = std::process::id();
        let (_, start_ticks) = stat(pid)?;
        Ok(ProcessId {
            boot_id: boot_id()?,
            namespace: namespace()?,
            pid,
            start_ticks,
        })
    }

    /// Whether the process is known to have ended. Of one in another container nothing is known.
    pub fn has_ended(&self) -> bool {
        let is_same = |found: io::Result<String>, known: &str| found.map(|found| found == known);
        match is_same(boot_id(), &self.boot_id) {
            Ok(true) => {}
            Ok(false) => return true,
            Err(_) => return false,
        }
        if !matches!(is_same(namespace(), &self.namespace), Ok(true)) {
            return false;
        }
        match stat(self.pid) {
            // A zombie only waits for its parent to ask how it ended.
            Ok((state, start_ticks)) => {
                matches!(state, 'Z' | 'X') || start_ticks != self.start_ticks
            }
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}

/// Words with a blank between them, as [`FromStr`] reads them.
impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            boot_id,
            namespace,
            pid,
            start_ticks,
        } = self;
        write!(f, "{boot_id} {namespace} {pid} {start_ticks}")
    }
}

impl FromStr for ProcessId {
    type Err = io::Error;

    fn from_str(text: &str) -> io::Result<ProcessId> {
        let parsed = || {
            let mut words = text.split(' ');
            let process = ProcessId {
                boot_id: words.next()?.to_owned(),
                namespace: words.next()?.to_owned(),
                pid: words.next()?.parse().ok()?,
                start_ticks: words.next()?.parse().ok()?,
            };
            words.next().is_none().then_some(process)
        };
        parsed().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }
}

fn boot_id() -> io::Result<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(text.trim().to_owned())
}

fn namespace() -> io::Result<String> {
    let link = fs::read_link("/proc/self/ns/pid")?;
    Ok(link.to_string_lossy().into_owned())
}

/// State and start of a process, the latter in clock ticks since the boot.
fn stat(pid: u32) -> io::Result<(char, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    parse_stat(&text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// The name stands in parentheses and may hold blanks and parentheses itself; the fields after it
/// are numbered from 3 in proc(5), the start is number 22.
fn parse_stat(text: &str) -> Option<(char, u64)> {
    let (_, fields) = text.rsplit_once(") ")?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_start_of_a_process_is_found_behind_any_name() {
        let fields = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        let line = format!("7 (a) b (c) S {fields}\n");
        assert_eq!(parse_stat(&line), Some(('S', 4711)));
        for wrong in ["", "7 (a", "7 (a) S 1 2", "7 (a) "] {
            assert_eq!(parse_stat(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_process_runs_until_it_has_ended() {
        let this = ProcessId::of_this().expect("a /proc");
        assert!(!this.has_ended());
        assert_eq!(
            this.to_string().parse::<ProcessId>().ok(),
            Some(this.clone())
        );
        let mut child = Command::new("sleep").arg("60").spawn().expect("a child");
        let (_, start_ticks) = stat(child.id()).expect("it runs");
        let other = ProcessId {
            pid: child.id(),
            start_ticks,
            ..this.clone()
        };
        assert!(!other.has_ended());
        child.kill().expect("it is ours");
        // Nobody asked yet how it ended.
        while !matches!(stat(child.id()), Ok(('Z', _))) {
            std::thread::yield_now();
        }
        assert!(other.has_ended());
        child.wait().expect("it is ours");
        assert!(other.has_ended());
        let cases = [
            (
                "another boot",
                ProcessId {
                    boot_id: "x".into(),
                    ..this.clone()
                },
                true,
            ),
            (
                "another start",
                ProcessId {
                    start_ticks: this.start_ticks + 1,
                    ..this.clone()
                },
                true,
            ),
            (
                "another container",
                ProcessId {
                    namespace: "pid:[1]".into(),
                    pid: 0,
                    ..this
                },
                false,
            ),
        ];
        for (what, process, has_ended) in cases {
            assert_eq!(process.has_ended(), has_ended, "{what}");
        }
    }

    #[test]
    fn what_is_no_process_is_refused() {
        for wrong in ["", "a b 1", "a b x 1", "a b 1 2 3", "a b -1 2"] {
            assert!(wrong.parse::<ProcessId>().is_err(), "{wrong}");
        }
    }
}
