//! Registries (OCI distribution specification): manifests and layers are fetched into a cache.
//!
//! ```text
//! client        requests: redirects, pauses                   client.rs
//! authenticate  who one is, as a registry asks for it         client/authenticate.rs, challenge.rs
//! credentials   the files and programs that keep them         credentials.rs
//! download      blobs, several at once, resumed               download.rs
//! upload        an image of ours                              upload.rs
//! cache         what was fetched and checked                  cache.rs
//! ```

mod cache;
mod challenge;
mod client;
mod credentials;
mod download;
mod images;
mod upload;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use coldpress_writer::Digest;
use serde::Deserialize;

use crate::blobs::{Blob, Blobs};
use crate::document::{Descriptor, Index};
use crate::error::Error;
use crate::image::ContainerImage;
use crate::media_type::is_manifest;
use crate::reference::RegistryReference;
use crate::resolve::{self, Wanted};

pub use cache::{Cache, CachedBlob};
use client::Client;
pub use credentials::CredentialFiles;
pub use images::{CachedImage, ImageSlot};
pub use upload::{Pushed, push};

/// What images are pulled with.
#[derive(Clone, Debug)]
pub struct RegistryMeans {
    /// Where credentials are.
    pub credentials: CredentialFiles,
    /// Whether registries are asked without TLS; those of this machine always are.
    pub plain_http: bool,
    /// Where blobs are kept.
    pub cache: PathBuf,
    /// Whether `HTTP_PROXY` and its kin in the environment count.
    pub proxy_from_environment: bool,
}

/// How much has come or gone; nothing before that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Bytes of layers that are where they are to be.
    pub done_bytes: u64,
    /// Bytes of all layers.
    pub total_bytes: u64,
    /// The layer of which something has come.
    pub part: Option<FetchedPart>,
}

/// How much has come of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchedPart {
    /// Its digest.
    pub digest: Digest,
    /// Bytes that are where they are to be.
    pub done_bytes: u64,
    /// Its size.
    pub total_bytes: u64,
}

/// Who is told how much has come, and says whether to go on.
pub type Watch<'a> = &'a (dyn Fn(Fetched) -> ControlFlow<()> + Sync);

/// Blobs of a repository, by way of the cache.
struct Pull<'a> {
    name: String,
    client: Client<'a>,
    cache: Cache,
    watch: Watch<'a>,
}

/// Fetches what is not in the cache of an image, and opens it.
///
/// # Errors
///
/// [`Error`]; what has come until then is in the cache, and the next pull goes on from there.
///
/// # Cost
///
/// The bytes that are not in the cache, over up to four connections; threads for these.
pub fn pull(
    reference: &RegistryReference,
    wanted: &Wanted,
    means: &RegistryMeans,
    watch: Watch,
) -> Result<ContainerImage, Error> {
    let (pull, index) = Pull::begin(reference, means, watch)?;
    resolve::image(&pull, index, wanted)
}

/// Asks for the digest of the manifest that a reference means on a platform. Fetches manifests and
/// indexes, but no layer.
///
/// # Errors
///
/// As [`pull`].
pub fn manifest_digest(
    reference: &RegistryReference,
    wanted: &Wanted,
    means: &RegistryMeans,
    watch: Watch,
) -> Result<Digest, Error> {
    let (pull, index) = Pull::begin(reference, means, watch)?;
    resolve::manifest_digest(&pull, index, wanted)
}

/// What says of itself what it is.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Typed {
    #[serde(default)]
    media_type: String,
    #[serde(default)]
    manifests: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    schema_version: u64,
}

fn interrupted() -> Error {
    Error::Archive(coldpress_writer::Error::Interrupted)
}

impl<'a> Pull<'a> {
    /// A pull, and what the reference names as an index of one entry.
    fn begin(
        reference: &RegistryReference,
        means: &'a RegistryMeans,
        watch: Watch<'a>,
    ) -> Result<(Self, Index), Error> {
        let pull = Self {
            name: reference.to_string(),
            client: Client::new(reference, means, "pull", watch)?,
            cache: Cache::open(&means.cache)?,
            watch,
        };
        let top = pull.top(reference)?;
        let index = Index {
            manifests: vec![top],
        };
        Ok((pull, index))
    }

    /// The manifest or index that the reference names.
    fn top(&self, reference: &RegistryReference) -> Result<Descriptor, Error> {
        let name = reference.manifest_name();
        let (bytes, content_type) = self.client.manifest(&name)?;
        let digest = match reference.digest {
            Some(expected) => {
                let found = expected.same_of(&bytes);
                if found != expected {
                    return Err(Error::Digest {
                        image: self.name.clone(),
                        what: "the manifest".to_owned(),
                        expected: Box::new(expected),
                        found: Box::new(found),
                    });
                }
                expected
            }
            None => Digest::sha256_of(&bytes),
        };
        let typed: Typed = serde_json::from_slice(&bytes).unwrap_or_default();
        if typed.schema_version == 1 {
            return Err(Error::Registry {
                image: self.name.clone(),
                reason: "it has a manifest of version 1, which nobody writes since 2017; push the \
                         image again"
                    .to_owned(),
            });
        }
        let media_type = if !typed.media_type.is_empty() {
            typed.media_type
        } else if typed.manifests.is_some() {
            "application/vnd.oci.image.index.v1+json".to_owned()
        } else {
            content_type
        };
        self.cache.put(&digest, &bytes)?;
        Ok(Descriptor {
            media_type,
            digest,
            size: bytes.len() as u64,
            annotations: std::collections::BTreeMap::default(),
            platform: None,
            urls: Vec::new(),
        })
    }
}

impl Blobs for Pull<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self, descriptor: &Descriptor) -> Result<Blob, Error> {
        let file = match self.cache.get(&descriptor.digest)? {
            Some(file) => file,
            None if is_manifest(&descriptor.media_type) => {
                let (bytes, _) = self.client.manifest(&descriptor.digest.to_string())?;
                let found = descriptor.digest.same_of(&bytes);
                if found != descriptor.digest {
                    return Err(Error::Digest {
                        image: self.name.clone(),
                        what: "a manifest".to_owned(),
                        expected: Box::new(descriptor.digest),
                        found: Box::new(found),
                    });
                }
                self.cache.put(&descriptor.digest, &bytes)?
            }
            None => {
                download::all(self, download::Blobs::Others, &[descriptor])?;
                self.cache
                    .get(&descriptor.digest)?
                    .ok_or_else(|| Error::Missing {
                        image: self.name.clone(),
                        what: format!("blob {} in the cache", descriptor.digest),
                    })?
            }
        };
        Ok(Blob {
            bytes: Arc::new(file),
            // Nobody writes to what has its name in the cache; its time changes with each use.
            file: None,
            index: Some(self.cache.index_path(&descriptor.digest)),
        })
    }

    fn prepare(&self, descriptors: &[&Descriptor]) -> Result<(), Error> {
        download::all(self, download::Blobs::Layers, descriptors)
    }
}

#[cfg(test)]
mod tests;
