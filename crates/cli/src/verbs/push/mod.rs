//! `coldpress push`.

pub(crate) mod args;

use std::io::Write as _;

use anyhow::{Context as _, anyhow};
use coldpress_container::{
    Artifact, ArtifactForm, ArtifactSettings, Place, Platform, Reference, RegistryReference,
    RunConfig, push_to_layout,
};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_report::units;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use serde::Serialize;

use crate::containers;
use crate::flags::container::ContainerArgs;
use crate::flags::place::PlaceArgs;
use crate::image_file;
use crate::verbs::push::args::{FormName, PushArgs};

/// The file that uenv looks for in what it pulls.
const UENV_FILE_NAME: &str = "store.squashfs";

/// What was pushed.
#[derive(Debug, Serialize)]
struct Report {
    /// With the digest.
    image: String,
    digest: String,
    bytes: u64,
    /// Bytes that the registry did not have.
    sent_bytes: u64,
}

/// Where an image goes.
enum Destination {
    Registry(RegistryReference),
    Layout(Place),
}

pub(super) fn run(args: &PushArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let destination = Destination::parse(&args.destination)?;
    let settings = settings(args, ui)?;
    let size_bytes = args.image.metadata()?.len();
    let step = ui.step("hashing", size_bytes);
    let artifact = Artifact::new(&args.image, &settings, &mut |done_bytes| {
        step.set(done_bytes);
        ui.interrupt.poll()
    })?;
    step.finish("");
    let report = destination.take(&artifact, args, ui)?;
    if args.json {
        ui.json(&report)?;
        return Ok(Exit::Done);
    }
    let mut out = ui.out();
    writeln!(out, "{}", report.image)?;
    out.flush()?;
    let image = quoted(&args.image);
    ui.say(&match report.sent_bytes {
        0 => format!("{image}: nothing was sent, the registry had it"),
        sent_bytes => format!("{image}: {} sent", units::bytes(sent_bytes)),
    });
    Ok(Exit::Done)
}

impl Destination {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let advice = "write `docker://HOST/NAME:TAG` or `oci:DIRECTORY:NAME`";
        match Reference::parse(text).transpose()? {
            Some(Reference::Registry(reference)) => Ok(Self::Registry(reference)),
            Some(Reference::Layout(place)) if place.digest.is_none() => Ok(Self::Layout(place)),
            _ => {
                let error = anyhow!("cannot push to `{}`", text.escape_debug());
                Err(hint(error, advice))
            }
        }
    }

    fn take(&self, artifact: &Artifact, args: &PushArgs, ui: &Ui) -> anyhow::Result<Report> {
        let digest = artifact.digest.to_string();
        let bytes = artifact.size_bytes();
        let (image, sent_bytes) = match self {
            Self::Registry(reference) => {
                let sent_bytes = send(artifact, reference, args, ui)?;
                let (registry, repository) = (&reference.registry, &reference.repository);
                (
                    format!("docker://{registry}/{repository}@{digest}"),
                    sent_bytes,
                )
            }
            Self::Layout(place) => {
                push_to_layout(artifact, place).context("cannot add to the layout")?;
                (format!("oci:{}@{digest}", place.path.display()), bytes)
            }
        };
        Ok(Report {
            image,
            digest,
            bytes,
            sent_bytes,
        })
    }
}

#[cfg(feature = "http")]
fn send(
    artifact: &Artifact,
    reference: &RegistryReference,
    args: &PushArgs,
    ui: &Ui,
) -> anyhow::Result<u64> {
    let pushed = crate::registries::send(artifact, reference, &args.registry, ui)?;
    Ok(pushed.sent_bytes)
}

#[cfg(not(feature = "http"))]
fn send(_: &Artifact, reference: &RegistryReference, _: &PushArgs, _: &Ui) -> anyhow::Result<u64> {
    let error = anyhow!("cannot push to `{reference}`: this coldpress was built without URLs");
    let advice = "build coldpress with `--features https`, or push to an OCI layout";
    Err(hint(error, advice))
}

/// What the image is pushed as; it must be one.
fn settings(args: &PushArgs, ui: &Ui) -> anyhow::Result<ArtifactSettings> {
    let form = match args.form {
        FormName::Artifact | FormName::Uenv => ArtifactForm::SquashFs,
        FormName::Stacker => ArtifactForm::Stacker,
    };
    if form == ArtifactForm::SquashFs && (args.config_of.is_some() || args.platform.is_some()) {
        let error = anyhow!("an artifact has no configuration and no platform");
        return Err(hint(
            error,
            "--config-of and --platform are for --as stacker",
        ));
    }
    // From its first byte: whoever pulls it mounts it without an offset.
    let image = image_file::open(&args.image, &PlaceArgs::default())?;
    if image.start != 0 {
        let error = anyhow!(
            "{} begins with something else than the image",
            quoted(&args.image)
        );
        return Err(hint(
            error,
            "copy the image out, for example with `coldpress resquash`",
        ));
    }
    let own_name = args.image.file_name().unwrap_or_default().to_string_lossy();
    let file_name = match (&args.file_name, args.form) {
        (Some(name), _) => name.clone(),
        (None, FormName::Uenv) => UENV_FILE_NAME.to_owned(),
        (None, _) => own_name.into_owned(),
    };
    // `oras pull` writes to this path.
    if file_name.is_empty() || file_name.contains('/') || file_name == "." || file_name == ".." {
        return Err(anyhow!(
            "--file-name must be the name of a file, without `/`"
        ));
    }
    Ok(ArtifactSettings {
        form,
        file_name,
        compressor: image.image.superblock().compressor.to_string(),
        platform: args.platform.clone().unwrap_or_else(Platform::host),
        config: config(args, ui)?,
        annotations: args.annotation.iter().cloned().collect(),
    })
}

/// How the image is run.
fn config(args: &PushArgs, ui: &Ui) -> anyhow::Result<RunConfig> {
    let Some(reference) = &args.config_of else {
        return Ok(RunConfig::default());
    };
    let container = ContainerArgs {
        platform: args.platform.clone(),
        registry: args.registry.clone(),
        ..ContainerArgs::default()
    };
    let directory = containers::spool_directory();
    let found = containers::find(reference, &container, &directory, ui)?;
    let found = found.ok_or_else(|| {
        let error = anyhow!(
            "{} is not a reference to a container image",
            quoted(reference)
        );
        hint(
            error,
            "write `docker://HOST/NAME:TAG` or `oci:DIRECTORY:NAME`",
        )
    })?;
    Ok(found.image.config.config)
}
