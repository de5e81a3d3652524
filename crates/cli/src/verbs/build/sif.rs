//! Images for Apptainer: what is added to the sources, and what comes before the image.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_container::{ApptainerFiles, ContainerImage, Platform};
use coldpress_image::{Image, Offset};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_writer::{Input, LayersInput, Output, TarDefaults};

use super::Built;
use crate::containers::spool_directory;
use crate::flags::container::TargetName;
use crate::flags::image::{CompressorName, ImageArgs};
use crate::verbs::build::args::BuildArgs;

/// What IMAGE is for: what is asked for, else what its name says.
pub(super) fn target(args: &BuildArgs, image: &Path) -> Option<TargetName> {
    let is_sif = image.extension().is_some_and(|it| it == "sif");
    args.target
        .or_else(|| is_sif.then_some(TargetName::Apptainer))
}

/// Refuses what a SIF container cannot have.
///
/// # Errors
///
/// If it is asked for.
pub(super) fn check(args: &BuildArgs, image: &Path) -> anyhow::Result<()> {
    let flags = [
        ("--offset", args.offset.is_some()),
        ("--no-padding", args.no_padding),
        ("--verity", args.verity.is_some()),
    ];
    let Some((flag, _)) = flags.into_iter().find(|(_, is_given)| *is_given) else {
        return Ok(());
    };
    let image = quoted(image);
    let error = anyhow!("{image} is a SIF container, which says itself where its image is");
    Err(hint(error, format!("leave {flag} out")))
}

/// The compressor of a SIF container, unless another is asked for: hosts without a newer kernel or
/// squashfuse read only this one.
pub(super) fn compressor(args: &mut ImageArgs) {
    args.compressor.get_or_insert(CompressorName::Gzip);
}

/// Adds what Apptainer adds: around the layers of a container image, or below what else there is.
pub(super) fn add(
    inputs: &mut Vec<Input>,
    container: Option<&ContainerImage>,
    args: &BuildArgs,
    epoch_s: Option<u32>,
) -> ApptainerFiles {
    let layers = inputs.iter_mut().rev().find_map(|input| match input {
        Input::Layers(input) => Some(&mut input.layers),
        _ => None,
    });
    let (Some(container), Some(layers)) = (container, layers) else {
        let platform = args.container.platform.clone();
        let architecture = platform.unwrap_or_else(Platform::host).architecture;
        let files = ApptainerFiles::of_system(&architecture, epoch_s.unwrap_or(0));
        let below = LayersInput {
            layers: vec![files.below.clone()],
            spool_directory: spool_directory(),
            defaults: TarDefaults::default(),
            follows_symlinks: false,
        };
        inputs.insert(0, Input::Layers(below));
        return files;
    };
    let files = container.apptainer_files(container.created_s());
    layers.insert(0, files.below.clone());
    layers.extend(files.above.clone());
    files
}

/// Completes the container when its image is written. It is as old as the image.
///
/// # Errors
///
/// If it cannot be written.
pub(super) fn finish(files: &ApptainerFiles, output: &Output, built: &Built) -> anyhow::Result<()> {
    let file = output.file();
    let cannot = || format!("cannot complete {}", quoted(output.path()));
    let image_bytes = match built.pack {
        Some(_) => file.metadata().with_context(cannot)?.len() - files.partition_start(),
        None => built.summary.image_bytes,
    };
    let image = Offset {
        inner: file.try_clone().with_context(cannot)?,
        start: files.partition_start(),
    };
    let image = Image::new(Box::new(image)).with_context(cannot)?;
    let time_s = image.superblock().modification_time_s;
    files
        .write_head(file, image_bytes, time_s)
        .with_context(cannot)
}
