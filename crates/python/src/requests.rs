//! Many ranges of files at once.

use std::collections::HashMap;
use std::sync::Arc;

use coldpress_image::{Delivery, Located, Wanted};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};

use crate::errors::while_reading;
use crate::image::{NativeImage, Problem, check_memory, data, limits};

/// A range of a file: a path, or a tuple of a path, a first byte and the byte behind the last.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) path: Vec<u8>,
    start: u64,
    stop: u64,
}

impl Request {
    pub(crate) fn new(path: Vec<u8>, start: u64, stop: u64) -> Self {
        Self { path, start, stop }
    }
}

impl<'py> FromPyObject<'_, 'py> for Request {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Ok(tuple) = object.cast::<PyTuple>() else {
            return Ok(Self::new(path(&object)?, 0, u64::MAX));
        };
        let (of, start, stop): (Bound<'py, PyAny>, u64, Option<u64>) = tuple.extract()?;
        Ok(Self::new(path(&of)?, start, stop.unwrap_or(u64::MAX)))
    }
}

/// The bytes of a path that Python has as `str`, `bytes` or an object with `__fspath__`.
fn path(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(text) = object.cast::<PyString>()
        && let Ok(text) = text.to_str()
    {
        return Ok(absolute(text.as_bytes()));
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(absolute(bytes.as_bytes()));
    }
    let encoded = object
        .py()
        .import("os")?
        .call_method1("fsencode", (object,))?;
    let encoded = encoded
        .cast::<PyBytes>()
        .map_err(|_| PyTypeError::new_err("a path is wanted"))?;
    Ok(absolute(encoded.as_bytes()))
}

/// A path with a slash before it: those of an image begin at its root.
fn absolute(path: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(path.len() + 1);
    if path.first() != Some(&b'/') {
        whole.push(b'/');
    }
    whole.extend_from_slice(path);
    whole
}

/// Reads them, each block once; the result of each stands where its request does.
///
/// * `raises`: whether the first problem is raised; else exceptions stand where results would.
pub(crate) fn read_many<'py>(
    py: Python<'py>,
    image: &NativeImage,
    requests: &[Request],
    raises: bool,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let located = py.detach(|| {
        requests
            .iter()
            .map(|request| image.file(&request.path))
            .collect::<Vec<_>>()
    });
    let mut results = Results::new(requests, raises);
    let (mut wanted, mut asked) = (Vec::new(), Vec::new());
    for (index, (request, located)) in requests.iter().zip(&located).enumerate() {
        match located {
            Ok(located) => {
                results.expect(index, located)?;
                let range = request.start..request.stop;
                let file = data(located);
                wanted.extend(file.map(|file| Wanted { file, range }));
                asked.push(index);
            }
            Err(problem) => results.fail(py, index, problem)?,
        }
    }
    check_memory(
        results
            .lengths
            .iter()
            .fold(0, |sum: u64, len| sum.saturating_add(*len as u64)),
    )?;
    py.detach(|| {
        image
            .image
            .visit_ranges(&wanted, &limits(), &mut |deliveries| {
                Python::attach(|py| {
                    py.check_signals()?;
                    for delivery in deliveries {
                        if let Some(index) = asked.get(delivery.wanted) {
                            results.take(py, *index, delivery)?;
                        }
                    }
                    Ok::<_, PyErr>(())
                })
            })
    })?;
    Ok(results.finish(py))
}

struct Results<'a> {
    requests: &'a [Request],
    raises: bool,
    /// Bytes that each request gets.
    lengths: Vec<usize>,
    done: Vec<Option<Py<PyAny>>>,
    /// What came so far of requests with several blocks.
    parts: HashMap<usize, Vec<u8>>,
}

impl<'a> Results<'a> {
    fn new(requests: &'a [Request], raises: bool) -> Self {
        Self {
            requests,
            raises,
            lengths: vec![0; requests.len()],
            done: requests.iter().map(|_| None).collect(),
            parts: HashMap::new(),
        }
    }

    fn expect(&mut self, index: usize, located: &Arc<Located>) -> PyResult<()> {
        let size_bytes = data(located).map_or(0, |file| file.size_bytes);
        if let (Some(request), Some(length)) =
            (self.requests.get(index), self.lengths.get_mut(index))
        {
            let stop = request.stop.min(size_bytes);
            *length = check_memory(stop.saturating_sub(request.start))?;
        }
        Ok(())
    }

    fn fail(&mut self, py: Python<'_>, index: usize, problem: &Problem) -> PyResult<()> {
        let path = self
            .requests
            .get(index)
            .map_or(&b"/"[..], |request| &request.path);
        self.failed(py, index, problem.raise(py, path))
    }

    fn failed(&mut self, py: Python<'_>, index: usize, error: PyErr) -> PyResult<()> {
        if self.raises {
            return Err(error);
        }
        self.put(index, error.into_value(py).into_any());
        Ok(())
    }

    fn put(&mut self, index: usize, value: Py<PyAny>) {
        if let Some(slot) = self.done.get_mut(index) {
            *slot = Some(value);
        }
    }

    fn take(&mut self, py: Python<'_>, index: usize, delivery: &Delivery<'_>) -> PyResult<()> {
        if self.done.get(index).is_none_or(Option::is_some) {
            // It failed before.
            return Ok(());
        }
        let bytes = match delivery.bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                self.parts.remove(&index);
                let path = self
                    .requests
                    .get(index)
                    .map_or(&b"/"[..], |request| &request.path);
                return self.failed(py, index, while_reading(py, path, error));
            }
        };
        let len = self.lengths.get(index).copied().unwrap_or_default();
        if bytes.len() == len {
            self.put(index, PyBytes::new(py, bytes).into_any().unbind());
            return Ok(());
        }
        let whole = self.parts.entry(index).or_insert_with(|| vec![0; len]);
        let offset = usize::try_from(delivery.offset).unwrap_or(usize::MAX);
        let room = whole
            .get_mut(offset..)
            .and_then(|rest| rest.get_mut(..bytes.len()));
        if let Some(room) = room {
            room.copy_from_slice(bytes);
        }
        if delivery.is_last
            && let Some(whole) = self.parts.remove(&index)
        {
            self.put(index, PyBytes::new(py, &whole).into_any().unbind());
        }
        Ok(())
    }

    /// What nothing was delivered of is empty or a hole.
    fn finish(self, py: Python<'_>) -> Vec<Bound<'_, PyAny>> {
        let zeros = |len: usize| PyBytes::new(py, &vec![0; len]).into_any();
        let results = self.done.into_iter().zip(self.lengths);
        results
            .map(|(done, len)| done.map_or_else(|| zeros(len), |value| value.into_bound(py)))
            .collect()
    }
}
