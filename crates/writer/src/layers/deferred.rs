//! The bytes of a layer whose index serves: nothing of it is read before the first of them is
//! needed.

use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use coldpress_image::{Prefix, ReadAt};

use super::checking::Checking;
use super::gzip::{Copies, Places};
use super::opened::{Means, Outcome, open};
use super::paged::Paged;
use super::{Layer, LayerDefect};
use crate::digest::Hasher;
use crate::error::{self, Error};
use crate::tar::compression::{Compression, MAGIC_BYTES};

/// A layer that is decompressed as its contents are needed.
pub(crate) struct Deferred {
    layer: Layer,
    number: u32,
    len_bytes: u64,
    means: Means,
    begun: OnceLock<Result<Begun, Failure>>,
    /// The first read that failed.
    failed: OnceLock<Failure>,
}

/// A layer of which something was read.
struct Begun {
    plain: Arc<dyn ReadAt>,
    /// Nothing if the whole was compared already.
    checking: Option<Checking>,
}

/// Why the bytes cannot be had.
pub(super) enum Failure {
    Defect(Box<LayerDefect>),
    Read(String),
}

impl Deferred {
    /// * `number`: of the layer among those of the image.
    /// * `len_bytes`: decompressed.
    pub(super) fn new(layer: Layer, number: u32, len_bytes: u64, means: Means) -> Self {
        Self {
            layer,
            number,
            len_bytes,
            means,
            begun: OnceLock::new(),
            failed: OnceLock::new(),
        }
    }

    /// What was found wrong with the layer, if something of it was read: then all of it is compared
    /// with its digest.
    pub(crate) fn failure(&self) -> Option<Error> {
        let failure = match self.begun.get()? {
            Ok(begun) => {
                let defect = begun.checking.as_ref().and_then(Checking::failure);
                defect.or_else(|| self.failed.get())?
            }
            Err(failure) => failure,
        };
        let layer = &self.layer.name;
        Some(match failure {
            Failure::Defect(defect) => Error::Layer {
                layer: layer.clone(),
                defect: defect.clone(),
            },
            Failure::Read(text) => error::source("decompress", layer)(io::Error::other(&**text)),
        })
    }

    fn read<T>(&self, read: impl FnOnce(&dyn ReadAt) -> io::Result<T>) -> io::Result<T> {
        let begun = self.begun.get_or_init(|| self.begin());
        let plain = begun.as_ref().map_err(|failure| match failure {
            Failure::Defect(defect) => io::Error::other(defect.to_string()),
            Failure::Read(text) => io::Error::other(&**text),
        });
        let read = read(&*plain?.plain);
        if let Err(error) = &read
            && error.kind() != io::ErrorKind::Interrupted
        {
            let _ = self.failed.set(Failure::Read(error.to_string()));
        }
        read
    }

    fn begin(&self) -> Result<Begun, Failure> {
        let bytes = Arc::clone(&self.layer.bytes);
        let mut head = [0; MAGIC_BYTES];
        let len = bytes.fill_at(&mut head, 0);
        let len = len.map_err(|error| Failure::Read(error.to_string()))?;
        let plain: Arc<dyn ReadAt> = match Compression::of(&head[..len]) {
            None => Arc::new(Prefix {
                inner: bytes,
                len: self.len_bytes,
            }),
            Some(Compression::Gzip) => {
                let places = Places::new(bytes, Copies::new(self.means.span_bytes));
                let pages = Arc::clone(&self.means.pages);
                Arc::new(Paged::new(places, self.len_bytes, self.number, pages))
            }
            Some(_) => return self.read_whole(),
        };
        let checking = Some(Checking::start(self.layer.clone()));
        Ok(Begun { plain, checking })
    }

    /// Reads a layer to its end that can be read in one direction only.
    fn read_whole(&self) -> Result<Begun, Failure> {
        let (mut pump, outcome) = open(&self.layer, self.number, &self.means);
        let mut hasher = self.layer.diff_id.as_ref().map(Hasher::like);
        loop {
            let next = pump.next(&mut || ControlFlow::Continue(()));
            match next.map_err(|error| Failure::Read(error.to_string()))? {
                ControlFlow::Continue(chunk) if !chunk.is_empty() => {
                    if let Some(hasher) = &mut hasher {
                        hasher.update(&chunk);
                    }
                }
                _ => break,
            }
        }
        drop(pump);
        let plain = Outcome::plain(outcome, &self.layer, hasher).map_err(Failure::Defect)?;
        let checking = None;
        Ok(Begun { plain, checking })
    }
}

impl ReadAt for Deferred {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        self.read(|plain| plain.read_at(buf, start))
    }

    fn fill_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        self.read(|plain| plain.fill_at(buf, start))
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.len_bytes)
    }
}
