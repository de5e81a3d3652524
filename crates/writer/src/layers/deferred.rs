//! The bytes of a layer whose index serves: it is read when the first of them is needed.

use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use coldpress_image::ReadAt;

use super::opened::{Means, Outcome, open};
use super::{Layer, LayerDefect};
use crate::digest::Hasher;
use crate::error::{self, Error};

/// A layer that was not read.
pub(crate) struct Deferred {
    layer: Layer,
    number: u32,
    means: Means,
    plain: OnceLock<Result<Arc<dyn ReadAt>, Failure>>,
}

/// Why the bytes cannot be had.
enum Failure {
    Defect(Box<LayerDefect>),
    Read(String),
}

impl Deferred {
    /// * `number`: of the layer among those of the image.
    pub(super) fn new(layer: Layer, number: u32, means: Means) -> Self {
        Self {
            layer,
            number,
            means,
            plain: OnceLock::new(),
        }
    }

    /// What was found wrong with the layer, if it was read.
    pub(crate) fn failure(&self) -> Option<Error> {
        let failure = self.plain.get()?.as_ref().err()?;
        let layer = &self.layer.name;
        Some(match failure {
            Failure::Defect(defect) => Error::Layer {
                layer: layer.clone(),
                defect: defect.clone(),
            },
            Failure::Read(text) => error::source("decompress", layer)(io::Error::other(&**text)),
        })
    }

    fn plain(&self) -> io::Result<&Arc<dyn ReadAt>> {
        let plain = self.plain.get_or_init(|| self.read_whole());
        plain.as_ref().map_err(|failure| match failure {
            Failure::Defect(defect) => io::Error::other(defect.to_string()),
            Failure::Read(text) => io::Error::other(&**text),
        })
    }

    /// Reads the layer to its end, and compares it with its digests.
    fn read_whole(&self) -> Result<Arc<dyn ReadAt>, Failure> {
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
        let plain = Outcome::plain(outcome, &self.layer, hasher);
        plain.map_err(Failure::Defect)
    }
}

impl ReadAt for Deferred {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        self.plain()?.read_at(buf, start)
    }

    fn fill_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        self.plain()?.fill_at(buf, start)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        self.plain()?.size_bytes()
    }
}
