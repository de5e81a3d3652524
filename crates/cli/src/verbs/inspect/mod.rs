//! `coldpress inspect`.

pub(crate) mod args;

use std::io::Write as _;

use anyhow::anyhow;
use coldpress_container::{ContainerImage, ImageLayer, RunConfig};
use coldpress_layout::Kind;
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped, plural, quoted};
use coldpress_report::units;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_writer::{Input, LayerKind, Source};
use serde::Serialize;

use crate::containers;
use crate::resolve::ImageSettings;
use crate::steps;
use crate::verbs::inspect::args::InspectArgs;

/// What a container image is.
#[derive(Debug, Serialize)]
struct Report {
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
    labels: std::collections::BTreeMap<String, String>,
    layers: Vec<LayerRow>,
    layers_bytes: u64,
    /// What the layers are when they are put together; `null` unless asked for.
    tree: Option<Tree>,
}

#[derive(Debug, Serialize)]
struct LayerRow {
    media_type: String,
    bytes: u64,
    digest: Option<String>,
    diff_id: Option<String>,
}

/// The merged layers.
#[derive(Debug, Serialize)]
struct Tree {
    files: u64,
    directories: u64,
    others: u64,
    content_bytes: u64,
    warnings: Vec<String>,
}

pub(super) fn run(args: &InspectArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let spool_directory = containers::spool_directory();
    let found = containers::find(&args.image, &args.container, &spool_directory, ui)?;
    let Some(container) = found else {
        let error = anyhow!(
            "{} is not a reference to a container image",
            quoted(&args.image)
        );
        return Err(hint(
            error,
            "write `oci:DIRECTORY:NAME` or `docker-archive:FILE`, for example",
        ));
    };
    let tree = if args.merged {
        let settings = ImageSettings::for_recording()?;
        let source = steps::put_together(&[Input::Layers(container.input)], &settings, ui)?;
        Some(Tree::new(&source))
    } else {
        None
    };
    let lost = tree.as_ref().is_some_and(|tree| !tree.warnings.is_empty());
    let report = Report::new(&container.image, tree);
    if args.json {
        ui.json(&report)?;
    } else {
        report.print(ui)?;
    }
    Ok(Exit::partial_if(lost))
}

impl Tree {
    fn new(source: &Source) -> Self {
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

impl Report {
    fn new(image: &ContainerImage, tree: Option<Tree>) -> Self {
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

    fn print(&self, ui: &Ui) -> anyhow::Result<()> {
        let mut out = ui.out();
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
        out.flush()?;
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
