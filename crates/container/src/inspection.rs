//! What a container image is, for people and for programs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use coldpress_layout::Kind;
use coldpress_report::text::{escaped, plural};
use coldpress_report::units;
use coldpress_writer::{LayerKind, Source};
use serde::Serialize;

use crate::config::RunConfig;
use crate::image::{ContainerImage, ImageLayer};

/// What a container image is, as it serializes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    image: String,
    manifest: Option<String>,
    platform: String,
    platforms: Vec<String>,
    created: Option<String>,
    command: Vec<String>,
    env: Vec<String>,
    working_dir: String,
    user: String,
    volumes: Vec<String>,
    labels: BTreeMap<String, String>,
    layers: Vec<LayerRow>,
    layers_bytes: u64,
    /// What the layers are when they are put together; `null` unless asked for.
    pub tree: Option<MergedLayers>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct LayerRow {
    media_type: String,
    bytes: u64,
    digest: Option<String>,
    diff_id: Option<String>,
}

/// The merged layers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MergedLayers {
    files: u64,
    directories: u64,
    others: u64,
    content_bytes: u64,
    /// What of them cannot be stored.
    pub warnings: Vec<String>,
}

impl MergedLayers {
    /// Counts what layers are that were put together.
    pub fn new(source: &Source) -> Self {
        let mut tree = Self {
            files: 0,
            directories: 0,
            others: 0,
            content_bytes: source.content_bytes(),
            warnings: source.losses().map(ToString::to_string).collect(),
        };
        for node in &source.tree.nodes {
            *match node.kind {
                Kind::File { .. } => &mut tree.files,
                Kind::Directory { .. } => &mut tree.directories,
                _ => &mut tree.others,
            } += 1;
        }
        tree
    }
}

impl Inspection {
    /// * `tree`: its layers, put together.
    pub fn new(image: &ContainerImage, tree: Option<MergedLayers>) -> Self {
        let run: &RunConfig = &image.config.config;
        Self {
            image: image.name.clone(),
            manifest: image.manifest.map(|digest| digest.to_string()),
            platform: image.config.platform.to_string(),
            platforms: image.platforms.iter().map(ToString::to_string).collect(),
            created: image.config.created.clone(),
            command: run.command(),
            env: run.env.clone(),
            working_dir: run.working_dir.clone(),
            user: run.user.clone(),
            volumes: run.volumes.keys().cloned().collect(),
            labels: run.labels.clone(),
            layers: image.layers.iter().map(LayerRow::new).collect(),
            layers_bytes: image.size_bytes(),
            tree,
        }
    }

    /// Writes a line for each thing that is known, with a name before it.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = |name: &str, value: &str| {
            if value.is_empty() {
                return Ok(());
            }
            writeln!(out, "{name:<12} {}", escaped(value.as_bytes()))
        };
        line("image", &self.image)?;
        line("manifest", self.manifest.as_deref().unwrap_or_default())?;
        line("platform", &self.platform)?;
        if self.platforms.len() > 1 {
            line("platforms", &self.platforms.join(", "))?;
        }
        line("created", self.created.as_deref().unwrap_or_default())?;
        line("command", &self.command.join(" "))?;
        line("directory", &self.working_dir)?;
        line("user", &self.user)?;
        for env in &self.env {
            line("environment", env)?;
        }
        for volume in &self.volumes {
            line("volume", volume)?;
        }
        for (name, value) in &self.labels {
            line("label", &format!("{name}={value}"))?;
        }
        for (layer, number) in self.layers.iter().zip(1..) {
            let size = units::bytes(layer.bytes);
            let name = layer.digest.as_ref().or(layer.diff_id.as_ref());
            let name = name.map_or("", String::as_str);
            line(&format!("layer {number}"), &format!("{size:>10}  {name}"))?;
        }
        let count = plural(self.layers.len() as u64, "layer", "layers");
        let size = units::bytes(self.layers_bytes);
        line("together", &format!("{size} in {count}"))?;
        if let Some(tree) = &self.tree {
            let files = plural(tree.files, "file", "files");
            let directories = plural(tree.directories, "directory", "directories");
            let others = plural(tree.others, "other", "others");
            let content = units::bytes(tree.content_bytes);
            line(
                "tree",
                &format!("{content} in {files}; {directories}, {others}"),
            )?;
        }
        Ok(())
    }
}

impl LayerRow {
    fn new(layer: &ImageLayer) -> Self {
        let kind = match layer.kind {
            LayerKind::Tar => "tar",
            LayerKind::SquashFs => "squashfs",
        };
        let is_stated = !layer.media_type.is_empty();
        Self {
            media_type: if is_stated {
                layer.media_type.clone()
            } else {
                kind.to_owned()
            },
            bytes: layer.size_bytes,
            digest: layer.digest.map(|digest| digest.to_string()),
            diff_id: layer.diff_id.map(|digest| digest.to_string()),
        }
    }
}
