//! An image on a server, read range by range (RFC 9110, section 14).

mod answer;

use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use ureq::Agent;

use crate::slots::Slots;
use crate::source::ReadAt;

use answer::Answer;

/// Bytes that are asked for at least: a request costs as much as some hundred KB on most lines, and
/// the metadata of a small image fits in a few such pieces.
const PIECE_BYTES: u64 = 256 << 10;
/// Pieces in one request at most, 4 MiB: what comes in vain is bounded.
const PIECES_MAX: u64 = 16;
/// Pieces that are kept, 16 MiB.
const PIECES_KEPT: usize = 64;
/// The pause before the second try; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// How patient a reader of a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    /// How long connecting, an answer and each 4 MiB of content may take.
    pub timeout: Duration,
    /// How often a request is tried that fails for a reason that may pass: at least once.
    pub tries: u32,
    /// Whether `HTTP_PROXY` and its kin in the environment count.
    pub proxy_from_environment: bool,
}

impl Default for HttpOptions {
    /// 30 seconds, three times, with proxies.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            tries: 3,
            proxy_from_environment: true,
        }
    }
}

/// A file on a server that can be read at any position.
///
/// It is one file from beginning to end: if the server has another by the same name meanwhile,
/// which its `ETag`, its `Last-Modified` or its length shows, reading fails rather than mixing
/// them.
pub struct HttpRange {
    agent: Agent,
    tries: u32,
    url: String,
    first: Answer,
    pieces: Slots<Vec<u8>>,
    /// The piece behind the last request, and how many that had: who reads on gets twice as many.
    ahead: Mutex<(u64, u64)>,
}

impl HttpRange {
    /// Opens `http://` and, with the feature `https`, `https://` URLs. Redirections are followed.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, has no such file, or does not serve ranges of it; the
    /// sentence names the URL without its password and query.
    ///
    /// # Cost
    ///
    /// One request for the first 256 KiB, more if it fails for a reason that may pass.
    pub fn open(url: &str, options: &HttpOptions) -> io::Result<Self> {
        let timeout = Some(options.timeout);
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .accept_encoding("identity")
            .user_agent(concat!("coldpress/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(timeout)
            .timeout_recv_response(timeout)
            .timeout_recv_body(timeout);
        if !options.proxy_from_environment {
            config = config.proxy(None);
        }
        #[cfg(feature = "https")]
        if let Ok(uri) = url.parse::<ureq::http::Uri>()
            && let Some(authority) = uri.authority()
        {
            let (_, host) = authority
                .as_str()
                .rsplit_once('@')
                .unwrap_or(("", authority.as_str()));
            config = config.tls_config(crate::tls_config(host)?);
        }
        let mut opened = Self {
            agent: config.build().into(),
            tries: options.tries.max(1),
            url: url.to_owned(),
            first: Answer::default(),
            pieces: Slots::new(PIECES_KEPT),
            ahead: Mutex::new((1, 1)),
        };
        let (answer, content) = opened.request((0, PIECE_BYTES - 1))?;
        opened.first = answer;
        opened.pieces.put(0, content);
        Ok(opened)
    }

    /// Reads pieces in one request, `first` and as many behind it, and keeps them.
    fn fetch(&self, first: u64, count: u64) -> io::Result<Vec<u8>> {
        let start = first.saturating_mul(PIECE_BYTES);
        let end = start
            .saturating_add(count.saturating_mul(PIECE_BYTES))
            .min(self.first.size_bytes);
        let (answer, content) = self.request((start, end.saturating_sub(1)))?;
        if let Some(why) = self.first.differs_from(&answer) {
            return Err(self.failed(&format!("the file changed while it was read: {why}")));
        }
        let pieces = content.chunks(usize::try_from(PIECE_BYTES).unwrap_or(usize::MAX));
        for (piece, number) in pieces.zip(first..) {
            self.pieces.put(number, piece.to_vec());
        }
        Ok(content)
    }

    /// How many pieces to ask for from `first` on if `wanted` are needed.
    fn count_ahead(&self, first: u64, wanted: u64) -> u64 {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, before) = *ahead;
        let grown = if first == next { before * 2 } else { 1 };
        let count = grown.max(wanted).min(PIECES_MAX);
        *ahead = (first.saturating_add(count), count);
        count
    }

    /// Asks for a range, first and last byte, again if that may help.
    fn request(&self, range: (u64, u64)) -> io::Result<(Answer, Vec<u8>)> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..self.tries {
            match self.request_once(range) {
                Err(error) if may_pass(&error) => sleep(pause),
                answer => return answer,
            }
            pause *= 2;
        }
        self.request_once(range)
    }

    fn request_once(&self, (first, last): (u64, u64)) -> io::Result<(Answer, Vec<u8>)> {
        let mut request = self
            .agent
            .get(&self.url)
            .header("Range", format!("bytes={first}-{last}"));
        if let Some(validator) = &self.first.validator {
            request = request.header("If-Range", validator);
        }
        let mut response = request.call().map_err(|error| self.no_answer(&error))?;
        let had_one = self.first.size_bytes > 0;
        let answer = Answer::of(
            response.status(),
            response.headers(),
            (first, last),
            had_one,
        )
        .map_err(|(kind, why)| io::Error::new(kind, self.sentence(&why)))?;
        let mut content = Vec::new();
        let len = usize::try_from(answer.content_bytes).unwrap_or(usize::MAX);
        let mut body = response.body_mut().as_reader().take(answer.content_bytes);
        body.read_to_end(&mut content).map_err(|error| {
            let why = format!("the content ended early: {error}");
            io::Error::new(error.kind(), self.sentence(&why))
        })?;
        if content.len() < len {
            let why = format!("{} of {len} bytes arrived", content.len());
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                self.sentence(&why),
            ));
        }
        Ok((answer, content))
    }

    fn no_answer(&self, error: &ureq::Error) -> io::Error {
        let kind = match error {
            ureq::Error::Timeout(_) => io::ErrorKind::TimedOut,
            ureq::Error::Io(error) => error.kind(),
            ureq::Error::ConnectionFailed | ureq::Error::BodyStalled => {
                io::ErrorKind::ConnectionAborted
            }
            ureq::Error::TlsRequired => io::ErrorKind::Unsupported,
            _ => io::ErrorKind::Other,
        };
        let why = match error {
            ureq::Error::TlsRequired => "https is not built in (feature `https`)".to_owned(),
            error => error.to_string(),
        };
        io::Error::new(kind, self.sentence(&why))
    }

    fn failed(&self, why: &str) -> io::Error {
        io::Error::other(self.sentence(why))
    }

    fn sentence(&self, why: &str) -> String {
        format!("`{}`: {why}", shown(&self.url))
    }
}

impl ReadAt for HttpRange {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        let left = self.first.size_bytes.saturating_sub(start);
        if left == 0 || buf.is_empty() {
            return Ok(0);
        }
        let (number, offset) = (start / PIECE_BYTES, start % PIECE_BYTES);
        if let Some(piece) = self.pieces.get(number) {
            return Ok(copy(&piece, offset, buf));
        }
        let wanted = offset.saturating_add(left.min(buf.len() as u64));
        let count = self.count_ahead(number, wanted.div_ceil(PIECE_BYTES));
        Ok(copy(&self.fetch(number, count)?, offset, buf))
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.first.size_bytes)
    }
}

impl std::fmt::Debug for HttpRange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("HttpRange")
            .field("url", &shown(&self.url))
            .field("size_bytes", &self.first.size_bytes)
            .finish_non_exhaustive()
    }
}

fn copy(piece: &[u8], offset: u64, buf: &mut [u8]) -> usize {
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let bytes = piece.get(offset..).unwrap_or_default();
    let len = bytes.len().min(buf.len());
    for (to, from) in buf.iter_mut().zip(bytes) {
        *to = *from;
    }
    len
}

/// Whether the same request may succeed a moment later.
fn may_pass(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::TimedOut
            | io::ErrorKind::WouldBlock
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::Interrupted
            | io::ErrorKind::ResourceBusy
    )
}

/// A URL without what may be secret in it.
fn shown(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = url.get(..end).unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let host_end = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at_checked(host_end).unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shown_without_secrets() {
        for (url, text) in [
            ("http://host/a.sqfs", "http://host/a.sqfs"),
            (
                "https://me:secret@host:8080/a?token=x#y",
                "https://host:8080/a",
            ),
            ("http://host?x@y", "http://host"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(shown(url), text);
        }
    }
}
