//! Reading a start pack ahead of the program, and handing its pages to the kernel.

use std::ffi::OsString;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use coldpress_format::PACK_PAGE_BYTES;
use coldpress_image::ReadAdvice;

use crate::cache::lock;
use crate::file_system::FileSystem;

/// Pieces that are decompressed before the kernel was handed those before them: fewer than are
/// kept.
const AHEAD_PIECES: u32 = 16;

/// Bytes of the image that are read at a time: on a hard disk, finding the next place takes as long
/// as reading 1 MB.
const READ_BYTES: u64 = 4 << 20;

/// Ranges of a file, by its path from the root of the mount.
type PageRange = (PathBuf, Range<u64>);
/// Makes the kernel ask for ranges of files; returns when it has.
pub type PageDelivery = Box<dyn FnMut(&[PageRange]) -> io::Result<()> + Send>;

/// Threads that read a start pack from its first piece to its last; they end on drop.
#[derive(Debug)]
pub struct PackPrefetch {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    file_system: Arc<FileSystem>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// The next piece to be read.
    next: u32,
    /// The kernel was handed the pieces before this one.
    delivered: u32,
    count: u32,
    /// Image byte up to which it is read ahead.
    advised: u64,
    /// Without delivery, nothing is waited for.
    delivers: bool,
    is_over: bool,
}

impl PackPrefetch {
    /// Starts to read, once for a file system; nothing happens without a start pack.
    ///
    /// * `threads`: how many decompress.
    /// * `delivery`: hands pages to the kernel, if that is possible; otherwise it asks for each.
    ///
    /// # Errors
    ///
    /// If there are no threads to be had.
    pub fn start(
        file_system: &Arc<FileSystem>,
        threads: NonZeroUsize,
        delivery: Option<PageDelivery>,
    ) -> io::Result<Self> {
        let pieces = file_system
            .start_pack()
            .map_or(0, |reader| reader.pack().pieces().len());
        let count = u32::try_from(pieces).unwrap_or(u32::MAX);
        let mut prefetch = Self {
            shared: Arc::new(Shared {
                file_system: Arc::clone(file_system),
                state: Mutex::new(State {
                    next: 0,
                    delivered: 0,
                    advised: 0,
                    count,
                    delivers: delivery.is_some(),
                    is_over: false,
                }),
                changed: Condvar::new(),
            }),
            threads: Vec::new(),
        };
        if count == 0 {
            return Ok(prefetch);
        }
        if let Some(reader) = file_system.start_pack() {
            reader.set_arriving(true);
            // Whoever needs a block meanwhile needs no more than that.
            file_system.image().advise(ReadAdvice::Random);
            let advised = reader.pack().expect_start(file_system.image(), READ_BYTES);
            lock(&prefetch.shared.state).advised = advised;
        }
        for _ in 0..threads.get() {
            let shared = Arc::clone(&prefetch.shared);
            let thread = thread::Builder::new().name("start-pack".to_owned());
            prefetch.threads.push(thread.spawn(move || shared.read())?);
        }
        if let Some(delivery) = delivery {
            let shared = Arc::clone(&prefetch.shared);
            let thread = thread::Builder::new().name("delivery".to_owned());
            let thread = thread.spawn(move || shared.deliver(delivery))?;
            prefetch.threads.push(thread);
        }
        Ok(prefetch)
    }
}

impl Drop for PackPrefetch {
    fn drop(&mut self) {
        lock(&self.shared.state).is_over = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // One that panicked has nothing to say.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Reads pieces until there are no more.
    fn read(&self) {
        while let Some(piece) = self.next() {
            self.read_piece(piece);
        }
        if !lock(&self.state).delivers {
            self.end();
        }
    }

    fn next(&self) -> Option<u32> {
        let mut state = lock(&self.state);
        while !state.is_over
            && state.delivers
            && state.next >= state.delivered.saturating_add(AHEAD_PIECES)
        {
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        let piece = state.next;
        if state.is_over || piece >= state.count {
            return None;
        }
        state.next += 1;
        self.advise(piece, &mut state.advised);
        Some(piece)
    }

    /// Lets the image be read ahead of a piece.
    fn advise(&self, piece: u32, advised: &mut u64) {
        let Some(reader) = self.file_system.start_pack() else {
            return;
        };
        let index = usize::try_from(piece).unwrap_or(usize::MAX);
        let start = reader.pack().pieces().get(index).map_or(0, |(_, at)| *at);
        let end = reader.pack().end();
        // The next part before the one before it is used up.
        while *advised < end && *advised < start.saturating_add(READ_BYTES) {
            let next = advised.saturating_add(READ_BYTES).min(end);
            let range = *advised..next;
            self.file_system.image().advise(ReadAdvice::WillNeed(range));
            *advised = next;
        }
    }

    fn read_piece(&self, piece: u32) {
        if let Some(reader) = self.file_system.start_pack() {
            // Damage is told when a request meets it.
            let _ = reader.piece(self.file_system.image(), piece);
        }
    }

    fn deliver(&self, mut delivery: PageDelivery) {
        let count = lock(&self.state).count;
        let mut ranges = self.ranges();
        for piece in 0..count {
            // Waits for who reads it.
            self.read_piece(piece);
            let of_piece = ranges.next().unwrap_or_default();
            let failed = delivery(&of_piece).is_err();
            let mut state = lock(&self.state);
            state.delivered = piece + 1;
            state.delivers &= !failed;
            let is_over = state.is_over;
            drop(state);
            self.changed.notify_all();
            if failed || is_over {
                break;
            }
        }
        self.end();
    }

    /// The pages of each piece.
    fn ranges(&self) -> impl Iterator<Item = Vec<PageRange>> {
        let reader = self.file_system.start_pack();
        let mut pieces: Vec<Vec<PageRange>> = Vec::new();
        for (run, (piece, _)) in reader.iter().flat_map(|reader| reader.pack().runs()) {
            let index = usize::try_from(piece).unwrap_or(usize::MAX);
            pieces.resize_with(pieces.len().max(index + 1), Vec::new);
            let files = reader.map_or(&[][..], |reader| reader.pack().files());
            let file = usize::try_from(run.file).ok();
            if let Some(file) = file.and_then(|file| files.get(file)) {
                let path = OsString::from_vec(file.path.clone());
                let start = run.first_page.saturating_mul(PACK_PAGE_BYTES);
                let len = u64::from(run.page_count).saturating_mul(PACK_PAGE_BYTES);
                pieces[index].push((path.into(), start..start.saturating_add(len)));
            }
        }
        pieces.into_iter()
    }

    /// Nothing is put off any more.
    fn end(&self) {
        if let Some(reader) = self.file_system.start_pack() {
            reader.set_arriving(false);
            self.file_system.image().advise(ReadAdvice::Blocks);
        }
    }
}
