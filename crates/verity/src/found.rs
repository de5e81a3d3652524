//! The tree of an image, wherever it is, and the root hash that someone names.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use coldpress_image::{Prefix, ReadAt, open_file};

use crate::error::Error;
use crate::files::sidecar;
use crate::hex::RootHash;
use crate::tree::Tree;

/// Bytes of a file that may hold a root hash: its digits, and some white space.
const ROOT_HASH_BYTES_MAX: u64 = 1024;

impl Tree {
    /// The tree of an image and the file that has it: the one that is named, otherwise the one
    /// that was appended to the image, otherwise the one beside it.
    ///
    /// * `path`: of the image.
    /// * `bytes`: of the image, with what was appended to it.
    ///
    /// # Errors
    ///
    /// [`Error::NoTree`] if there is none, [`Error::InFile`] if it cannot be read.
    pub fn find(
        path: &Path,
        bytes: &Arc<dyn ReadAt>,
        named: Option<&Path>,
    ) -> Result<(Self, Arc<dyn ReadAt>), Error> {
        let of_file = |path: &Path| -> Result<(Self, Arc<dyn ReadAt>), Error> {
            let file = open_file(path).map_err(|source| Error::open(path, source))?;
            let tree = Self::read(&file, 0).map_err(|error| error.in_file(path))?;
            Ok((tree, Arc::new(file)))
        };
        if let Some(named) = named {
            return of_file(named);
        }
        let appended = Self::of_image(bytes).map_err(|error| error.in_file(path))?;
        if let Some((tree, _)) = appended {
            return Ok((tree, Arc::clone(bytes)));
        }
        let beside = sidecar(path, "verity");
        if beside.is_file() {
            return of_file(&beside);
        }
        Err(Error::NoTree {
            image: path.to_path_buf(),
            beside,
        })
    }

    /// An image without the tree that was appended to it. A tree that is damaged is taken for
    /// bytes after the image that nothing refers to.
    pub fn cut_off(bytes: &Arc<dyn ReadAt>) -> Arc<dyn ReadAt> {
        let inner = Arc::clone(bytes);
        match Self::of_image(bytes) {
            Ok(Some((_, end))) => Arc::new(Prefix { inner, len: end }),
            Ok(None) | Err(_) => inner,
        }
    }
}

impl RootHash {
    /// A root hash in digits, or that of a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or holds none.
    pub fn digits_or_file(typed: &OsStr) -> Result<Self, Error> {
        if let Some(Ok(root_hash)) = typed.to_str().map(Self::parse) {
            return Ok(root_hash);
        }
        let path = Path::new(typed);
        let mut text = String::new();
        File::open(path)
            .and_then(|file| file.take(ROOT_HASH_BYTES_MAX).read_to_string(&mut text))
            .map_err(|source| Error::open(path, source))?;
        Self::parse(&text).map_err(|rule| Error::NoRootHash {
            path: path.to_path_buf(),
            rule,
        })
    }
}
