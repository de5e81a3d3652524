//! An index of variants as an image index of OCI: one manifest for each image, with annotations.
//!
//! The annotation `SET` of the index holds the index without its images, and [`IMAGE_ANNOTATION`] of each
//! manifest's descriptor what is said of its image. So a registry carries a set, and who knows
//! nothing of it takes the first image (OCI image specification, "Image Index").

use std::collections::BTreeMap;

use coldpress_writer::Digest;
use serde_json::Value;

use crate::error::Error;
use crate::index::{ImageEntry, Index};

/// The annotation of the image index.
const SET: &str = "coldpress.variants";
/// The annotation of each manifest's descriptor.
pub const IMAGE_ANNOTATION: &str = "coldpress.variant";
const NAME: &str = "org.opencontainers.image.ref.name";

impl Index {
    /// The annotations of the image index, and of each manifest's descriptor.
    ///
    /// # Errors
    ///
    /// [`Error::Json`] never: all values can be written.
    pub fn annotations(&self) -> Result<(BTreeMap<String, String>, Vec<String>), Error> {
        let mut set = self.clone();
        set.images.clear();
        let images = self.images.iter().map(serde_json::to_string);
        let set = BTreeMap::from([(SET.to_owned(), serde_json::to_string(&set)?)]);
        Ok((set, images.collect::<Result<_, _>>()?))
    }
}

/// The digest of the image index that a layout has by a name.
pub(crate) fn index_digest(layout: &[u8], name: Option<&str>) -> Result<Digest, Error> {
    let layout: Value = serde_json::from_slice(layout)?;
    let manifests = layout["manifests"].as_array();
    let is_named = |entry: &&Value| match name {
        Some(name) => entry["annotations"][NAME].as_str() == Some(name),
        None => true,
    };
    let found = manifests.and_then(|manifests| manifests.iter().find(is_named));
    let digest = found.and_then(|entry| entry["digest"].as_str());
    let digest = digest.ok_or_else(|| Error::rule("manifests", "has no image of this name"))?;
    let digest = digest.parse();
    digest.map_err(|error| Error::rule("manifests", format!("has a wrong digest: {error}")))
}

/// Reads an image index.
pub(crate) fn read(bytes: &[u8]) -> Result<Index, Error> {
    let document: Value = serde_json::from_slice(bytes)?;
    let text = |value: &Value, place: String| match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(Error::rule(place, "is missing: it is no index of variants")),
    };
    let set = text(&document["annotations"][SET], format!("annotations.{SET}"))?;
    let mut index: Index = serde_json::from_str(&set)?;
    let manifests = document["manifests"].as_array();
    let manifests = manifests.ok_or_else(|| Error::rule("manifests", "is missing"))?;
    for (number, manifest) in manifests.iter().enumerate() {
        let place = format!("manifests[{number}].annotations.{IMAGE_ANNOTATION}");
        let image: ImageEntry =
            serde_json::from_str(&text(&manifest["annotations"][IMAGE_ANNOTATION], place)?)?;
        index.images.push(image);
    }
    index.check()?;
    Ok(index)
}

#[cfg(test)]
mod tests {
    use coldpress_cost::AccessSequence;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_set_comes_back_from_annotations() {
        let sequence = AccessSequence::default();
        let images = vec![ImageEntry::example()];
        let index = Index::new("a.trace".to_owned(), &sequence, images);
        let (set, images) = index.annotations().unwrap();
        let document = json!({
            "manifests": [{"annotations": {IMAGE_ANNOTATION: images[0]}}],
            "annotations": set,
        });
        assert_eq!(read(document.to_string().as_bytes()).unwrap(), index);
        let error = read(b"{}").unwrap_err().to_string();
        assert_eq!(
            error,
            "`annotations.coldpress.variants` of the index is missing: it is no index of variants"
        );
        let digest = Digest::sha256_of(b"");
        let layout = json!({"manifests": [
            {"digest": "x"},
            {"digest": digest.to_string(), "annotations": {NAME: "app"}},
        ]})
        .to_string();
        assert_eq!(
            index_digest(layout.as_bytes(), Some("app")).unwrap(),
            digest
        );
        assert!(index_digest(layout.as_bytes(), Some("other")).is_err());
        assert!(index_digest(layout.as_bytes(), None).is_err());
    }
}
