//! What `docker save` and `podman save` write: `manifest.json`, and paths of layers.

use coldpress_writer::LayerKind;
use serde::Deserialize;

use crate::archive::Archive;
use crate::blobs::Blobs as _;
use crate::config::Config;
use crate::document::{ENTRIES_MAX, LAYERS_MAX, null_is_empty, parse};
use crate::error::Error;
use crate::image::{ContainerImage, ImageLayer, diff_ids};
use crate::resolve::{Wanted, is_name};

/// One image of `manifest.json`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Saved {
    config: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    repo_tags: Vec<String>,
    #[serde(default, deserialize_with = "null_is_empty")]
    layers: Vec<String>,
}

/// The image that is meant; `None` if the archive has no `manifest.json`.
///
/// # Errors
///
/// [`Error`] if it is damaged, or has no such image.
pub(crate) fn image(archive: &Archive, wanted: &Wanted) -> Result<Option<ContainerImage>, Error> {
    let Some(bytes) = archive.document("manifest.json")? else {
        return Ok(None);
    };
    let name = archive.name();
    let all: Vec<Saved> = parse(name, "`manifest.json`", &bytes)?;
    if all.len() > ENTRIES_MAX {
        return Err(rule(name, "`manifest.json`", "has more images than can be"));
    }
    let saved = chosen(name, &all, wanted)?;
    if saved.layers.len() > LAYERS_MAX {
        let text = format!("has {} layers, more than {LAYERS_MAX}", saved.layers.len());
        return Err(rule(name, "`manifest.json`", &text));
    }
    let config_json = archive
        .document(&saved.config)?
        .ok_or_else(|| missing(name, &saved.config))?;
    let config: Config = parse(name, "the configuration", &config_json)?;
    wanted.check(name, &config.platform)?;
    let diff_ids = diff_ids(name, &config, saved.layers.len())?;
    let mut layers = Vec::new();
    for (path, diff_id) in saved.layers.iter().zip(diff_ids) {
        let blob = archive
            .find(path.as_bytes())
            .ok_or_else(|| missing(name, path))?;
        let size_bytes = blob.bytes.size_bytes();
        layers.push(ImageLayer {
            kind: LayerKind::Tar,
            media_type: String::new(),
            size_bytes: size_bytes.map_err(|error| rule(name, path, &error.to_string()))?,
            // The name of the file is one in some versions; the other always counts.
            digest: None,
            diff_id: Some(diff_id),
            blob,
        });
    }
    Ok(Some(ContainerImage {
        name: name.to_owned(),
        manifest: None,
        platforms: vec![config.platform.clone()],
        config,
        config_json,
        layers,
    }))
}

fn chosen<'a>(image: &str, all: &'a [Saved], wanted: &Wanted) -> Result<&'a Saved, Error> {
    let names = || {
        let names = all.iter().flat_map(|saved| &saved.repo_tags);
        names
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match (&wanted.name, all) {
        (None, [saved]) => Ok(saved),
        (None, []) => Err(missing(image, "image in `manifest.json`")),
        (None, _) => Err(Error::Ambiguous {
            image: image.to_owned(),
            choices: names(),
        }),
        (Some(name), _) => {
            let has_name = |saved: &&Saved| saved.repo_tags.iter().any(|it| is_name(it, name));
            all.iter().find(has_name).ok_or_else(|| Error::NoName {
                image: image.to_owned(),
                name: name.clone(),
                choices: names(),
            })
        }
    }
}

fn missing(image: &str, what: &str) -> Error {
    Error::Missing {
        image: image.to_owned(),
        what: format!("`{what}`"),
    }
}

fn rule(image: &str, what: &str, rule: &str) -> Error {
    Error::Rule {
        image: image.to_owned(),
        what: what.to_owned(),
        rule: rule.to_owned(),
    }
}
