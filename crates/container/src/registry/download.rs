//! Fetching blobs: several at once, each resumed where it broke off.

use std::io::Read as _;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use coldpress_writer::{IndexPlace, Layer, LayerKind, make_index};
use ureq::http::StatusCode;

use super::cache::{Partial, Slot};
use super::client::{FIRST_PAUSE, Failure, PATIENCE, PAUSE_MAX, TRIES, text};
use super::{Fetched, FetchedPart, Pull, interrupted};
use crate::document::Descriptor;
use crate::error::Error;

/// Connections: as many as Docker opens.
const CONNECTIONS: NonZeroUsize = NonZeroUsize::new(4).expect("4 is not 0");
/// Bytes that are taken at once.
const READ_BYTES: usize = 1 << 16;

/// What is fetched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Blobs {
    /// Layers, each of which gets its index while others are under way.
    Layers,
    Others,
}

/// Downloads under way.
struct Downloads<'a> {
    pull: &'a Pull<'a>,
    what: Blobs,
    total_bytes: u64,
    done_bytes: AtomicU64,
    stopped: AtomicBool,
}

/// Fetches what is not in the cache.
///
/// # Errors
///
/// The first [`Error`]; then the others stop.
pub(super) fn all(pull: &Pull, what: Blobs, descriptors: &[&Descriptor]) -> Result<(), Error> {
    let sizes = descriptors.iter().map(|descriptor| descriptor.size);
    let downloads = Downloads {
        pull,
        what,
        total_bytes: sizes.fold(0, u64::saturating_add),
        done_bytes: AtomicU64::new(0),
        stopped: AtomicBool::new(false),
    };
    let next = AtomicUsize::new(0);
    let first_error = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..descriptors.len().min(CONNECTIONS.get()) {
            scope.spawn(|| {
                while let Some(descriptor) = descriptors.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if downloads.is_stopped() {
                        break;
                    }
                    let fetched = downloads.blob(descriptor);
                    if let Err(error) = fetched.and_then(|()| downloads.index(descriptor)) {
                        downloads.stopped.store(true, Ordering::Relaxed);
                        let mut first = first_error.lock().unwrap_or_else(PoisonError::into_inner);
                        first.get_or_insert(error);
                        break;
                    }
                }
            });
        }
    });
    let first = first_error
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    match first {
        Some(error) => Err(error),
        None if downloads.is_stopped() => Err(interrupted()),
        None => Ok(()),
    }
}

impl Downloads<'_> {
    fn is_stopped(&self) -> bool {
        self.told(None)
    }

    /// Tells how much has come; returns whether the work is to stop.
    fn told(&self, part: Option<FetchedPart>) -> bool {
        let fetched = Fetched {
            part,
            done_bytes: self.done_bytes.load(Ordering::Relaxed),
            total_bytes: self.total_bytes,
        };
        if (self.pull.watch)(fetched) == ControlFlow::Break(()) {
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.stopped.load(Ordering::Relaxed)
    }

    /// Waits; an error if the work is to stop meanwhile.
    fn wait(&self, pause: Duration) -> Result<(), Error> {
        let mut left = pause.min(PAUSE_MAX);
        while !left.is_zero() {
            if self.is_stopped() {
                return Err(interrupted());
            }
            let step = left.min(PATIENCE);
            thread::sleep(step);
            left -= step;
        }
        Ok(())
    }

    /// Fetches a blob, unless it is there.
    fn blob(&self, descriptor: &Descriptor) -> Result<(), Error> {
        let mut partial = loop {
            match self.pull.cache.slot(&descriptor.digest)? {
                Slot::Whole => {
                    self.done_bytes
                        .fetch_add(descriptor.size, Ordering::Relaxed);
                    return Ok(());
                }
                Slot::Busy => self.wait(PATIENCE)?,
                Slot::Partial(partial) => break partial,
            }
        };
        if partial.len_bytes > descriptor.size {
            partial.clear()?;
        }
        self.done_bytes
            .fetch_add(partial.len_bytes, Ordering::Relaxed);
        self.rest(descriptor, &mut partial)?;
        let expected = descriptor.digest;
        let found = partial.digest();
        if partial.finish(&expected)? {
            self.told(Some(part(descriptor, descriptor.size)));
            return Ok(());
        }
        Err(Error::Digest {
            image: self.pull.name.clone(),
            what: "a blob".to_owned(),
            expected: Box::new(expected),
            found: Box::new(found),
        })
    }

    /// Makes the index of a layer, unless it is there.
    fn index(&self, descriptor: &Descriptor) -> Result<(), Error> {
        let cache = &self.pull.cache;
        if self.what != Blobs::Layers || cache.index_path(&descriptor.digest).exists() {
            return Ok(());
        }
        let Some(file) = cache.get(&descriptor.digest)? else {
            return Ok(());
        };
        let layer = Layer {
            kind: LayerKind::Tar,
            name: PathBuf::from(descriptor.digest.to_string()),
            bytes: Arc::new(file),
            size_bytes: descriptor.size,
            digest: Some(descriptor.digest),
            diff_id: None,
            file: None,
            index: Some(IndexPlace {
                path: cache.index_path(&descriptor.digest),
                serves: false,
            }),
        };
        make_index(&layer, &mut || {
            if self.is_stopped() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        Ok(())
    }

    /// Fetches what is missing of a blob, in as many requests as it takes.
    fn rest(&self, descriptor: &Descriptor, partial: &mut Partial) -> Result<(), Error> {
        let client = &self.pull.client;
        let mut urls = vec![client.url(&format!("blobs/{}", descriptor.digest))];
        urls.extend(
            descriptor
                .urls
                .iter()
                .filter(|url| url.starts_with("http"))
                .cloned(),
        );
        let (mut place, mut tries, mut pause) = (0, 0, FIRST_PAUSE);
        while partial.len_bytes < descriptor.size {
            let before = partial.len_bytes;
            let failure = match self.piece(&urls[place], descriptor, partial) {
                Ok(()) => continue,
                Err(failure) => failure,
            };
            if partial.len_bytes > before {
                (tries, pause) = (0, FIRST_PAUSE);
            }
            match failure {
                // A layer that may not be distributed is where its URLs say.
                Failure::Final(Error::Registry { .. }) if place + 1 < urls.len() => place += 1,
                Failure::Final(error) => return Err(error),
                Failure::Passing(reason, asked) => {
                    tries += 1;
                    if tries == TRIES {
                        return Err(client.error(&reason));
                    }
                    self.wait(asked.unwrap_or(pause))?;
                    pause *= 2;
                }
            }
        }
        Ok(())
    }

    /// Takes what one request gives.
    fn piece(
        &self,
        url: &str,
        descriptor: &Descriptor,
        partial: &mut Partial,
    ) -> Result<(), Failure> {
        let client = &self.pull.client;
        let range = format!("bytes={}-", partial.len_bytes);
        let headers: &[(&str, &str)] = match partial.len_bytes {
            0 => &[],
            _ => &[("Range", &range)],
        };
        let mut response = client.get(url, headers)?;
        // Who does not know ranges sends all of it.
        let mut skipped_bytes = partial.len_bytes;
        if response.status() == StatusCode::PARTIAL_CONTENT {
            let start = format!("bytes {}-", partial.len_bytes);
            if !text(response.headers(), "content-range").starts_with(&start) {
                return Err(client.wrong("the registry sends another range than the one asked for"));
            }
            skipped_bytes = 0;
        }
        let mut body = response.body_mut().as_reader();
        let mut buffer = vec![0; READ_BYTES];
        while partial.len_bytes < descriptor.size {
            if self.told(Some(part(descriptor, partial.len_bytes))) {
                return Err(Failure::Final(interrupted()));
            }
            let len = match body.read(&mut buffer) {
                Ok(0) => return Err(Failure::Passing("a layer ended early".to_owned(), None)),
                Ok(len) => len,
                Err(error) => {
                    return Err(Failure::Passing(
                        format!("a layer broke off: {error}"),
                        None,
                    ));
                }
            };
            let skipped = usize::try_from(skipped_bytes).map_or(len, |left| left.min(len));
            skipped_bytes -= skipped as u64;
            let left = descriptor.size - partial.len_bytes;
            let new = &buffer[skipped..len];
            // What is too much shows by the digest.
            let new = &new[..usize::try_from(left).map_or(new.len(), |left| left.min(new.len()))];
            partial.append(new).map_err(Failure::Final)?;
            self.done_bytes
                .fetch_add(new.len() as u64, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn part(descriptor: &Descriptor, done_bytes: u64) -> FetchedPart {
    FetchedPart {
        digest: descriptor.digest,
        done_bytes,
        total_bytes: descriptor.size,
    }
}
