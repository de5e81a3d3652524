//! Images of registries: who one is there, and where what comes is kept.

use std::env;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, anyhow};
use coldpress_container::{
    Artifact, ContainerImage, CredentialFiles, Fetched, Pushed, RegistryMeans, RegistryReference,
    Wanted, Watch, manifest_digest, pull, push,
};
use coldpress_report::failure::hint;
use coldpress_session::ui::{Step, Ui};
use coldpress_writer::Digest;

use crate::flags::container::{ContainerArgs, RegistryArgs};

/// Gets an image of a registry, as far as it is not in the cache.
///
/// # Errors
///
/// If the registry does not give it, or the user interrupts; what has come is kept.
pub(crate) fn fetch(
    reference: &RegistryReference,
    args: &ContainerArgs,
    ui: &Ui,
) -> anyhow::Result<ContainerImage> {
    let means = means(&args.registry, args.cache.clone())?;
    let wanted = wanted(args);
    let step = ui.step("pulling", 0);
    let step = step.about("layers that are not in the cache");
    watched(step, ui, |watch| {
        pull(reference, &wanted, &means, watch).context("cannot pull the image")
    })
}

/// The digest of the manifest that a reference means now.
///
/// # Errors
///
/// If the registry does not tell it, or the user interrupts.
pub(crate) fn digest(
    reference: &RegistryReference,
    args: &ContainerArgs,
    ui: &Ui,
) -> anyhow::Result<Digest> {
    let means = means(&args.registry, args.cache.clone())?;
    let watch = |_: Fetched| ui.interrupt.poll();
    manifest_digest(reference, &wanted(args), &means, &watch).context("cannot find the image")
}

/// Sends an image to a registry.
///
/// # Errors
///
/// If the registry does not take it, or the user interrupts.
pub(crate) fn send(
    artifact: &Artifact,
    reference: &RegistryReference,
    args: &RegistryArgs,
    ui: &Ui,
) -> anyhow::Result<Pushed> {
    let means = means(args, None)?;
    watched(ui.step("pushing", artifact.size_bytes()), ui, |watch| {
        push(reference, artifact, &means, watch).context("cannot push the image")
    })
}

/// Shows how much has come or gone.
fn watched<T>(
    step: Step,
    ui: &Ui,
    work: impl FnOnce(Watch) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let step = Mutex::new(step);
    let watch = |fetched: Fetched| -> ControlFlow<()> {
        let mut step = step.lock().unwrap_or_else(PoisonError::into_inner);
        if fetched.total_bytes > 0 {
            step.set_total(fetched.total_bytes);
            step.set(fetched.done_bytes);
        }
        if let Some(part) = fetched.part {
            let name = format!("{}:{}", part.digest.algorithm(), &part.digest.hex()[..12]);
            step.set_part(&name, part.done_bytes, part.total_bytes);
        }
        drop(step);
        ui.interrupt.poll()
    };
    let done = work(&watch)?;
    let step = step.into_inner().unwrap_or_else(PoisonError::into_inner);
    step.finish("");
    Ok(done)
}

fn wanted(args: &ContainerArgs) -> Wanted {
    Wanted {
        platform: args.platform.clone(),
        ..Wanted::default()
    }
}

fn means(args: &RegistryArgs, cache: Option<PathBuf>) -> anyhow::Result<RegistryMeans> {
    Ok(RegistryMeans {
        credentials: credentials(args),
        plain_http: args.plain_http,
        cache: cache_directory(cache)?,
        proxy_from_environment: true,
    })
}

/// Where blobs are kept.
///
/// # Errors
///
/// If the user has no home, and names no directory.
pub(crate) fn cache_directory(chosen: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let chosen = chosen.or_else(|| path("COLDPRESS_BLOB_CACHE"));
    let own = || Some(home()?.join(".cache"));
    let base = chosen
        .is_none()
        .then(|| path("XDG_CACHE_HOME").or_else(own))
        .flatten();
    chosen
        .or_else(|| Some(base?.join("coldpress/containers")))
        .ok_or_else(|| {
            hint(
                anyhow!("there is no place for the cache"),
                "name one with --blob-cache",
            )
        })
}

/// The files of Podman, Docker and enroot.
fn credentials(args: &RegistryArgs) -> CredentialFiles {
    let asked = args.authfile.clone().or_else(|| path("REGISTRY_AUTH_FILE"));
    let is_first_required = asked.is_some();
    let config = path("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")));
    let docker = path("DOCKER_CONFIG").or_else(|| Some(home()?.join(".docker")));
    let places = [
        path("XDG_RUNTIME_DIR").map(|it| it.join("containers/auth.json")),
        config.as_ref().map(|it| it.join("containers/auth.json")),
        docker.map(|it| it.join("config.json")),
    ];
    let enroot = path("ENROOT_CONFIG_PATH").or_else(|| Some(config?.join("enroot")));
    CredentialFiles {
        auth_files: match asked {
            Some(asked) => vec![asked],
            None => places.into_iter().flatten().collect(),
        },
        is_first_required,
        netrc: enroot.map(|it| it.join(".credentials")),
    }
}

fn home() -> Option<PathBuf> {
    path("HOME")
}

fn path(variable: &str) -> Option<PathBuf> {
    let value = env::var_os(variable).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}
