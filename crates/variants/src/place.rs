//! Where an index is, and its images: beside it, or in an OCI layout.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use coldpress_image::ReadAt;
use coldpress_report::text::quoted;

use crate::index::{INDEX_MAX_BYTES, ImageEntry, Index};
use crate::oci;

/// Bytes that are fetched to measure how fast images come.
pub const PROBE_BYTES: usize = 4 << 20;

/// Where an index is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file or a URL, beside which the images are.
    Beside(PathBuf),
    /// An OCI layout, and the name in it.
    Layout {
        /// The directory.
        directory: PathBuf,
        /// The name; `None` if it has only one.
        name: Option<String>,
    },
}

/// Opens a file or a URL.
type Open<'a> = &'a dyn Fn(&Path) -> anyhow::Result<Arc<dyn ReadAt>>;

impl Place {
    /// A path, a URL, or `oci:DIR:NAME`.
    pub fn parse(text: &Path) -> Self {
        let layout = text.to_str().and_then(|text| text.strip_prefix("oci:"));
        match layout {
            None => Self::Beside(text.to_owned()),
            Some(layout) => {
                let (directory, name) = match layout.rsplit_once(':') {
                    Some((directory, name)) => (directory, Some(name.to_owned())),
                    None => (layout, None),
                };
                Self::Layout {
                    directory: directory.into(),
                    name,
                }
            }
        }
    }

    /// Whether images come from a server.
    pub fn is_url(&self) -> bool {
        let Self::Beside(path) = self else {
            return false;
        };
        let is_url = |text: &str| text.starts_with("http://") || text.starts_with("https://");
        path.to_str().is_some_and(is_url) && !path.exists()
    }

    /// Reads the index.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is too large, or breaks a rule.
    pub fn read(&self, open: Open<'_>) -> anyhow::Result<Index> {
        match self {
            Self::Beside(path) => Ok(Index::parse(&read(path, open)?)?),
            Self::Layout { directory, name } => {
                let layout = read(&directory.join("index.json"), open)?;
                let digest = oci::index_digest(&layout, name.as_deref())?;
                let blob = directory.join("blobs/sha256").join(digest.hex());
                let bytes = read(&blob, open)?;
                if digest.same_of(&bytes) != digest {
                    return Err(anyhow!("{} is not what its name says", quoted(&blob)));
                }
                Ok(oci::read(&bytes)?)
            }
        }
    }

    /// Where an image of the index is.
    pub fn image(&self, image: &ImageEntry) -> PathBuf {
        match self {
            Self::Beside(path) => match path.to_str().filter(|_| self.is_url()) {
                // What asks the server for something stands behind the path.
                Some(url) => {
                    let end = url.find(['?', '#']).unwrap_or(url.len());
                    let (path, rest) = url.split_at(end);
                    let parent = path.rfind('/').map_or(path, |slash| &path[..=slash]);
                    format!("{parent}{}{rest}", image.file).into()
                }
                None => path.with_file_name(&image.file),
            },
            Self::Layout { directory, .. } => {
                let hex = image.digest.trim_start_matches("sha256:");
                directory.join("blobs/sha256").join(hex)
            }
        }
    }
}

fn read(path: &Path, open: Open<'_>) -> anyhow::Result<Vec<u8>> {
    let source = open(path)?;
    let size_bytes = source.size_bytes().context("cannot read it")?;
    if size_bytes > INDEX_MAX_BYTES {
        let limit = INDEX_MAX_BYTES >> 20;
        return Err(anyhow!(
            "it has {size_bytes} bytes, and {limit} MiB are read of an index"
        ));
    }
    let mut bytes = vec![0; usize::try_from(size_bytes).unwrap_or_default()];
    let len = source.fill_at(&mut bytes, 0).context("cannot read it")?;
    bytes.truncate(len);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_beside_their_index() {
        let image = ImageEntry {
            file: "a.sqfs".to_owned(),
            digest: "sha256:12".to_owned(),
            ..ImageEntry::example()
        };
        for (index, expected) in [
            ("set/index.json", "set/a.sqfs"),
            ("index.json", "a.sqfs"),
            (
                "http://host/x/index.json?key=1/2",
                "http://host/x/a.sqfs?key=1/2",
            ),
            ("oci:layout:app", "layout/blobs/sha256/12"),
            ("oci:layout", "layout/blobs/sha256/12"),
        ] {
            let place = Place::parse(Path::new(index));
            assert_eq!(place.image(&image), Path::new(expected), "{index}");
        }
    }
}
