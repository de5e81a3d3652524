//! Every path of an image, read in batches while the interpreter does other things.

use std::sync::Arc;
use std::vec;

use coldpress_image::{Error, Image, Walker};
use pyo3::prelude::*;

use crate::entry::Entry;
use crate::errors::while_reading;

/// Entries read at once: enough that the lock of the interpreter costs nothing beside them.
const BATCH: usize = 512;

/// An iterator over entries; of one thread at a time, as generators are.
#[pyclass(module = "coldpress._native")]
#[derive(Debug)]
pub(crate) struct Walk {
    image: Arc<Image>,
    walker: Walker<Arc<Image>>,
    batch: vec::IntoIter<Entry>,
    /// What ended the walk, told behind the batch.
    error: Option<Error>,
}

impl Walk {
    pub(crate) fn new(image: Arc<Image>, walker: Walker<Arc<Image>>) -> Self {
        let batch = Vec::new().into_iter();
        let error = None;
        Self {
            image,
            walker,
            batch,
            error,
        }
    }

    fn read(&mut self) -> Result<Vec<Entry>, (Vec<Entry>, Error)> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            let entry = match self.walker.next_path() {
                Ok(Some(visited)) => Entry::of(&self.image, visited.path, visited.inode),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            match entry {
                Ok(entry) => batch.push(entry),
                Err(error) => return Err((batch, error)),
            }
        }
        Ok(batch)
    }
}

#[pymethods]
impl Walk {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Entry>> {
        if let Some(entry) = self.batch.next() {
            return Ok(Some(entry));
        }
        if let Some(error) = self.error.take() {
            return Err(while_reading(py, b"/", &error));
        }
        py.check_signals()?;
        let batch = match py.detach(|| self.read()) {
            Ok(batch) => batch,
            Err((batch, error)) if batch.is_empty() => {
                return Err(while_reading(py, b"/", &error));
            }
            Err((batch, error)) => {
                self.error = Some(error);
                batch
            }
        };
        self.batch = batch.into_iter();
        Ok(self.batch.next())
    }
}
