//! What a path of an image names.

use coldpress_format::{Body, Inode};
use coldpress_image::{Error, Image};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::path_text;

/// A path of an image and its inode. Documented in `_native.pyi`.
#[pyclass(frozen, module = "coldpress._native")]
#[derive(Debug)]
pub(crate) struct Entry {
    path: Vec<u8>,
    kind: &'static str,
    #[pyo3(get)]
    mode: u16,
    #[pyo3(get)]
    uid: u32,
    #[pyo3(get)]
    gid: u32,
    #[pyo3(get)]
    mtime_s: u32,
    #[pyo3(get)]
    inode: u32,
    #[pyo3(get)]
    link_count: u32,
    #[pyo3(get)]
    size_bytes: u64,
    target: Option<Vec<u8>>,
    device: Option<(u32, u32)>,
}

impl Entry {
    pub(crate) fn of(image: &Image, path: &[u8], inode: &Inode) -> Result<Self, Error> {
        let (uid, gid) = image.owner(inode)?;
        let (mut size_bytes, mut target, mut device) = (0, None, None);
        let kind = match &inode.body {
            Body::Directory(_) => "directory",
            Body::File(file) => {
                size_bytes = file.size_bytes;
                "file"
            }
            Body::Symlink(to) => {
                size_bytes = to.len() as u64;
                target = Some(to.clone());
                "symlink"
            }
            Body::BlockDevice(number) => {
                device = Some((number.major, number.minor));
                "block device"
            }
            Body::CharDevice(number) => {
                device = Some((number.major, number.minor));
                "character device"
            }
            Body::Fifo => "pipe",
            Body::Socket => "socket",
        };
        Ok(Self {
            path: path.to_vec(),
            kind,
            mode: inode.mode,
            uid,
            gid,
            mtime_s: inode.mtime_s,
            inode: inode.number,
            link_count: inode.link_count,
            size_bytes,
            target,
            device,
        })
    }
}

#[pymethods]
impl Entry {
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        path_text(py, &self.path)
    }

    #[getter]
    fn path_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.path)
    }

    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        path_text(py, coldpress_report::text::base_name(&self.path))
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.kind
    }

    #[getter]
    fn is_file(&self) -> bool {
        self.kind == "file"
    }

    #[getter]
    fn is_dir(&self) -> bool {
        self.kind == "directory"
    }

    #[getter]
    fn is_symlink(&self) -> bool {
        self.kind == "symlink"
    }

    #[getter]
    fn target<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.target
            .as_ref()
            .map(|target| path_text(py, target))
            .transpose()
    }

    #[getter]
    fn device(&self) -> Option<(u32, u32)> {
        self.device
    }

    fn __repr__(&self) -> String {
        let path = coldpress_report::text::quoted_bytes(&self.path);
        format!(
            "<coldpress.Entry {path}: {}, {} bytes>",
            self.kind, self.size_bytes
        )
    }
}
