//! Reading what cannot be read again: a thread that decompresses ahead.
//!
//! A thread of its own even where nothing is compressed, since a program that writes into a pipe
//! may keep it waiting, and whoever waits for the program must be able to stop.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::compression::{Compression, MAGIC_BYTES};

/// Bytes that are handed over at once.
pub(crate) const CHUNK_BYTES: usize = 128 << 10;
/// Chunks that wait for the reader: enough that neither waits for the other for long.
const CHUNKS: usize = 8;
/// How long a wait lasts until it is asked whether to go on.
const PATIENCE: Duration = Duration::from_millis(100);

/// Where a thread sends what it reads.
pub(crate) type Chunks = SyncSender<io::Result<Vec<u8>>>;

/// A thread that reads and decompresses a stream.
pub(crate) struct Pump {
    chunks: Option<Receiver<io::Result<Vec<u8>>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Pump {
    /// Reads a file, which may be a pipe.
    pub(super) fn of_file(file: File) -> Self {
        Self::of_file_noted(file, |_| Ok(()))
    }

    /// As [`Pump::of_file`].
    ///
    /// * `note`: sees each chunk first.
    pub(super) fn of_file_noted(
        file: File,
        mut note: impl FnMut(&[u8]) -> io::Result<()> + Send + 'static,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stream = Stoppable {
            file,
            stop: Arc::clone(&stop),
        };
        Self::start(stop, move |chunks| {
            let (plain, _) = decompressed(stream)?;
            pump(plain, chunks, &mut note)
        })
    }

    /// Lets a thread send the chunks of a stream that never waits for anybody else.
    pub(crate) fn of_thread(send: impl FnOnce(&Chunks) -> io::Result<()> + Send + 'static) -> Self {
        Self::start(Arc::new(AtomicBool::new(false)), send)
    }

    fn start(
        stop: Arc<AtomicBool>,
        send: impl FnOnce(&Chunks) -> io::Result<()> + Send + 'static,
    ) -> Self {
        let (sender, chunks) = sync_channel(CHUNKS);
        let thread = thread::spawn(move || {
            if let Err(error) = send(&sender) {
                // Nobody listens any more: the reason to stop is known there.
                let _ = sender.send(Err(error));
            }
        });
        Self {
            chunks: Some(chunks),
            stop,
            thread: Some(thread),
        }
    }

    /// The next bytes, none at the end. `Break` if `check` says so while they are waited for.
    pub(crate) fn next(
        &mut self,
        check: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<(), Vec<u8>>> {
        while let Some(chunks) = &self.chunks {
            match chunks.recv_timeout(PATIENCE) {
                Ok(chunk) => return chunk.map(ControlFlow::Continue),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if check().is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.chunks = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => Ok(ControlFlow::Continue(Vec::new())),
        }
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Whoever sends a chunk must not wait for its place.
        self.chunks = None;
        if let Some(thread) = self.thread.take() {
            // It only panics where `next` would have told so.
            let _ = thread.join();
        }
    }
}

/// What is in a stream that may be compressed, and how it is.
pub(crate) fn decompressed<'a>(
    mut stream: impl Read + Send + 'a,
) -> io::Result<(Box<dyn Read + Send + 'a>, Option<Compression>)> {
    let mut head = Vec::new();
    stream
        .by_ref()
        .take(MAGIC_BYTES as u64)
        .read_to_end(&mut head)?;
    let compression = Compression::of(&head);
    let whole = Cursor::new(head).chain(stream);
    let plain = match compression {
        Some(compression) => compression.decoder(BufReader::with_capacity(CHUNK_BYTES, whole))?,
        None => Box::new(whole),
    };
    Ok((plain, compression))
}

/// Sends all chunks of a stream, or until nobody wants them.
///
/// * `note`: sees each chunk first.
pub(crate) fn pump(
    mut plain: impl Read,
    chunks: &Chunks,
    note: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    loop {
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        let read = plain
            .by_ref()
            .take(CHUNK_BYTES as u64)
            .read_to_end(&mut chunk);
        // What came before an error is good: the error is located by what it cuts.
        let has_ended = chunk.is_empty();
        note(&chunk)?;
        if !has_ended && chunks.send(Ok(chunk)).is_err() {
            return Err(io::Error::other("nobody reads any more"));
        }
        read?;
        if has_ended {
            return Ok(());
        }
    }
}

/// A file whose reader can be stopped while it waits.
struct Stoppable {
    file: File,
    stop: Arc<AtomicBool>,
}

impl Read for Stoppable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let timeout = Timespec::try_from(PATIENCE).map_err(io::Error::other)?;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(io::Error::other("nobody reads any more"));
            }
            let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut fds, Some(&timeout)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return self.file.read(buffer),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
