//! The documents that lead to layers: descriptors, indexes and manifests (OCI image specification).

use std::collections::BTreeMap;

use coldpress_writer::Digest;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use crate::error::Error;
use crate::platform::Platform;

/// Bytes of an index, a manifest or a configuration at most: what registries accept.
pub(crate) const DOCUMENT_MAX_BYTES: u64 = 4 << 20;
/// Layers of an image at most: no overlay of Linux has more, and Docker makes 127.
pub(crate) const LAYERS_MAX: usize = 500;
/// Entries of an index at most. The largest of public registries have some forty.
pub(crate) const ENTRIES_MAX: usize = 4096;

/// What names a blob, and says what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// What the blob is.
    #[serde(default)]
    pub media_type: String,
    /// The digest of its bytes.
    #[serde(deserialize_with = "digest")]
    pub digest: Digest,
    /// How many there are.
    pub size: u64,
    /// Free texts, the name of an image among them.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// What an image of an index is for.
    #[serde(default)]
    pub platform: Option<Platform>,
    /// Where a layer is that the registry may not give away.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub urls: Vec<String>,
}

/// A list of images, or of other lists.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Index {
    /// `docker save` once wrote `null` for none.
    #[serde(default, deserialize_with = "null_is_empty")]
    pub(crate) manifests: Vec<Descriptor>,
}

/// A configuration, and layers from the lowest to the uppermost.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    pub(crate) config: Descriptor,
    #[serde(default, deserialize_with = "null_is_empty")]
    pub(crate) layers: Vec<Descriptor>,
}

fn digest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(D::Error::custom)
}

/// Go writes empty lists and maps so.
pub(crate) fn null_is_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Some tools write an empty text for nothing.
pub(crate) fn empty_is_none<'de, D>(deserializer: D) -> Result<Option<String>, D::Error>
where
    D: Deserializer<'de>,
{
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.filter(|text| !text.is_empty()))
}

/// Reads a document.
///
/// * `what`: which, for messages.
pub(crate) fn parse<T: DeserializeOwned>(
    image: &str,
    what: &str,
    bytes: &[u8],
) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::Json {
        image: image.to_owned(),
        what: what.to_owned(),
        error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn documents_are_read_as_tools_write_them() {
        let text = format!(
            r#"{{"schemaVersion":2,"manifests":[
                {{"mediaType":"a/b","digest":"{DIGEST}","size":7,"annotations":null,
                  "platform":{{"architecture":"arm","os":"linux","variant":"v7"}}}},
                {{"digest":"{DIGEST}","size":0,"annotations":{{"a":"b"}}}}]}}"#
        );
        let index: Index = parse("image", "index", text.as_bytes()).unwrap();
        assert_eq!(index.manifests[0].digest.to_string(), DIGEST);
        let platform = index.manifests[0].platform.as_ref().unwrap();
        assert_eq!(platform.to_string(), "linux/arm/v7");
        assert_eq!(index.manifests[1].annotations["a"], "b");
        for text in [r#"{"manifests":null}"#, "{}"] {
            let index: Index = parse("image", "index", text.as_bytes()).unwrap();
            assert!(index.manifests.is_empty());
        }
    }

    #[test]
    fn documents_that_lie_are_errors() {
        let deep = "[".repeat(100_000);
        let nested = format!(r#"{{"manifests":{deep}"#);
        for text in [
            "",
            "null",
            r#"{"manifests":[{}]}"#,
            r#"{"manifests":[{"digest":"../../etc","size":1}]}"#,
            &format!(r#"{{"manifests":[{{"digest":"{DIGEST}","size":-1}}]}}"#),
            &nested,
        ] {
            let error = parse::<Index>("image", "the index", text.as_bytes()).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with("`image`: the index cannot be used: ")
            );
        }
    }
}
