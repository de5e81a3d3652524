//! What a guest reads of its disk, request by request, as QEMU tells of it.
//!
//! QEMU writes a line for each request into a pipe, at a tracepoint that all kinds of disks have in
//! common (`blk_co_preadv`), and only what the guest asks for is one: its disk has no other user.
//! The backend is `log`, which distributions build (`qemu -trace help`).

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::VirtualMachine;
use crate::{Error, FIRST_ACCESSES_MAX};

/// The tracepoint of each read request, whatever the disk is attached to.
const EVENT: &str = "blk_co_preadv";

/// The longest line of that tracepoint has about 150 bytes.
const LINE_BYTES_MAX: u64 = 4096;

/// A request of a guest to its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskRead {
    /// Since the machine was made, in microseconds; never less than that of the one before.
    pub time_us: u64,
    /// First byte of the disk that is wanted.
    pub start_byte: u64,
    /// How many.
    pub len_bytes: u64,
}

/// What was read of a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskReads {
    /// In the order in which they were asked for.
    pub reads: Vec<DiskRead>,
    /// Requests beyond [`FIRST_ACCESSES_MAX`], which are only counted.
    pub lost: u64,
}

/// Listens to the requests of a machine.
#[derive(Debug)]
pub struct DiskLog {
    heard: Arc<Mutex<Heard>>,
    thread: JoinHandle<Result<(), Error>>,
}

#[derive(Debug)]
struct Heard {
    reads: DiskReads,
    last: Instant,
}

/// The words for QEMU that make it write requests into the file with this number.
pub(super) fn words(pipe: i32) -> [OsString; 6] {
    [
        "-msg".into(),
        "timestamp=on".into(),
        "-trace".into(),
        format!("enable={EVENT}").into(),
        "-D".into(),
        format!("/dev/fd/{pipe}").into(),
    ]
}

impl DiskLog {
    /// Listens to a pipe until its other end is closed.
    pub(super) fn listen(pipe: OwnedFd) -> Result<Self, Error> {
        let heard = Arc::new(Mutex::new(Heard {
            reads: DiskReads::default(),
            last: Instant::now(),
        }));
        let begun = SystemTime::now().duration_since(UNIX_EPOCH);
        let begun_us = begun.map_or(0, |time| time.as_micros());
        let into = Arc::clone(&heard);
        let listener = thread::Builder::new().name("requests".to_owned());
        let thread = listener.spawn(move || {
            let mut lines = BufReader::new(File::from(pipe));
            follow(&mut lines, begun_us, &mut |read| {
                let mut heard = into.lock().unwrap_or_else(PoisonError::into_inner);
                heard.last = Instant::now();
                if (heard.reads.reads.len() as u64) < FIRST_ACCESSES_MAX {
                    heard.reads.reads.push(read);
                } else {
                    heard.reads.lost += 1;
                }
            })
        });
        let action = "start a thread";
        let thread = thread.map_err(|source| Error::System { action, source })?;
        Ok(Self { heard, thread })
    }

    /// How long nothing was read.
    pub fn quiet_for(&self) -> Duration {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.last.elapsed()
    }

    /// Ends the machine, and returns what it read.
    ///
    /// # Errors
    ///
    /// [`Error::DiskLog`] if QEMU wrote what is not understood: nothing is left out silently.
    pub fn finish(self, machine: VirtualMachine) -> Result<DiskReads, Error> {
        drop(machine);
        let action = "listen to QEMU";
        let ended = self.thread.join();
        ended.map_err(|_| Error::System {
            action,
            source: io::Error::other("the listening thread ended"),
        })??;
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut heard.reads))
    }
}

/// Reads lines to their end.
fn follow(
    lines: &mut dyn BufRead,
    begun_us: u128,
    take: &mut dyn FnMut(DiskRead),
) -> Result<(), Error> {
    let mut latest_us = 0;
    let mut number = 0_u64;
    loop {
        number += 1;
        let mut line = Vec::new();
        let read = lines.take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        let len = read.map_err(|source| Error::System {
            action: "read the requests of QEMU",
            source,
        })?;
        if len == 0 {
            return Ok(());
        }
        let refused = |rule| Error::DiskLog {
            line: number,
            rule,
            found: String::from_utf8_lossy(&line).trim_end().to_owned(),
        };
        let Some(text) = line.strip_suffix(b"\n") else {
            return Err(refused("must end with a line feed within 4096 bytes"));
        };
        let text = std::str::from_utf8(text).map_err(|_| refused("must be text"))?;
        let (at_us, start_byte, len_bytes) = request(text).ok_or_else(|| {
            refused("must be `PID@SECONDS.MICROSECONDS:blk_co_preadv ... offset N bytes N ...`")
        })?;
        let end = start_byte.checked_add(len_bytes);
        end.ok_or_else(|| refused("must end within 2^64 bytes"))?;
        // The clock of this machine may be set back.
        let since = u64::try_from(at_us.saturating_sub(begun_us)).unwrap_or(u64::MAX);
        latest_us = since.max(latest_us);
        take(DiskRead {
            time_us: latest_us,
            start_byte,
            len_bytes,
        });
    }
}

/// Time since 1970 in us, first byte and length of a request.
fn request(line: &str) -> Option<(u128, u64, u64)> {
    let (stamp, event) = line.split_once(':')?;
    let (_, time) = stamp.split_once('@')?;
    let (seconds, micros) = time.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if micros.len() != 6 || !digits(micros) || !digits(seconds) {
        return None;
    }
    let at_us = u128::from(seconds.parse::<u64>().ok()?) * 1_000_000
        + u128::from(micros.parse::<u64>().ok()?);
    let mut words = event.split_ascii_whitespace();
    if words.next()? != EVENT {
        return None;
    }
    let words: Vec<&str> = words.collect();
    let number = |name: &str| {
        let place = words.iter().position(|word| *word == name)?;
        let text = words.get(place + 1).filter(|text| digits(text))?;
        text.parse::<u64>().ok()
    };
    Some((at_us, number("offset")?, number("bytes")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str) -> Result<Vec<(u64, u64, u64)>, Error> {
        let mut reads = Vec::new();
        let mut take = |read: DiskRead| reads.push((read.time_us, read.start_byte, read.len_bytes));
        follow(&mut text.as_bytes(), 1_795_591_061_000_000, &mut take)?;
        Ok(reads)
    }

    const LINE: &str = "32210@1795591061.104477:blk_co_preadv blk 0x55 bs 0x56 offset 1683456 bytes 5120 flags 0x8\n";

    #[test]
    fn requests_have_time_and_place() {
        let earlier = LINE.replace("061.104477", "060.000001");
        let found = heard(&format!("{LINE}{earlier}")).expect("requests");
        assert_eq!(
            found,
            [(104_477, 1_683_456, 5120), (104_477, 1_683_456, 5120)]
        );
        assert_eq!(heard("").expect("nothing"), []);
    }

    #[test]
    fn what_is_no_request_is_told_with_its_line() {
        for broken in [
            "\n".to_owned(),
            LINE.replace('\n', ""),
            LINE.replace("offset", "offse"),
            LINE.replace("5120", "-1"),
            LINE.replace("5120", "18446744073709551615"),
            LINE.replace("blk_co_preadv", "blk_co_pwritev"),
            LINE.replace(".104477", ".1044"),
            LINE.replace("1683456", "99999999999999999999999"),
            "x".repeat(5000),
        ] {
            let error = heard(&format!("{LINE}{broken}")).expect_err("no request");
            assert!(matches!(error, Error::DiskLog { line: 2, .. }), "{error}");
        }
    }
}
