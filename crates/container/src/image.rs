//! A container image that was found: its configuration and its layers.

use std::path::PathBuf;

use coldpress_writer::{Digest, IndexPlace, Layer, LayerKind, parse_time};

use crate::blobs::Blob;
use crate::config::Config;
use crate::error::Error;
use crate::platform::Platform;

/// An image whose parts are at hand.
#[derive(Clone, Debug)]
pub struct ContainerImage {
    /// Its name, for messages; without credentials.
    pub name: String,
    /// The digest of its manifest, if it has one.
    pub manifest: Option<Digest>,
    /// The platforms that it could be had for.
    pub platforms: Vec<Platform>,
    /// What it says about itself.
    pub config: Config,
    /// The same as written.
    pub config_json: Vec<u8>,
    /// From the lowest to the uppermost.
    pub layers: Vec<ImageLayer>,
}

/// A layer of an image.
#[derive(Clone, Debug)]
pub struct ImageLayer {
    /// How it describes files.
    pub kind: LayerKind,
    /// What the manifest calls it; nothing where it does not.
    pub media_type: String,
    /// Bytes as it is stored.
    pub size_bytes: u64,
    /// The digest of these.
    pub digest: Option<Digest>,
    /// The digest of the plain bytes.
    pub diff_id: Option<Digest>,
    /// The bytes, which are checked when they are read.
    pub blob: Blob,
}

impl ContainerImage {
    /// The layers as an image is built from them.
    pub fn layers(&self) -> Vec<Layer> {
        let count = self.layers.len();
        let layer = |(layer, number): (&ImageLayer, usize)| {
            let digest = layer.digest.or(layer.diff_id);
            let digest = digest.map_or_else(String::new, |digest| format!(" ({digest})"));
            let what = format!("layer {number} of {count}{digest}");
            Layer {
                kind: layer.kind,
                name: PathBuf::from(format!("{}, {what}", self.name)),
                bytes: layer.blob.bytes.clone(),
                size_bytes: layer.size_bytes,
                digest: layer.digest,
                diff_id: layer.diff_id,
                file: layer.blob.file.clone(),
                index: layer.blob.index.clone().map(|path| IndexPlace {
                    path,
                    serves: false,
                }),
            }
        };
        self.layers.iter().zip(1..).map(layer).collect()
    }

    /// When it was made, seconds since 1970; 0 if it does not say.
    pub fn created_s(&self) -> u32 {
        let created = self.config.created.as_deref();
        created.and_then(|text| parse_time(text).ok()).unwrap_or(0)
    }

    /// Bytes of all layers as they are stored.
    pub fn size_bytes(&self) -> u64 {
        let sizes = self.layers.iter().map(|layer| layer.size_bytes);
        sizes.fold(0, u64::saturating_add)
    }
}

/// The digests of plain layers, as many as there are layers.
pub(crate) fn diff_ids(image: &str, config: &Config, layers: usize) -> Result<Vec<Digest>, Error> {
    let rule = |rule: String| Error::Rule {
        image: image.to_owned(),
        what: "the configuration".to_owned(),
        rule,
    };
    let diff_ids = &config.rootfs.diff_ids;
    if diff_ids.len() != layers {
        let found = diff_ids.len();
        return Err(rule(format!(
            "has {found} diff_ids, but there are {layers} layers"
        )));
    }
    let digest = |text: &String| {
        text.parse::<Digest>()
            .map_err(|error| rule(error.to_string()))
    };
    diff_ids.iter().map(digest).collect()
}
