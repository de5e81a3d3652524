//! A server on this machine that sends ranges of one file, and notes which.
//!
//! It knows as much of HTTP as the client of zsync asks for: GET with `Range`, on a connection that
//! stays open, answered with one range or with several as `multipart/byteranges` (RFC 9110, 14.4
//! and 14.6).

use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use coldpress_image::ReadAt;

/// A request has a few lines.
const REQUEST_MAX_BYTES: u64 = 64 << 10;

/// What stands between ranges; nothing that a file would hold by chance matters, as each states its
/// length.
const BOUNDARY: &str = "coldpress-range";

/// Bytes of the file that are sent at once.
const CHUNK_BYTES: u64 = 1 << 20;

/// The server; it ends with this value.
pub(crate) struct RangeServer {
    address: SocketAddr,
    sent: Arc<Mutex<Vec<Range<u64>>>>,
    is_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RangeServer {
    /// Serves a file at a port that is free.
    pub(crate) fn start(file: Arc<dyn ReadAt>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let sent = Arc::new(Mutex::new(Vec::new()));
        let is_ended = Arc::new(AtomicBool::new(false));
        let (noted, ended) = (Arc::clone(&sent), Arc::clone(&is_ended));
        let thread = thread::spawn(move || {
            for connection in listener.incoming() {
                if ended.load(Ordering::Acquire) {
                    return;
                }
                // One client at a time: a connection that breaks is its own loss.
                let _ = connection.and_then(|it| converse(it, &*file, &noted));
            }
        });
        Ok(Self {
            address,
            sent,
            is_ended,
            thread: Some(thread),
        })
    }

    /// Where the file is.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/image", self.address)
    }

    /// What was sent of the file, in the order in which it was.
    pub(crate) fn finish(self) -> Vec<Range<u64>> {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *sent)
    }
}

impl Drop for RangeServer {
    fn drop(&mut self) {
        self.is_ended.store(true, Ordering::Release);
        // The thread waits for a connection. If none can be made, it stays until the process ends.
        if TcpStream::connect(self.address).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

/// Answers the requests of a connection until it ends.
fn converse(
    connection: TcpStream,
    file: &dyn ReadAt,
    sent: &Mutex<Vec<Range<u64>>>,
) -> io::Result<()> {
    let size_bytes = file.size_bytes()?;
    let mut writer = connection.try_clone()?;
    let mut reader = BufReader::new(connection);
    while let Some(ranges) = request(&mut reader, size_bytes)? {
        answer(&mut writer, file, size_bytes, &ranges)?;
        let mut sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.extend(ranges);
    }
    Ok(())
}

/// The ranges of the next request; `None` at the end, or for what is no such request.
fn request(
    reader: &mut BufReader<TcpStream>,
    size_bytes: u64,
) -> io::Result<Option<Vec<Range<u64>>>> {
    let mut ranges = None;
    let mut lines = reader.take(REQUEST_MAX_BYTES);
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Ok(ranges);
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("range")
        {
            ranges = parse_ranges(value.trim(), size_bytes);
        }
    }
}

/// The ranges of `bytes=0-99,200-299`, if they are in the file.
fn parse_ranges(value: &str, size_bytes: u64) -> Option<Vec<Range<u64>>> {
    let range = |text: &str| {
        let (first, last) = text.trim().split_once('-')?;
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        let end = last.checked_add(1)?.min(size_bytes);
        (first < end).then_some(first..end)
    };
    value
        .strip_prefix("bytes=")?
        .split(',')
        .map(range)
        .collect()
}

fn answer(
    writer: &mut TcpStream,
    file: &dyn ReadAt,
    size_bytes: u64,
    ranges: &[Range<u64>],
) -> io::Result<()> {
    let of_file = |range: &Range<u64>| {
        let last = range.end - 1;
        format!(
            "Content-Range: bytes {}-{last}/{size_bytes}\r\n",
            range.start
        )
    };
    let len = |range: &Range<u64>| range.end - range.start;
    let mut head = "HTTP/1.1 206 Partial Content\r\n".to_owned();
    if let [range] = ranges {
        let _ = write!(
            head,
            "{}Content-Length: {}\r\n\r\n",
            of_file(range),
            len(range)
        );
        writer.write_all(head.as_bytes())?;
        return send(writer, file, range);
    }
    let part = |range| format!("\r\n--{BOUNDARY}\r\n{}\r\n", of_file(range));
    let end = format!("\r\n--{BOUNDARY}--\r\n");
    let parts = ranges
        .iter()
        .map(|range| part(range).len() as u64 + len(range));
    let body_bytes = parts.sum::<u64>() + end.len() as u64;
    let _ = write!(
        head,
        "Content-Type: multipart/byteranges; boundary={BOUNDARY}\r\n\
         Content-Length: {body_bytes}\r\n\r\n"
    );
    writer.write_all(head.as_bytes())?;
    for range in ranges {
        writer.write_all(part(range).as_bytes())?;
        send(writer, file, range)?;
    }
    writer.write_all(end.as_bytes())
}

fn send(writer: &mut TcpStream, file: &dyn ReadAt, range: &Range<u64>) -> io::Result<()> {
    let mut bytes = Vec::new();
    let mut start = range.start;
    while start < range.end {
        let len = (range.end - start).min(CHUNK_BYTES);
        bytes.resize(usize::try_from(len).unwrap_or_default(), 0);
        let read = file.fill_at(&mut bytes, start)?;
        if read < bytes.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        writer.write_all(&bytes)?;
        start += len;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_in_the_file() {
        let cases: &[(&str, Option<Vec<Range<u64>>>)] = &[
            ("bytes=0-0,2-2", Some(vec![0..1, 2..3])),
            ("bytes=0-9,20-29", Some(vec![0..10, 20..30])),
            ("bytes=1-1,90-200", Some(vec![1..2, 90..100])),
            ("bytes=100-200", None),
            ("bytes=5-4", None),
            ("bytes=-4", None),
            ("bytes=4-", None),
            ("bytes=0-18446744073709551615", None),
            ("lines=0-1", None),
            ("", None),
        ];
        for (value, expected) in cases {
            assert_eq!(parse_ranges(value, 100), *expected, "{value}");
        }
    }

    #[test]
    fn what_is_sent_is_noted() {
        let file: Arc<dyn ReadAt> = Arc::new((0..=255).collect::<Vec<u8>>());
        let server = RangeServer::start(file).unwrap();
        let mut client = TcpStream::connect(server.address).unwrap();
        client
            .write_all(b"GET /image HTTP/1.1\r\nRange: bytes=1-2,9-9\r\n\r\nGET / HTTP/1.1\r\n\r\n")
            .unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        let answer = answer.escape_ascii().to_string();
        assert!(answer.starts_with("HTTP/1.1 206 "), "{answer}");
        assert!(
            answer.contains(r"1-2/256\r\n\r\n\x01\x02\r\n--"),
            "{answer}"
        );
        assert!(answer.contains(r"9-9/256\r\n\r\n\t\r\n--"), "{answer}");
        assert_eq!(server.finish(), [1..3, 9..10]);
    }
}
