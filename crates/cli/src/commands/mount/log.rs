//! Who is told of damage that programs meet.

use std::io::{self, Write as _};
use std::os::unix::net::UnixDatagram;
use std::process;

use coldpress_mount::Tell;

/// Where the system log listens.
const SYSTEM_LOG: &str = "/dev/log";
/// Facility daemon, severity error.
const PRIORITY: u8 = 3 << 3 | 3;

/// Tells the terminal, or the system log if there is no terminal any more. Without a system log
/// nobody is told; programs meet I/O errors in any case.
pub(super) fn teller(in_background: bool) -> Tell {
    let log = in_background
        .then(|| UnixDatagram::unbound().ok())
        .flatten();
    Box::new(move |trouble| match &log {
        Some(log) => {
            let line = format!("<{PRIORITY}>coldpress[{}]: {trouble}", process::id());
            let _ = log.send_to(line.as_bytes(), SYSTEM_LOG);
        }
        None => {
            let _ = writeln!(io::stderr().lock(), "error: {trouble}");
        }
    })
}
