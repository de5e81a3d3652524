//! `coldpress variants`: a set of images for machines that differ.

pub(crate) mod args;
mod build;
mod index;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use coldpress_calibration::Target;
use coldpress_container::{
    Artifact, ArtifactForm, ArtifactSettings, Place, Platform, Reference, RunConfig,
    push_index_to_layout,
};
use coldpress_cost::AccessSequence;
use coldpress_image::ReadAt;
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_variants::{IMAGE_ANNOTATION, ImageEntry, Index};
use coldpress_writer::Source;

use crate::flags::place::PlaceArgs;
use crate::image_file;
use crate::start::Start;
use crate::steps;
use crate::verbs::variants::args::{StartArgs, VariantsArgs, VariantsVerb};

pub(super) fn run(args: &VariantsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match &args.verb {
        VariantsVerb::Build(args) => build::run(args, ui),
        VariantsVerb::Index(args) => index::run(args, ui),
    }
}

impl StartArgs {
    fn read(&self) -> anyhow::Result<Start> {
        match &self.profile {
            Some(path) => Ok(Start::Profile(steps::read_profile(path)?)),
            None => Start::read_trace(self.trace.as_deref().unwrap_or(Path::new(""))),
        }
    }

    /// What the program takes itself, in s: said, or as the recording tells.
    fn program_s(&self, start: &Start, source: &Source, ui: &Ui) -> anyhow::Result<f64> {
        let here = Target::resolve("host", ui)?;
        let told_s = || start.program_s(source, &here);
        Ok(self.warm.or_else(told_s).unwrap_or(0.0))
    }

    fn description(&self) -> String {
        let path = self.trace.as_ref().or(self.profile.as_ref());
        let name = path.and_then(|path| path.file_name()).unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// What an index says of an image that is there.
fn entry(
    path: &Path,
    description: String,
    sequence: &AccessSequence,
    ui: &Ui,
) -> anyhow::Result<ImageEntry> {
    let bytes: Arc<dyn ReadAt> = image_file::open_bytes(path, &PlaceArgs::default())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let poll = &mut || ui.interrupt.poll();
    let entry = ImageEntry::of(name.into_owned(), description, &bytes, sequence, poll);
    entry.with_context(|| format!("cannot index {}", quoted(path)))
}

/// The OCI layout that the images are added to, and the name there.
fn layout(text: Option<&str>) -> anyhow::Result<Option<Place>> {
    let Some(text) = text else { return Ok(None) };
    match Reference::parse(text).transpose()? {
        Some(Reference::Layout(place)) if place.digest.is_none() && place.name.is_some() => {
            Ok(Some(place))
        }
        _ => Err(anyhow!(
            "--oci is `oci:DIR:NAME`, not `{}`",
            text.escape_debug()
        )),
    }
}

/// Adds the images of an index to an OCI layout, as an index with annotations.
fn add_to_layout(index: &Index, directory: &Path, place: &Place, ui: &Ui) -> anyhow::Result<()> {
    let (annotations, entries) = index.annotations()?;
    let mut images = Vec::new();
    for (image, entry) in index.images.iter().zip(entries) {
        let settings = ArtifactSettings {
            form: ArtifactForm::SquashFs,
            file_name: image.file.clone(),
            compressor: image.demands.compressor.clone(),
            platform: Platform::host(),
            config: RunConfig::default(),
            annotations: BTreeMap::new(),
        };
        let path = directory.join(&image.file);
        let artifact = Artifact::new(&path, &settings, &mut |_| ui.interrupt.poll())?;
        images.push((
            artifact,
            BTreeMap::from([(IMAGE_ANNOTATION.to_owned(), entry)]),
        ));
    }
    push_index_to_layout(&images, &annotations, place).context("cannot add to the layout")
}
