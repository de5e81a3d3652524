//! A SquashFS image as registries and layouts keep it: a blob, a configuration, a manifest.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use coldpress_writer::{Digest, Hasher};
use serde::Serialize;

use crate::config::RunConfig;
use crate::document::Descriptor;
use crate::error::Error;
use crate::media_type::{CONFIG, EMPTY, MANIFEST, STACKER_LAYER, UENV_LAYER};
use crate::platform::Platform;

/// The annotation by which ORAS names the file that it writes.
const TITLE: &str = "org.opencontainers.image.title";
/// Bytes that are hashed at once.
const READ_BYTES: usize = 1 << 17;

/// Which readers an image is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactForm {
    /// An artifact of the type that uenv introduced, which `oras pull` writes as a file.
    SquashFs,
    /// An image of one layer, as stacker writes it and atomfs mounts it.
    Stacker,
}

/// What an image is pushed as.
#[derive(Clone, Debug)]
pub struct ArtifactSettings {
    /// Who reads it.
    pub form: ArtifactForm,
    /// The name of the file for those who pull it.
    pub file_name: String,
    /// The compressor of the image, as media types name it: `zstd`.
    pub compressor: String,
    /// What it runs on; only an image states it.
    pub platform: Platform,
    /// How it is run; only an image states it.
    pub config: RunConfig,
    /// Free texts of the manifest.
    pub annotations: BTreeMap<String, String>,
}

/// An image that is ready to be pushed. The same image and settings give the same documents.
#[derive(Debug)]
pub struct Artifact {
    /// The image.
    pub path: PathBuf,
    pub(crate) file: File,
    pub(crate) layer: Descriptor,
    pub(crate) config: Vec<u8>,
    pub(crate) manifest: Vec<u8>,
    /// The digest of the manifest, which names the whole.
    pub digest: Digest,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ManifestJson<'a> {
    schema_version: u32,
    media_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_type: Option<&'static str>,
    config: DescriptorJson<'a>,
    layers: [DescriptorJson<'a>; 1],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DescriptorJson<'a> {
    media_type: &'a str,
    digest: String,
    size: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<&'static str, &'a str>,
}

#[derive(Serialize)]
struct ConfigJson<'a> {
    #[serde(flatten)]
    platform: &'a Platform,
    config: &'a RunConfig,
    rootfs: RootFsJson,
}

#[derive(Serialize)]
struct RootFsJson {
    #[serde(rename = "type")]
    kind: &'static str,
    diff_ids: [String; 1],
}

impl Artifact {
    /// Hashes an image, and writes its documents.
    ///
    /// * `watch`: called with the bytes that were hashed; stops the work when it breaks.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the image cannot be read, [`Error::Archive`] if the caller stops it.
    pub fn new(
        path: &Path,
        settings: &ArtifactSettings,
        watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self, Error> {
        let failed = |action| {
            move |error| Error::File {
                action,
                path: path.to_path_buf(),
                error,
            }
        };
        let file = File::open(path).map_err(failed("open"))?;
        let mut hasher = Hasher::like(&Digest::sha256_of(b""));
        let mut buffer = vec![0; READ_BYTES];
        let mut size_bytes = 0;
        loop {
            let len = (&file).read(&mut buffer).map_err(failed("read"))?;
            if len == 0 {
                break;
            }
            hasher.update(&buffer[..len]);
            size_bytes += len as u64;
            if watch(size_bytes).is_break() {
                return Err(Error::Archive(coldpress_writer::Error::Interrupted));
            }
        }
        let layer = Descriptor {
            media_type: match settings.form {
                ArtifactForm::SquashFs => UENV_LAYER.to_owned(),
                ArtifactForm::Stacker => format!("{STACKER_LAYER}+{}", settings.compressor),
            },
            digest: hasher.finish(),
            size: size_bytes,
            annotations: BTreeMap::new(),
            platform: None,
            urls: Vec::new(),
        };
        let config = config(settings, &layer);
        let manifest = manifest(settings, &layer, &config);
        Ok(Self {
            path: path.to_path_buf(),
            file,
            layer,
            config,
            digest: Digest::sha256_of(&manifest),
            manifest,
        })
    }

    /// Bytes of the image.
    pub fn size_bytes(&self) -> u64 {
        self.layer.size
    }
}

fn config(settings: &ArtifactSettings, layer: &Descriptor) -> Vec<u8> {
    match settings.form {
        ArtifactForm::SquashFs => b"{}".to_vec(),
        ArtifactForm::Stacker => json(&ConfigJson {
            platform: &settings.platform,
            config: &settings.config,
            rootfs: RootFsJson {
                kind: "layers",
                // The layer is what is mounted, so its plain bytes are itself.
                diff_ids: [layer.digest.to_string()],
            },
        }),
    }
}

fn manifest(settings: &ArtifactSettings, layer: &Descriptor, config: &[u8]) -> Vec<u8> {
    let (artifact_type, config_type) = match settings.form {
        ArtifactForm::SquashFs => (Some(UENV_LAYER), EMPTY),
        ArtifactForm::Stacker => (None, CONFIG),
    };
    let layer_annotations = match settings.form {
        ArtifactForm::SquashFs => BTreeMap::from([(TITLE, &*settings.file_name)]),
        ArtifactForm::Stacker => BTreeMap::new(),
    };
    json(&ManifestJson {
        schema_version: 2,
        media_type: MANIFEST,
        artifact_type,
        config: DescriptorJson {
            media_type: config_type,
            digest: Digest::sha256_of(config).to_string(),
            size: config.len() as u64,
            annotations: BTreeMap::new(),
        },
        layers: [DescriptorJson {
            media_type: &layer.media_type,
            digest: layer.digest.to_string(),
            size: layer.size,
            annotations: layer_annotations,
        }],
        annotations: &settings.annotations,
    })
}

fn json<T: Serialize>(document: &T) -> Vec<u8> {
    serde_json::to_vec(document).expect("keys are texts")
}
