//! Images on a server, which here is a thread that does what a test wants.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use coldpress_format::Body;
use coldpress_image::{HttpOptions, HttpRange, Image, ReadAt, walk};

use crate::{handmade, source_tree};

/// How the server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Ranges,
    /// The whole file, whatever is asked.
    Whole,
    /// Half of what it announces.
    CutShort,
    /// As `CutShort` for the first request.
    CutShortOnce,
    /// 503 for the first request.
    BusyOnce,
    /// Another file from the second request on, which the tag shows.
    Changing,
    /// As `Changing`, but `If-Range` is not known to it.
    ChangingCarelessly,
    /// No answer.
    Silent,
    /// The first bytes, whatever is asked.
    WrongRange,
    Missing,
}

struct Server {
    url: String,
    requests: Arc<AtomicUsize>,
}

impl Server {
    fn start(bytes: Vec<u8>, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!(
            "http://{}/image.sqfs?secret",
            listener.local_addr().unwrap()
        );
        let requests = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requests);
        let bytes = Arc::new(bytes);
        // Ends with the process: nobody waits for it.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (bytes, count) = (Arc::clone(&bytes), Arc::clone(&count));
                thread::spawn(move || serve(&stream.unwrap(), &bytes, manner, &count));
            }
        });
        Self { url, requests }
    }

    fn open(&self) -> std::io::Result<HttpRange> {
        let options = HttpOptions {
            timeout: Duration::from_millis(300),
            tries: 2,
            proxy_from_environment: false,
        };
        HttpRange::open(&self.url, &options)
    }

    fn count(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// Answers the requests of a connection.
fn serve(mut stream: &TcpStream, bytes: &[u8], manner: Manner, count: &AtomicUsize) {
    let mut lines = BufReader::new(stream).lines();
    loop {
        let mut range = None;
        let mut condition = None;
        loop {
            let Some(Ok(line)) = lines.next() else { return };
            let lower = line.to_ascii_lowercase();
            if let Some(text) = lower.strip_prefix("range: bytes=") {
                let (first, last) = text.split_once('-').unwrap();
                range = Some((first.parse().unwrap(), last.parse().unwrap()));
            }
            if lower.starts_with("if-range: ") {
                condition = Some(line["if-range: ".len()..].to_owned());
            }
            if line.is_empty() {
                break;
            }
        }
        let number = count.fetch_add(1, Ordering::SeqCst);
        let answer = answer(bytes, manner, number, range, condition.as_deref());
        if answer.is_empty() {
            thread::sleep(Duration::from_secs(3));
            return;
        }
        if stream.write_all(&answer).is_err() || manner == Manner::CutShort {
            return;
        }
        if manner == Manner::CutShortOnce && number == 0 {
            return;
        }
    }
}

fn answer(
    bytes: &[u8],
    manner: Manner,
    number: usize,
    range: Option<(usize, usize)>,
    condition: Option<&str>,
) -> Vec<u8> {
    let tag = match manner {
        Manner::Changing | Manner::ChangingCarelessly if number > 0 => "\"two\"",
        _ => "\"one\"",
    };
    let (mut first, last) = range.unwrap();
    let last = last.min(bytes.len() - 1);
    let is_other = manner == Manner::Changing && condition.is_some_and(|mark| mark != tag);
    let (status, content) = match manner {
        Manner::Silent => return Vec::new(),
        Manner::Missing => ("404 Not Found", &b"no"[..]),
        Manner::BusyOnce if number == 0 => ("503 Service Unavailable", &b"later"[..]),
        Manner::Whole => ("200 OK", bytes),
        _ if is_other => ("200 OK", bytes),
        _ => ("206 Partial Content", &bytes[first..=last]),
    };
    let sent = match manner {
        Manner::CutShort => &content[..content.len() / 2],
        Manner::CutShortOnce if number == 0 => &content[..content.len() / 2],
        _ => content,
    };
    if manner == Manner::WrongRange {
        first += 1;
    }
    let header = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nETag: {tag}\r\nContent-Range: bytes \
         {first}-{last}/{}\r\n\r\n",
        content.len(),
        bytes.len()
    );
    [header.as_bytes(), sent].concat()
}

/// What an image does not end with, so that pieces differ.
fn padded(len: usize) -> Vec<u8> {
    let mut bytes = handmade::image(true).bytes;
    bytes.extend_from_slice(&source_tree::noise(1, len));
    bytes
}

#[test]
fn an_image_is_listed_in_few_requests() {
    let server = Server::start(padded(3 << 20), Manner::Ranges);
    let image = Image::new(Box::new(server.open().unwrap())).unwrap();
    let mut paths = 0;
    walk(&image, &mut |_| {
        paths += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(paths, 8);
    // All of it lies in the first piece, which opening fetched.
    assert_eq!(server.count(), 1);
    let (_, inode) = image.find(b"/dir/file").unwrap().unwrap();
    let Body::File(file) = inode.body else {
        panic!("it is no file");
    };
    let mut content = vec![0; handmade::file_content().len()];
    assert_eq!(
        image.read_at(&file, 0, &mut content).unwrap(),
        content.len()
    );
    assert!(content == handmade::file_content());
}

#[test]
fn every_byte_is_the_servers_and_reading_on_asks_for_more_at_once() {
    let bytes = padded(5 << 20);
    let server = Server::start(bytes.clone(), Manner::Ranges);
    let source = server.open().unwrap();
    assert_eq!(source.size_bytes().unwrap(), bytes.len() as u64);
    let mut found = Vec::new();
    let mut buf = vec![0; 10_007];
    loop {
        let len = source.read_at(&mut buf, found.len() as u64).unwrap();
        if len == 0 {
            break;
        }
        found.extend_from_slice(&buf[..len]);
    }
    assert!(found == bytes);
    // 21 pieces: 1, 2, 4, 8 and the rest.
    assert!(server.count() <= 6, "{}", server.count());
    // A block that spans pieces is one request.
    let before = server.count();
    let source = server.open().unwrap();
    let mut block = vec![0; 1 << 20];
    assert_eq!(source.read_at(&mut block, 3_000_000).unwrap(), block.len());
    assert!(block == bytes[3_000_000..3_000_000 + block.len()]);
    assert_eq!(server.count() - before, 2);
}

#[test]
fn threads_share_a_source() {
    let bytes = padded(2 << 20);
    let server = Server::start(bytes.clone(), Manner::Ranges);
    let source = server.open().unwrap();
    let failures = Mutex::new(0);
    thread::scope(|scope| {
        for number in 0..4_usize {
            let (source, bytes, failures) = (&source, &bytes, &failures);
            scope.spawn(move || {
                let start = number * 500_000 + 123;
                let mut buf = [0; 5000];
                let len = source.read_at(&mut buf, start as u64).unwrap();
                if buf[..len] != bytes[start..start + len] || len == 0 {
                    *failures.lock().unwrap() += 1;
                }
            });
        }
    });
    assert_eq!(*failures.lock().unwrap(), 0);
}

#[test]
fn what_passes_is_tried_again() {
    for manner in [Manner::CutShortOnce, Manner::BusyOnce] {
        let server = Server::start(padded(0), manner);
        let source = server.open().unwrap();
        let mut magic = [0; 4];
        assert_eq!(source.read_at(&mut magic, 0).unwrap(), 4, "{manner:?}");
        assert_eq!(&magic, b"hsqs");
        assert_eq!(server.count(), 2, "{manner:?}");
    }
}

#[test]
fn what_cannot_be_read_in_place_is_told() {
    for (manner, why, requests) in [
        (Manner::Whole, "the server does not serve ranges", 1),
        (Manner::CutShort, "the content ended early", 2),
        (Manner::Silent, "timeout", 2),
        (Manner::WrongRange, "the server sends bytes 1 to", 1),
        (Manner::Missing, "the server says 404 Not Found", 1),
    ] {
        let server = Server::start(padded(0), manner);
        let error = server.open().unwrap_err();
        let text = error.to_string();
        assert!(text.contains(why), "{manner:?}: {text}");
        assert!(
            text.contains("/image.sqfs`") && !text.contains("secret"),
            "{text}"
        );
        assert_eq!(server.count(), requests, "{manner:?}");
    }
}

#[test]
fn a_file_that_changes_is_an_error_and_not_a_mixture() {
    for manner in [Manner::Changing, Manner::ChangingCarelessly] {
        let server = Server::start(padded(2 << 20), manner);
        let source = server.open().unwrap();
        let mut buf = [0; 10];
        // Of the first piece there is a copy.
        assert_eq!(source.read_at(&mut buf, 100).unwrap(), 10);
        let error = source.read_at(&mut buf, 1_500_000).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("the file changed while it was read"),
            "{text}"
        );
    }
}

#[test]
fn nobody_there_and_what_is_no_url_are_errors() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let options = HttpOptions {
        tries: 1,
        proxy_from_environment: false,
        ..HttpOptions::default()
    };
    for url in [
        &format!("http://{address}/x")[..],
        "http://",
        "ftp://host/x",
        "",
    ] {
        assert!(HttpRange::open(url, &options).is_err(), "{url}");
    }
}
