//! Where the parts of an image are.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use coldpress_image::ReadAt;

use crate::document::{DOCUMENT_MAX_BYTES, Descriptor};
use crate::error::Error;

/// Something that has the parts of images by their digests.
pub trait Blobs {
    /// Its name, for messages.
    fn name(&self) -> &str;

    /// The bytes of a part, not compared with its digest.
    ///
    /// # Errors
    ///
    /// [`Error`] if there is none, or it cannot be read.
    fn open(&self, descriptor: &Descriptor) -> Result<Blob, Error>;

    /// Gets several parts, so that they are at hand.
    ///
    /// # Errors
    ///
    /// [`Error`] if one cannot be had.
    fn prepare(&self, _descriptors: &[&Descriptor]) -> Result<(), Error> {
        Ok(())
    }
}

/// The bytes of a part.
#[derive(Clone)]
pub struct Blob {
    /// The bytes.
    pub bytes: Arc<dyn ReadAt>,
    /// The file that they lie in, if somebody else may change it.
    pub file: Option<Arc<File>>,
    /// Where the index of a layer is kept, if it is.
    pub index: Option<PathBuf>,
}

impl fmt::Debug for Blob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Blob")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// Reads a document, and compares it with its digest.
///
/// * `what`: which, for messages.
pub(crate) fn document(
    blobs: &dyn Blobs,
    descriptor: &Descriptor,
    what: &str,
) -> Result<Vec<u8>, Error> {
    if descriptor.size > DOCUMENT_MAX_BYTES {
        return Err(too_large(blobs.name(), what, descriptor.size));
    }
    let blob = blobs.open(descriptor)?;
    let bytes = whole(blobs.name(), what, &*blob.bytes)?;
    if bytes.len() as u64 != descriptor.size {
        return Err(Error::Rule {
            image: blobs.name().to_owned(),
            what: what.to_owned(),
            rule: format!(
                "has {} bytes, must have {}; fetch it again",
                bytes.len(),
                descriptor.size
            ),
        });
    }
    let found = descriptor.digest.same_of(&bytes);
    if found != descriptor.digest {
        return Err(Error::Digest {
            image: blobs.name().to_owned(),
            what: what.to_owned(),
            expected: Box::new(descriptor.digest),
            found: Box::new(found),
        });
    }
    Ok(bytes)
}

/// All bytes of a document.
pub(crate) fn whole(image: &str, what: &str, bytes: &dyn ReadAt) -> Result<Vec<u8>, Error> {
    let failed = |error: io::Error| Error::Rule {
        image: image.to_owned(),
        what: what.to_owned(),
        rule: format!("cannot be read: {error}"),
    };
    let size_bytes = bytes.size_bytes().map_err(failed)?;
    if size_bytes > DOCUMENT_MAX_BYTES {
        return Err(too_large(image, what, size_bytes));
    }
    let mut content = vec![0; usize::try_from(size_bytes).unwrap_or(0)];
    let len = bytes.fill_at(&mut content, 0).map_err(failed)?;
    content.truncate(len);
    Ok(content)
}

fn too_large(image: &str, what: &str, size_bytes: u64) -> Error {
    Error::Rule {
        image: image.to_owned(),
        what: what.to_owned(),
        rule: format!("has {size_bytes} bytes, more than the 4 MiB that are read of one"),
    }
}
