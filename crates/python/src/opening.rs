//! Opening an image: where its bytes come from, and where in them it begins.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use coldpress_describe::opening::{first_image, not_opened, why_no_image};
use coldpress_image::{Error, Image, ImageFile, ImageOffset, Offset, ReadAt};
use coldpress_report::text::quoted;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors::{Details, exception, while_opening};
use crate::file_object::FileObject;

/// What the caller gave.
pub(crate) enum Given {
    Path(PathBuf),
    Url(String),
    Bytes(Vec<u8>),
    Object(FileObject),
}

impl Given {
    /// * `kind`: `path`, `url`, `bytes` or `object`; `value`: bytes of a path, text of a URL, bytes,
    ///   or a function that reads and the size.
    pub(crate) fn of(kind: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(match kind {
            "path" => Self::Path(OsString::from_vec(value.extract::<Vec<u8>>()?).into()),
            "url" => Self::Url(value.cast::<PyString>()?.to_str()?.to_owned()),
            "bytes" => Self::Bytes(value.cast::<PyBytes>()?.as_bytes().to_vec()),
            "object" => {
                let (read, size_bytes) = value.extract()?;
                Self::Object(FileObject { read, size_bytes })
            }
            _ => return Err(PyTypeError::new_err(format!("no kind of source: {kind}"))),
        })
    }

    fn name(&self) -> PathBuf {
        match self {
            Self::Path(path) => path.clone(),
            Self::Url(url) => url.into(),
            Self::Bytes(_) => "<bytes>".into(),
            Self::Object(_) => "<file object>".into(),
        }
    }

    fn source(self) -> anyhow::Result<Arc<dyn ReadAt>> {
        Ok(match self {
            Self::Path(path) => Arc::new(ImageFile::open(&path).map_err(|error| {
                anyhow!(error).context(format!("cannot open {}", quoted(&path)))
            })?),
            Self::Url(url) => open_url(&url)?,
            Self::Bytes(bytes) => Arc::new(bytes),
            Self::Object(object) => Arc::new(object),
        })
    }
}

#[cfg(feature = "http")]
fn open_url(url: &str) -> anyhow::Result<Arc<dyn ReadAt>> {
    use coldpress_image::{HttpOptions, HttpRange};
    let opened = HttpRange::open(url, &HttpOptions::default());
    Ok(Arc::new(opened.context("cannot open the image")?))
}

#[cfg(not(feature = "http"))]
fn open_url(_: &str) -> anyhow::Result<Arc<dyn ReadAt>> {
    Err(anyhow!(
        "cannot open the image: this coldpress was built without URLs"
    ))
    .context("no URLs")
}

/// An open image and how to open it again.
pub(crate) struct Opened {
    pub(crate) image: Arc<Image>,
    pub(crate) bytes: Arc<dyn ReadAt>,
    /// Byte of the source at which it begins.
    pub(crate) start: u64,
}

/// Why an image was not opened: the words, and the error behind them.
pub(crate) struct NotOpened {
    said: anyhow::Error,
    error: Option<Error>,
    is_no_image: bool,
}

impl From<anyhow::Error> for NotOpened {
    fn from(said: anyhow::Error) -> Self {
        let (error, is_no_image) = (None, false);
        Self {
            said,
            error,
            is_no_image,
        }
    }
}

impl NotOpened {
    pub(crate) fn raise(&self, py: Python<'_>) -> PyErr {
        if !self.is_no_image {
            return while_opening(py, &self.said, self.error.as_ref());
        }
        let hint = coldpress_report::failure::hint_of(&self.said);
        let details = Details {
            hint,
            ..Details::default()
        };
        let text = coldpress_report::failure::sentence(&self.said);
        exception(py, "NotAnImageError", &text, &details)
    }
}

/// Opens an image.
///
/// * `offset`: where it begins; `Auto` takes byte 0 if an image is there, else the first that is
///   found.
pub(crate) fn open(given: Given, offset: ImageOffset) -> Result<Opened, NotOpened> {
    let name = given.name();
    let source = given.source()?;
    let start = match offset {
        ImageOffset::Bytes(start) => start,
        ImageOffset::Auto if begins(&*source) => 0,
        ImageOffset::Auto => first_image(&name, &*source).map_err(|said| NotOpened {
            said,
            error: None,
            is_no_image: true,
        })?,
    };
    let bytes: Arc<dyn ReadAt> = if start == 0 {
        source
    } else {
        Arc::new(Offset {
            inner: source,
            start,
        })
    };
    let image = open_again(&bytes).map_err(|error| damaged(&name, start, error))?;
    Ok(Opened {
        image,
        bytes,
        start,
    })
}

/// Opens the image that a source holds, with nothing of it in memory yet.
pub(crate) fn open_again(bytes: &Arc<dyn ReadAt>) -> Result<Arc<Image>, Error> {
    Image::new(Box::new(Arc::clone(bytes))).map(Arc::new)
}

fn begins(source: &dyn ReadAt) -> bool {
    let mut magic = [0; 4];
    source.fill_at(&mut magic, 0).is_ok() && magic == *b"hsqs"
}

fn damaged(name: &Path, start: u64, error: Error) -> NotOpened {
    let offset = (start > 0).then_some(ImageOffset::Bytes(start));
    let (kept, is_no_image) = match &error {
        Error::Corrupt(corrupt) => {
            let is_no_image = why_no_image(corrupt, offset).is_some();
            (Some(Error::Corrupt(*corrupt)), is_no_image)
        }
        _ => (None, false),
    };
    NotOpened {
        said: not_opened(name, offset, error),
        error: kept,
        is_no_image,
    }
}
