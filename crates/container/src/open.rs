//! From a reference to the image.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use coldpress_writer::{TarMembers, TarOrigin};

use crate::archive::Archive;
use crate::daemon;
use crate::docker_archive;
use crate::error::Error;
use crate::image::ContainerImage;
use crate::layout::Layout;
use crate::platform::Platform;
use crate::reference::{Place, Reference};
use crate::resolve::{self, Wanted};

/// What an image is opened with.
#[derive(Clone, Debug, Default)]
pub struct Means {
    /// What it is to run on; without one this machine, where there is a choice.
    pub platform: Option<Platform>,
    /// Where an archive is kept that is compressed or comes through a pipe.
    pub spool_directory: PathBuf,
}

/// Opens the image of a layout or archive, or one that a program of this machine keeps.
///
/// * `text`: the reference as the user wrote it, for messages.
/// * `progress`: called now and then; stops the work when it breaks.
///
/// # Errors
///
/// [`Error`]; [`Error::Reference`] for what is in no file.
pub fn open(
    reference: &Reference,
    text: &str,
    means: &Means,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<ContainerImage, Error> {
    match reference {
        Reference::Layout(place) => {
            let layout = Layout::new(&place.path, text.to_owned());
            let index = layout.index()?;
            resolve::image(&layout, index, &wanted(place, means))
        }
        Reference::OciArchive(place) => {
            let archive = archive(place, text, means, progress)?;
            from_archive(&archive, &wanted(place, means), true)
        }
        Reference::DockerArchive(place) => {
            let archive = archive(place, text, means, progress)?;
            from_archive(&archive, &wanted(place, means), false)
        }
        Reference::Daemon(daemon, name) => {
            let archive = daemon::saved(*daemon, name, text, means, progress)?;
            let wanted = Wanted {
                platform: means.platform.clone(),
                ..Wanted::default()
            };
            from_archive(&archive, &wanted, false)
        }
        Reference::Registry(_) => Err(Error::Reference {
            text: text.to_owned(),
            rule: "it is in no file",
        }),
    }
}

/// The image of an archive, which Docker writes for readers of either kind.
///
/// * `is_oci`: which of them is asked first. Some versions of Docker leave out layers of the OCI
///   side, or write no list at all (moby#47065, moby#47210).
fn from_archive(archive: &Archive, wanted: &Wanted, is_oci: bool) -> Result<ContainerImage, Error> {
    let oci = || match archive.index()? {
        Some(index) if !index.manifests.is_empty() => {
            resolve::image(archive, index, wanted).map(Some)
        }
        _ => Ok(None),
    };
    let docker = || docker_archive::image(archive, wanted);
    let (first, second) = if is_oci {
        (oci(), None)
    } else {
        (docker(), Some(()))
    };
    let other = || if second.is_none() { docker() } else { oci() };
    match first {
        Ok(Some(image)) => Ok(image),
        Ok(None) => other()?.ok_or_else(|| Error::Missing {
            image: crate::blobs::Blobs::name(archive).to_owned(),
            what: "`index.json` or `manifest.json`".to_owned(),
        }),
        // What is asked for first says best what is wrong.
        Err(error) => other().ok().flatten().ok_or(error),
    }
}

fn wanted(place: &Place, means: &Means) -> Wanted {
    Wanted {
        name: place.name.clone(),
        digest: place.digest,
        platform: means.platform.clone(),
    }
}

fn archive(
    place: &Place,
    text: &str,
    means: &Means,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Archive, Error> {
    let origin = if place.path == Path::new("-") {
        TarOrigin::Stdin
    } else {
        TarOrigin::File(place.path.clone())
    };
    let members = TarMembers::read(&origin, &means.spool_directory, progress)?;
    Ok(Archive::new(members, text.to_owned()))
}
