//! Who is told of damage that programs meet, and how a mount was used.

use std::io::{self, Write as _};
use std::os::unix::net::UnixDatagram;
use std::process;
use std::sync::Arc;

use coldpress_mount::Tell;

/// Where the system log listens.
const SYSTEM_LOG: &str = "/dev/log";
/// Facility daemon, severity error.
const ERROR: u8 = 3 << 3 | 3;
/// Facility daemon, severity informational.
const NOTE: u8 = 3 << 3 | 6;

/// The terminal, or the system log if there is no terminal any more. Without a system log nobody is
/// told; programs meet I/O errors in any case.
#[derive(Debug)]
pub(super) struct Log {
    system: Option<UnixDatagram>,
}

impl Log {
    pub(super) fn new(in_background: bool) -> Self {
        let system = in_background.then(|| UnixDatagram::unbound().ok());
        Self {
            system: system.flatten(),
        }
    }

    fn error(&self, text: &str) {
        self.write(ERROR, "error: ", text);
    }

    /// Tells what is no error.
    pub(super) fn note(&self, line: &str) {
        self.write(NOTE, "", line);
    }

    fn write(&self, priority: u8, label: &str, text: &str) {
        match &self.system {
            Some(log) => {
                let line = format!("<{priority}>coldpress[{}]: {text}", process::id());
                let _ = log.send_to(line.as_bytes(), SYSTEM_LOG);
            }
            None => {
                let _ = writeln!(io::stderr().lock(), "{label}{text}");
            }
        }
    }
}

/// Tells a log of damage.
pub(super) fn teller(log: &Arc<Log>) -> Tell {
    let log = Arc::clone(log);
    Box::new(move |trouble| log.error(&trouble.to_string()))
}
