//! A registry in this process, that does wrong what a test asks for.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A registry in this process, and what it is to do wrong.
#[derive(Default)]
pub(super) struct Served {
    /// What is at a path below `/v2/app/`.
    pub(super) parts: HashMap<String, Vec<u8>>,
    /// Whether tokens are needed; each is good for so many requests.
    pub(super) token_uses: Option<usize>,
    /// Whether user and password are needed with each request.
    pub(super) wants_password: bool,
    /// Bytes of a blob after which the connection ends, once for each request.
    pub(super) cut_bytes: Option<usize>,
    /// Requests that are answered with 429 first.
    pub(super) busy: AtomicUsize,
    /// Where blobs are, on another host.
    pub(super) blobs_at: Option<String>,
    pub(super) knows_ranges: bool,
    pub(super) tokens: Mutex<HashMap<String, usize>>,
    /// What was sent, by its path below `/v2/app/`.
    pub(super) taken: Mutex<HashMap<String, Vec<u8>>>,
    /// Payloads that are read to their middle first, then the connection ends.
    pub(super) cut_payloads: AtomicUsize,
    /// Path, range and authorization of each request.
    pub(super) asked: Mutex<Vec<(String, String, String)>>,
}

impl Served {
    pub(super) fn start(self) -> (String, Arc<Self>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let served = Arc::new(self);
        let (state, own) = (Arc::clone(&served), address.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (state, own) = (Arc::clone(&state), own.clone());
                thread::spawn(move || while state.answer(&stream, &own) {});
            }
        });
        (address, served)
    }

    /// Answers a request; false if the connection is over.
    fn answer(&self, stream: &std::io::Result<TcpStream>, own: &str) -> bool {
        let Ok(stream) = stream.as_ref() else {
            return false;
        };
        let Some(request) = Request::read(stream) else {
            return false;
        };
        let asked = request.clone();
        let asked = (asked.path, asked.range, asked.authorization);
        self.asked.lock().unwrap().push(asked);
        if request.path.starts_with("/token") {
            let mut tokens = self.tokens.lock().unwrap();
            let token = format!("t{}", tokens.len());
            tokens.insert(format!("Bearer {token}"), self.token_uses.unwrap_or(0));
            let body = format!(r#"{{"token":"{token}"}}"#);
            return send(stream, "200 OK", "", body.as_bytes());
        }
        if !self.is_allowed(&request.authorization) {
            let challenge = if self.wants_password {
                "Basic realm=\"x\"".to_owned()
            } else {
                format!("Bearer realm=\"http://{own}/token\",service=\"s\"")
            };
            let header = format!("WWW-Authenticate: {challenge}\r\n");
            return send(stream, "401 Unauthorized", &header, b"");
        }
        let one_less = |left: usize| left.checked_sub(1);
        let order = Ordering::SeqCst;
        if self.busy.fetch_update(order, order, one_less).is_ok() {
            return send(stream, "429 Too Many Requests", "Retry-After: 0\r\n", b"");
        }
        let name = request.path.trim_start_matches("/v2/app/");
        let is_blob = name.starts_with("blobs/");
        if let Some(other) = self.blobs_at.as_ref().filter(|_| is_blob) {
            let header = format!("Location: http://{other}{}\r\n", request.path);
            return send(stream, "307 Temporary Redirect", &header, b"");
        }
        if request.method == "POST" {
            let header = "Location: /v2/app/blobs/uploads/1?state=x\r\n";
            return send(stream, "202 Accepted", header, b"");
        }
        if request.method == "PUT" {
            if self
                .cut_payloads
                .fetch_update(order, order, one_less)
                .is_ok()
            {
                let _ = stream.shutdown(std::net::Shutdown::Both);
                return false;
            }
            let name = name.replace("uploads/1?state=x&digest=", "");
            self.taken.lock().unwrap().insert(name, request.payload);
            return send(stream, "201 Created", "", b"");
        }
        match self.parts.get(name) {
            None => send(stream, "404 Not Found", "", b""),
            Some(_) if request.method == "HEAD" => send(stream, "200 OK", "", b""),
            Some(bytes) => self.send_part(stream, &request.range, bytes, is_blob),
        }
    }

    /// Whether who asks may have what is asked for; uses up a token.
    fn is_allowed(&self, authorization: &str) -> bool {
        let mut tokens = self.tokens.lock().unwrap();
        let uses = tokens.get_mut(authorization).filter(|uses| **uses > 0);
        match (&self.token_uses, uses) {
            (None, _) => !self.wants_password || authorization == "Basic dTpw",
            (Some(_), Some(uses)) => {
                *uses -= 1;
                true
            }
            (Some(_), None) => false,
        }
    }

    fn send_part(&self, mut stream: &TcpStream, range: &str, bytes: &[u8], is_blob: bool) -> bool {
        let first = range
            .strip_prefix("bytes=")
            .and_then(|it| it.strip_suffix('-'));
        let first: usize = first
            .filter(|_| self.knows_ranges)
            .map_or(0, |it| it.parse().unwrap());
        let status = if first > 0 {
            "206 Partial Content"
        } else {
            "200 OK"
        };
        let (last, all) = (bytes.len() - 1, bytes.len());
        let header = format!("Content-Range: bytes {first}-{last}/{all}\r\n");
        let body = &bytes[first..];
        let cut = self.cut_bytes.filter(|cut| is_blob && *cut < body.len());
        let Some(cut) = cut else {
            return send(stream, status, &header, body);
        };
        let head = head(status, &header, body.len());
        let _ = stream.write_all(&[head.as_bytes(), &body[..cut]].concat());
        let _ = stream.shutdown(std::net::Shutdown::Both);
        false
    }
}

/// What a client asks for.
#[derive(Clone, Default)]
struct Request {
    method: String,
    path: String,
    payload: Vec<u8>,
    range: String,
    authorization: String,
}

impl Request {
    /// The next request; nothing at the end of a connection.
    fn read(stream: &TcpStream) -> Option<Self> {
        let mut request = Self::default();
        let mut payload_bytes = 0;
        // Nothing follows a request, so what is read beyond it is its payload.
        let mut reader = BufReader::new(stream);
        for (line, at) in reader.by_ref().lines().zip(0..) {
            let line = line.ok()?;
            if at == 0 {
                let mut words = line.split(' ');
                words.next()?.clone_into(&mut request.method);
                words.next()?.clone_into(&mut request.path);
            }
            if let Some((name, value)) = line.split_once(": ") {
                match &*name.to_ascii_lowercase() {
                    "content-length" => payload_bytes = value.parse().ok()?,
                    "range" => value.clone_into(&mut request.range),
                    "authorization" => value.clone_into(&mut request.authorization),
                    _ => {}
                }
            }
            if line.is_empty() {
                break;
            }
        }
        request.payload = vec![0; payload_bytes];
        reader.read_exact(&mut request.payload).ok()?;
        (!request.path.is_empty()).then_some(request)
    }
}

fn head(status: &str, headers: &str, body_bytes: usize) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {body_bytes}\r\n{headers}\r\n")
}

fn send(mut stream: &TcpStream, status: &str, headers: &str, body: &[u8]) -> bool {
    let head = head(status, headers, body.len());
    stream.write_all(&[head.as_bytes(), body].concat()).is_ok()
}
