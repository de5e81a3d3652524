//! Sources that are container images.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use coldpress_container::{ContainerImage, Means, Reference, RegistryReference, RunConfig};
use coldpress_host::threads;
use coldpress_session::ui::Ui;
use coldpress_writer::{Input, LayersInput, LazyImage, SourceOptions, TarDefaults, gather};

use crate::flags::container::{ContainerArgs, TargetName};

/// A container image that was found, and how its layers are to be read.
pub(crate) struct Container {
    pub(crate) image: ContainerImage,
    pub(crate) input: LayersInput,
}

/// Whether a source names a container image: begins as a reference does, and no file has this name.
pub(crate) fn is_container(source: &Path) -> bool {
    let text = source.to_str();
    text.is_some_and(|text| Reference::parse(text).is_some()) && source.symlink_metadata().is_err()
}

/// Where what cannot be read twice is kept if there is no output beside which it could be.
pub(crate) fn spool_directory() -> PathBuf {
    let named = env::var_os("TMPDIR").filter(|path| !path.is_empty());
    named.map_or_else(|| PathBuf::from("/var/tmp"), PathBuf::from)
}

/// Finds the container image that a source names; `None` if it names none.
///
/// # Errors
///
/// If there is no such image, or it cannot be read.
pub(crate) fn find(
    source: &Path,
    args: &ContainerArgs,
    spool_directory: &Path,
    ui: &Ui,
) -> anyhow::Result<Option<Container>> {
    if !is_container(source) {
        return Ok(None);
    }
    let text = source.to_str().unwrap_or_default();
    let Some(reference) = Reference::parse(text) else {
        return Ok(None);
    };
    let image = opened(&reference?, text, args, spool_directory, ui)?;
    let input = LayersInput {
        layers: image.layers(),
        spool_directory: spool_directory.to_path_buf(),
        defaults: TarDefaults::default(),
        follows_symlinks: args.follow_symlinks,
    };
    Ok(Some(Container { image, input }))
}

fn opened(
    reference: &Reference,
    text: &str,
    args: &ContainerArgs,
    spool_directory: &Path,
    ui: &Ui,
) -> anyhow::Result<ContainerImage> {
    if let Reference::Registry(reference) = reference {
        return fetched(reference, args, ui);
    }
    let means = Means {
        platform: args.platform.clone(),
        spool_directory: spool_directory.to_path_buf(),
    };
    coldpress_container::open(reference, text, &means, &mut |_| ui.interrupt.poll())
        .context("cannot read the container image")
}

#[cfg(feature = "http")]
fn fetched(
    reference: &RegistryReference,
    args: &ContainerArgs,
    ui: &Ui,
) -> anyhow::Result<ContainerImage> {
    crate::registries::fetch(reference, args, ui)
}

#[cfg(not(feature = "http"))]
fn fetched(
    reference: &RegistryReference,
    _: &ContainerArgs,
    _: &Ui,
) -> anyhow::Result<ContainerImage> {
    let error = anyhow::anyhow!("cannot pull `{reference}`: this coldpress was built without URLs");
    let advice = "build coldpress with `--features https`, or copy the image to a layout first";
    Err(coldpress_report::failure::hint(error, advice))
}

/// Adds the layers that a tool wants.
pub(crate) fn add_for(target: TargetName, container: &mut Container) {
    let image = &container.image;
    let time_s = image.created_s();
    let layers = &mut container.input.layers;
    match target {
        TargetName::Enroot => layers.push(image.enroot_layer(&image.name, time_s)),
        TargetName::Charliecloud => {
            layers.insert(0, image.charliecloud_mount_points(time_s));
            layers.push(image.charliecloud_layer(time_s));
        }
        // Its files go into any source, and some of them before the image.
        TargetName::Apptainer => {}
    }
}

/// What a single source means, which may be a container image.
///
/// # Errors
///
/// As [`find`] and [`Input::from_paths`].
pub(crate) fn inputs(source: &Path, args: &ContainerArgs, ui: &Ui) -> anyhow::Result<Vec<Input>> {
    Ok(started(source, args, ui)?.0)
}

/// The same, and how it is run if it says so.
///
/// # Errors
///
/// As [`inputs`].
pub(crate) fn started(
    source: &Path,
    args: &ContainerArgs,
    ui: &Ui,
) -> anyhow::Result<(Vec<Input>, Option<RunConfig>)> {
    Ok(match find(source, args, &spool_directory(), ui)? {
        Some(container) => {
            let config = container.image.config.config;
            (vec![Input::Layers(container.input)], Some(config))
        }
        None => (Input::from_paths(&[source.to_path_buf()])?, None),
    })
}

/// A container image for verbs that read SquashFS images; `None` if the path names none. Its
/// content is read from the layers when it is needed.
///
/// # Errors
///
/// As [`find`], and if its layers cannot be put together.
pub(crate) fn as_image(path: &Path) -> anyhow::Result<Option<LazyImage>> {
    let spool_directory = spool_directory();
    let found = find(
        path,
        &ContainerArgs::default(),
        &spool_directory,
        &Ui::new(true),
    )?;
    let Some(container) = found else {
        return Ok(None);
    };
    let options = SourceOptions {
        threads: threads(None),
        ..SourceOptions::default()
    };
    let inputs = [Input::Layers(container.input)];
    let source = gather(&inputs, &options, &mut |_| {
        std::ops::ControlFlow::Continue(())
    })?;
    Ok(Some(LazyImage::new(source, &spool_directory)?))
}
