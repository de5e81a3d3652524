//! An image that is there: as an entry of an index, and compared with one.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use coldpress_cost::{AccessSequence, Geometry};
use coldpress_explain::note_executables;
use coldpress_image::{Image, ReadAt, ReaderRequirements};
use coldpress_writer::{Digest, Hasher};

use crate::demands::Demands;
use crate::error::Error;
use crate::geometry;
use crate::index::ImageEntry;

/// Bytes that are copied at once.
const COPIED_BYTES: usize = 1 << 20;

impl ImageEntry {
    /// What an index says of an image that is there.
    ///
    /// * `poll`: asked from time to time; `Break` ends it.
    ///
    /// # Errors
    ///
    /// [`Error::Image`] if it cannot be read.
    ///
    /// # Cost
    ///
    /// Reads all of it once, and its metadata twice.
    pub fn of(
        file: String,
        description: String,
        bytes: &Arc<dyn ReadAt>,
        sequence: &AccessSequence,
        poll: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Self, Error> {
        let failed = |source| Error::Image {
            file: file.clone(),
            source,
        };
        let copied = copy(bytes, &mut io::sink(), poll);
        let (size_bytes, digest) = copied.map_err(|source| Error::Read {
            file: file.clone(),
            source,
        })?;
        let (demands, geometry) = look(bytes, sequence, poll).map_err(failed)?;
        Ok(Self {
            file,
            description,
            size_bytes,
            digest: digest.to_string(),
            demands,
            geometry: geometry::pack(&geometry, sequence),
        })
    }

    /// Compares an image with what its index says.
    ///
    /// * `digest`: of the bytes that came.
    ///
    /// # Errors
    ///
    /// [`Error::Differs`] with the first difference, [`Error::Image`] if it cannot be read.
    pub fn compare(
        &self,
        bytes: &Arc<dyn ReadAt>,
        (size_bytes, digest): (u64, Digest),
        sequence: &AccessSequence,
        poll: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<(), Error> {
        self.compare_size(size_bytes)?;
        if digest.to_string() != self.digest {
            let (found, said) = (digest, &self.digest);
            return Err(self.differs(format!("its digest is {found}, not {said}")));
        }
        let looked = look(bytes, sequence, poll);
        let (demands, geometry) = looked.map_err(|source| Error::Image {
            file: self.file.clone(),
            source,
        })?;
        if demands != self.demands {
            let why = "it asks its readers for other things than `demands` say".to_owned();
            return Err(self.differs(why));
        }
        if geometry::pack(&geometry, sequence) != self.geometry {
            let why = "what the start asks for lies elsewhere than `geometry` says".to_owned();
            return Err(self.differs(why));
        }
        Ok(())
    }

    /// Compares its size with what the index says.
    ///
    /// # Errors
    ///
    /// [`Error::Differs`].
    pub fn compare_size(&self, size_bytes: u64) -> Result<(), Error> {
        if size_bytes == self.size_bytes {
            return Ok(());
        }
        let said = self.size_bytes;
        Err(self.differs(format!("it has {size_bytes} bytes, not {said}")))
    }

    fn differs(&self, why: String) -> Error {
        Error::Differs {
            file: self.file.clone(),
            why,
        }
    }
}

/// What an image asks of its readers, and what lies where in it.
fn look(
    bytes: &Arc<dyn ReadAt>,
    sequence: &AccessSequence,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(Demands, Geometry), coldpress_image::Error> {
    let image = Image::new(Box::new(Arc::clone(bytes)))?;
    let demands = Demands::of(&ReaderRequirements::of(&image)?);
    let mut geometry = coldpress_explain::geometry(&image, Box::new(Arc::clone(bytes)), poll)?;
    note_executables(&mut geometry, &image, sequence);
    Ok((demands, geometry))
}

/// Copies all bytes; their number, and their digest.
///
/// # Errors
///
/// Those of reading and writing; [`io::ErrorKind::Interrupted`] if `poll` ends it.
pub fn copy(
    source: &dyn ReadAt,
    target: &mut dyn io::Write,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> io::Result<(u64, Digest)> {
    let mut hasher = Hasher::like(&Digest::sha256_of(b""));
    let mut buffer = vec![0; COPIED_BYTES];
    let mut done_bytes = 0;
    loop {
        if poll().is_break() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = source.fill_at(&mut buffer, done_bytes)?;
        hasher.update(&buffer[..len]);
        target.write_all(&buffer[..len])?;
        done_bytes += len as u64;
        if len < buffer.len() {
            return Ok((done_bytes, hasher.finish()));
        }
    }
}
