//! A Python file object as the source of an image.

use std::io;

use coldpress_image::ReadAt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// An object with `seek` and `read`, such as those of `open(..., "rb")`, `io.BytesIO` and fsspec.
///
/// It has one position, so reads take turns: `read_at` of the helper in `coldpress/image.py` holds a
/// lock.
#[derive(Debug)]
pub(crate) struct FileObject {
    /// Takes a position and a length, returns bytes.
    pub(crate) read: Py<PyAny>,
    pub(crate) size_bytes: u64,
}

impl ReadAt for FileObject {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        Python::attach(|py| {
            let read = self.read.bind(py).call1((start, buf.len()))?;
            let bytes = read.cast::<PyBytes>()?.as_bytes();
            let len = bytes.len().min(buf.len());
            for (to, from) in buf.iter_mut().zip(bytes) {
                *to = *from;
            }
            Ok::<_, PyErr>(len)
        })
        .map_err(|error| io::Error::other(error.to_string()))
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.size_bytes)
    }
}
