//! Images behind URLs, served by a thread that knows ranges and nothing else.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::run::{Stage, command};

/// Serves the bytes until the process ends; returns the URL and the count of requests.
fn serve(bytes: Vec<u8>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/image", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let requests = Arc::clone(&count);
    thread::spawn(move || {
        for stream in listener.incoming() {
            answer(&stream.unwrap(), &bytes, &requests);
        }
    });
    (url, count)
}

/// Answers the requests of a connection.
fn answer(mut stream: &TcpStream, bytes: &[u8], requests: &AtomicUsize) {
    let mut range = (0, 0);
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { return };
        if let Some(text) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
            let (first, last) = text.split_once('-').unwrap();
            range = (first.parse().unwrap(), last.parse().unwrap());
        }
        if line.is_empty() {
            requests.fetch_add(1, Ordering::SeqCst);
            let last = bytes.len().min(range.1 + 1) - 1;
            let content = &bytes[range.0..=last];
            let header = format!(
                "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\nETag: \"x\"\r\n\
                 Content-Range: bytes {}-{last}/{}\r\n\r\n",
                content.len(),
                range.0,
                bytes.len()
            );
            if stream
                .write_all(&[header.as_bytes(), content].concat())
                .is_err()
            {
                return;
            }
        }
    }
}

#[test]
fn verbs_read_an_image_from_a_server_in_few_requests() {
    let stage = Stage::new();
    fs::create_dir(stage.at("source")).unwrap();
    for number in 0..300_u32 {
        let content = number.to_string().repeat(5000);
        fs::write(stage.at(format!("source/file-{number:03}")), content).unwrap();
    }
    stage.done(["-q", "build", "source", "local.sqfs", "-c", "none"]);
    let image = fs::read(stage.at("local.sqfs")).unwrap();
    assert!(image.len() > 3 << 20);
    for (args, most) in [
        (&["ls", "-lR"][..], 3),
        (&["info"], 3),
        (&["cat", "/file-150"], 4),
        // Its threads ask at the same time, each for what it needs.
        (&["check", "-q"], 200),
    ] {
        let (url, requests) = serve(image.clone());
        let run = |image: &str| {
            let mut command = command();
            command.args([args[0], image]).args(&args[1..]);
            command
                .env("NO_PROXY", "127.0.0.1")
                .current_dir(stage.directory());
            let output = command.output().unwrap();
            assert!(output.status.success(), "{args:?}: {output:?}");
            String::from_utf8(output.stdout)
                .unwrap()
                .replace(image, "IMAGE")
        };
        assert_eq!(run(&url), run("local.sqfs"), "{args:?}");
        let requests = requests.load(Ordering::SeqCst);
        assert!(requests <= most, "{args:?}: {requests}");
    }
}
