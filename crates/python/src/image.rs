//! An open image.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use coldpress_format::{Body, File};
use coldpress_image::image_path::{child, resolve};
use coldpress_image::{Error, Image, ImageOffset, Located, Lookup, ReadAt, ReadLimits, Walker};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::entry::Entry;
use crate::errors::{about_path, while_reading};
use crate::opening::{Given, Opened, open, open_again};
use crate::requests::{Request, read_many};
use crate::walk::Walk;

/// Listings and inodes that are kept: those of some 200,000 files.
const LOOKUP_BYTES: usize = 64 << 20;
/// Up to this length a range is read by the calling thread, which keeps blocks that it reads a part
/// of.
const ALONE_BYTES: u64 = 256 << 10;

/// An open image. `coldpress.Image` is what users see of it.
#[pyclass(frozen, name = "Image", module = "coldpress._native")]
pub(crate) struct NativeImage {
    pub(crate) image: Arc<Image>,
    lookup: Lookup,
    bytes: Arc<dyn ReadAt>,
    /// Byte of the source at which the image begins.
    #[pyo3(get)]
    start: u64,
}

impl std::fmt::Debug for NativeImage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("NativeImage")
            .field(&self.image)
            .finish()
    }
}

/// What a path leads to, or why it cannot be read.
pub(crate) enum Problem {
    NotFound,
    NotAFile,
    IsADirectory,
    NotADirectory,
    Failed(Error),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Problem {
    pub(crate) fn raise(&self, py: Python<'_>, path: &[u8]) -> PyErr {
        let (name, why) = match self {
            Self::NotFound => ("PathNotFoundError", "the image has no such file"),
            Self::NotAFile => ("NotAFileError", "it is not a regular file"),
            Self::IsADirectory => ("IsADirectoryInImageError", "it is a directory"),
            Self::NotADirectory => ("NotADirectoryInImageError", "it is not a directory"),
            Self::Failed(error) => return while_reading(py, path, error),
        };
        about_path(py, name, path, why)
    }
}

impl NativeImage {
    fn new(opened: Opened) -> Self {
        Self {
            image: opened.image,
            lookup: Lookup::new(LOOKUP_BYTES),
            bytes: opened.bytes,
            start: opened.start,
        }
    }

    /// * `follows`: whether a symbolic link at the end is followed.
    fn locate(&self, path: &[u8], follows: bool) -> Result<Arc<Located>, Problem> {
        let direct = self.lookup.find(&self.image, path)?;
        match direct {
            Some(located) if !follows || !matches!(located.inode.body, Body::Symlink(_)) => {
                Ok(located)
            }
            _ => {
                let found = resolve(&self.image, path, follows)?.ok_or(Problem::NotFound)?;
                self.lookup
                    .find(&self.image, &found.path)?
                    .ok_or(Problem::NotFound)
            }
        }
    }

    /// A regular file, behind links.
    pub(crate) fn file(&self, path: &[u8]) -> Result<Arc<Located>, Problem> {
        let located = self.locate(path, true)?;
        match &located.inode.body {
            Body::File(_) => Ok(located),
            Body::Directory(_) => Err(Problem::IsADirectory),
            _ => Err(Problem::NotAFile),
        }
    }

    fn listed(&self, path: &[u8]) -> Result<Vec<Entry>, Problem> {
        let located = self.locate(path, true)?;
        let Body::Directory(directory) = &located.inode.body else {
            return Err(Problem::NotADirectory);
        };
        let entries = self.lookup.entries(&self.image, located.at, directory)?;
        let entry = |entry: &coldpress_format::Entry| {
            let inode = self.image.inode_head(entry.inode)?;
            Entry::of(&self.image, &child(path, &entry.name), &inode)
        };
        Ok(entries.iter().map(entry).collect::<Result<_, _>>()?)
    }

    fn walker(&self, path: &[u8]) -> Result<Walker<Arc<Image>>, Problem> {
        let at = self.locate(path, true)?.at;
        Ok(Walker::below(Arc::clone(&self.image), path, at)?)
    }
}

/// The data of what [`NativeImage::file`] returned.
pub(crate) fn data(located: &Located) -> Option<&File> {
    match &located.inode.body {
        Body::File(file) => Some(file),
        _ => None,
    }
}

/// As many threads as processors, and up to 64 MiB for blocks.
pub(crate) fn limits() -> ReadLimits {
    ReadLimits {
        threads: available_parallelism().unwrap_or(NonZeroUsize::MIN),
        memory_bytes: 64 << 20,
    }
}

/// Refuses what cannot be in memory: a sparse file may claim any size.
pub(crate) fn check_memory(len_bytes: u64) -> PyResult<usize> {
    let system = rustix::system::sysinfo();
    let memory = system
        .totalram
        .saturating_mul(system.mem_unit.max(1).into());
    match usize::try_from(len_bytes) {
        Ok(len) if len_bytes <= memory => Ok(len),
        _ => Err(PyMemoryError::new_err(format!(
            "{len_bytes} bytes are more than this machine has memory ({memory}); read them in parts"
        ))),
    }
}

#[pymethods]
impl NativeImage {
    #[new]
    fn open(
        py: Python<'_>,
        kind: &str,
        value: &Bound<'_, PyAny>,
        offset: Option<u64>,
    ) -> PyResult<Self> {
        let given = Given::of(kind, value)?;
        let offset = offset.map_or(ImageOffset::Auto, ImageOffset::Bytes);
        let opened = py.detach(|| open(given, offset));
        opened.map(Self::new).map_err(|error| error.raise(py))
    }

    /// The same image of the same source, with nothing in memory: after a fork, the locks of the
    /// parent's may be held by threads that the child does not have.
    fn renewed(&self, py: Python<'_>) -> PyResult<Self> {
        let image = py.detach(|| open_again(&self.bytes));
        let image = image.map_err(|error| while_reading(py, b"/", &error))?;
        let (bytes, start) = (Arc::clone(&self.bytes), self.start);
        Ok(Self::new(Opened {
            image,
            bytes,
            start,
        }))
    }

    #[getter]
    fn size_bytes(&self) -> u64 {
        self.image.superblock().bytes_used
    }

    #[getter]
    fn block_bytes(&self) -> u32 {
        self.image.superblock().block_size.bytes()
    }

    #[getter]
    fn compressor(&self) -> &'static str {
        self.image.superblock().compressor.name()
    }

    #[getter]
    fn inode_count(&self) -> u32 {
        self.image.superblock().inode_count
    }

    #[getter]
    fn made_s(&self) -> u32 {
        self.image.superblock().modification_time_s
    }

    fn find(&self, py: Python<'_>, path: &[u8], follows: bool) -> PyResult<Entry> {
        let found = py.detach(|| {
            let located = self.locate(path, follows)?;
            Ok::<_, Problem>(Entry::of(&self.image, path, &located.inode)?)
        });
        found.map_err(|problem| problem.raise(py, path))
    }

    fn entries(&self, py: Python<'_>, path: &[u8]) -> PyResult<Vec<Entry>> {
        let entries = py.detach(|| self.listed(path));
        entries.map_err(|problem| problem.raise(py, path))
    }

    fn walk(&self, py: Python<'_>, path: &[u8]) -> PyResult<Walk> {
        let walker = py.detach(|| self.walker(path));
        let walker = walker.map_err(|problem| problem.raise(py, path))?;
        Ok(Walk::new(Arc::clone(&self.image), walker))
    }

    /// Bytes `start` to `stop` of a file, or what there is of them.
    fn read<'py>(
        &self,
        py: Python<'py>,
        path: &[u8],
        start: u64,
        stop: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let located = py
            .detach(|| self.file(path))
            .map_err(|problem| problem.raise(py, path))?;
        let size_bytes = data(&located).map_or(0, |file| file.size_bytes);
        let stop = stop.unwrap_or(u64::MAX).min(size_bytes);
        let len_bytes = stop.saturating_sub(start);
        if len_bytes > ALONE_BYTES {
            let request = Request::new(path.to_vec(), start, stop);
            let mut read = read_many(py, self, &[request], true)?;
            return Ok(read
                .pop()
                .unwrap_or_else(|| PyBytes::new(py, b"").into_any()));
        }
        let Some(file) = data(&located) else {
            return Ok(PyBytes::new(py, b"").into_any());
        };
        // Into memory of Python's own: a copy costs as much as reading a file that is not compressed.
        let bytes = PyBytes::new_with(py, check_memory(len_bytes)?, |buf| {
            let read = py.detach(|| self.image.read_at(file, start, buf));
            read.map(|_| ())
                .map_err(|error| while_reading(py, path, &error))
        })?;
        Ok(bytes.into_any())
    }

    /// A list of what each request asks for; exceptions in it if they are not raised.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments of Python come as values"
    )]
    fn read_many<'py>(
        &self,
        py: Python<'py>,
        requests: Vec<Request>,
        raises: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        read_many(py, self, &requests, raises)
    }

    /// For each path the image byte at which its content begins; what has none comes first.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments of Python come as values"
    )]
    fn positions(&self, py: Python<'_>, requests: Vec<Request>) -> PyResult<Vec<u64>> {
        let position = |request: &Request| {
            let located = self
                .file(&request.path)
                .map_err(|problem| (problem, request.path.clone()))?;
            Ok::<_, (Problem, Vec<u8>)>(self.position(&located))
        };
        let positions = py.detach(|| requests.iter().map(position).collect::<Result<_, _>>());
        positions.map_err(|(problem, path)| problem.raise(py, &path))
    }
}

impl NativeImage {
    fn position(&self, located: &Located) -> u64 {
        let Some(file) = data(located) else { return 0 };
        if !file.blocks.is_empty() {
            return file.start;
        }
        let tail = file
            .tail
            .and_then(|tail| Some((tail, self.image.stored_fragment(tail)?)));
        tail.map_or(0, |(_, fragment)| fragment.start)
    }
}
