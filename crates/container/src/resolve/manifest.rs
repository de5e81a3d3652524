//! From a manifest to the parts of its image.

use coldpress_writer::LayerKind;

use super::Wanted;
use crate::blobs::{Blobs, document};
use crate::config::Config;
use crate::document::{Descriptor, LAYERS_MAX, Manifest, parse};
use crate::error::Error;
use crate::image::{ContainerImage, ImageLayer, diff_ids};
use crate::media_type::layer_kind;
use crate::platform::Platform;

/// Opens the parts of an image.
pub(super) fn open(
    blobs: &dyn Blobs,
    found: &Descriptor,
    mut platforms: Vec<Platform>,
    wanted: &Wanted,
) -> Result<ContainerImage, Error> {
    let name = blobs.name();
    let bytes = document(blobs, found, "the manifest")?;
    let manifest: Manifest = parse(name, "the manifest", &bytes)?;
    if manifest.layers.len() > LAYERS_MAX {
        let found = manifest.layers.len();
        return Err(Error::Rule {
            image: name.to_owned(),
            what: "the manifest".to_owned(),
            rule: format!("has {found} layers, more than {LAYERS_MAX}"),
        });
    }
    let kinds = manifest.layers.iter().zip(1..).map(|(layer, number)| {
        layer_kind(&layer.media_type).map_err(|rule| Error::Rule {
            image: name.to_owned(),
            what: format!("layer {number} (`{}`)", layer.media_type.escape_debug()),
            rule: rule.to_owned(),
        })
    });
    let kinds = kinds.collect::<Result<Vec<_>, _>>()?;
    let config_json = document(blobs, &manifest.config, "the configuration")?;
    let is_artifact = kinds.iter().all(|kind| *kind == LayerKind::SquashFs) && !kinds.is_empty();
    // The configuration of an artifact may be any document.
    let config: Config = match parse(name, "the configuration", &config_json) {
        Err(_) if is_artifact => Config::default(),
        config => config?,
    };
    if !is_artifact {
        wanted.check(name, &config.platform)?;
    }
    let ids = if is_artifact {
        vec![None; kinds.len()]
    } else {
        let ids = diff_ids(name, &config, kinds.len())?;
        ids.into_iter().map(Some).collect()
    };
    blobs.prepare(&manifest.layers.iter().collect::<Vec<_>>())?;
    let mut layers = Vec::new();
    for ((descriptor, kind), diff_id) in manifest.layers.iter().zip(kinds).zip(ids) {
        layers.push(ImageLayer {
            kind,
            media_type: descriptor.media_type.clone(),
            size_bytes: descriptor.size,
            digest: Some(descriptor.digest),
            diff_id,
            blob: blobs.open(descriptor)?,
        });
    }
    if platforms.is_empty() && !is_artifact {
        platforms.push(config.platform.clone());
    }
    Ok(ContainerImage {
        name: name.to_owned(),
        manifest: Some(found.digest),
        platforms,
        config,
        config_json,
        layers,
    })
}
