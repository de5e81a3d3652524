//! Errors of the library as exceptions of `coldpress.errors`, in the words of the command line.

use anyhow::anyhow;
use coldpress_format::Corrupt;
use coldpress_image::Error;
use coldpress_report::failure::{hint_of, sentence};
use coldpress_report::text::quoted_bytes;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict};

/// What an exception tells beside its text.
#[derive(Debug, Default)]
pub(crate) struct Details<'a> {
    pub(crate) path: Option<&'a [u8]>,
    pub(crate) hint: Option<&'a str>,
    pub(crate) corrupt: Option<Corrupt>,
    /// Image byte at which reading failed.
    pub(crate) position: Option<u64>,
}

/// An exception of the class `name` in `coldpress.errors`.
pub(crate) fn exception(py: Python<'_>, name: &str, text: &str, details: &Details<'_>) -> PyErr {
    made(py, name, text, details).unwrap_or_else(|error| error)
}

fn made(py: Python<'_>, name: &str, text: &str, details: &Details<'_>) -> PyResult<PyErr> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let import = || Ok::<_, PyErr>(py.import("coldpress.errors")?.unbind());
    let class = MODULE.get_or_try_init(py, import)?.bind(py).getattr(name)?;
    let values = PyDict::new(py);
    if let Some(path) = details.path {
        values.set_item("path", path_text(py, path)?)?;
    }
    if let Some(hint) = details.hint {
        values.set_item("hint", hint)?;
    }
    if let Some(corrupt) = &details.corrupt {
        values.set_item("part", corrupt.part.to_string())?;
        values.set_item("position", corrupt.start)?;
        values.set_item("rule", corrupt.rule.to_string())?;
    } else if let Some(position) = details.position {
        values.set_item("position", position)?;
    }
    Ok(PyErr::from_value(class.call((text,), Some(&values))?))
}

/// A path as `os.fsdecode` gives it.
pub(crate) fn path_text<'py>(py: Python<'py>, path: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(text) = std::str::from_utf8(path) {
        return text
            .into_pyobject(py)
            .map(Bound::into_any)
            .map_err(Into::into);
    }
    py.import("os")?
        .call_method1("fsdecode", (PyBytes::new(py, path),))
}

/// What goes wrong while a path of an open image is read.
pub(crate) fn while_reading(py: Python<'_>, path: &[u8], error: &Error) -> PyErr {
    let (inner, path) = match error {
        Error::InFile { path, source } => (&**source, path.as_slice()),
        inner => (inner, path),
    };
    let text = chain(
        &format!("cannot read {} from the image", quoted_bytes(path)),
        inner,
    );
    let details = Details {
        path: Some(path),
        ..of(inner)
    };
    exception(py, class(inner), &text, &details)
}

/// What goes wrong while an image is opened.
///
/// * `sentence`: what the command line says.
pub(crate) fn while_opening(py: Python<'_>, said: &anyhow::Error, error: Option<&Error>) -> PyErr {
    let (name, details) = error.map_or(("OpenError", Details::default()), |error| match error {
        Error::Corrupt(_) => ("DamagedError", of(error)),
        error => ("OpenError", of(error)),
    });
    let hint = hint_of(said);
    exception(py, name, &sentence(said), &Details { hint, ..details })
}

/// There is no such path, or it is of the wrong kind.
pub(crate) fn about_path(py: Python<'_>, name: &str, path: &[u8], why: &str) -> PyErr {
    let details = Details {
        path: Some(path),
        ..Details::default()
    };
    exception(
        py,
        name,
        &format!("cannot read {}: {why}", quoted_bytes(path)),
        &details,
    )
}

fn class(error: &Error) -> &'static str {
    match error {
        Error::Corrupt(_) | Error::Codec(_) => "DamagedError",
        _ => "ReadError",
    }
}

fn of(error: &Error) -> Details<'_> {
    match error {
        Error::Corrupt(corrupt) => Details {
            corrupt: Some(*corrupt),
            ..Details::default()
        },
        Error::Read { start, .. } => Details {
            position: Some(*start),
            ..Details::default()
        },
        _ => Details::default(),
    }
}

/// An error and its causes behind what was tried.
fn chain(tried: &str, error: &Error) -> String {
    let mut text = anyhow!("{error}");
    if let Some(source) = std::error::Error::source(error) {
        text = anyhow!("{source}").context(text);
    }
    sentence(&text.context(tried.to_owned()))
}
