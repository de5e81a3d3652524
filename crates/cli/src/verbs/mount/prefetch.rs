//! What is to be decompressed before it is asked for.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use coldpress_format::Body;
use coldpress_image::Image;
use coldpress_report::failure::sentence;
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;
use coldpress_trace::{Profile, WorkingSet};

use crate::steps;
use crate::verbs::mount::args::MountArgs;

/// Recordings that needed something, as a share: what fewer needed is seldom needed.
const MIN_SHARE: f64 = 0.5;
/// The profile that an image itself brings.
const WITHIN: &[u8] = b"/.coldpress.profile";
/// That of Chromium has 0.2 MB.
const WITHIN_BYTES_MAX: u64 = 16 << 20;

/// The working set of the profile that is named, or lies beside the image, or in it.
///
/// # Errors
///
/// If the one that is named cannot be used. About one that lies there by itself is warned.
pub(super) fn working_set(
    args: &MountArgs,
    image: &Image,
    ui: &Ui,
) -> anyhow::Result<Option<WorkingSet>> {
    let set = |profile: Profile| profile.working_set(MIN_SHARE);
    if let Some(path) = &args.profile {
        return Ok(Some(set(steps::read_profile(path)?)));
    }
    if args.no_profile {
        return Ok(None);
    }
    let beside = beside(&args.image);
    let found = if beside.is_file() {
        let profile = steps::read_profile(&beside).map(Some);
        profile.with_context(|| format!("{} is not used", quoted(&beside)))
    } else {
        within(image).context("the profile in the image, `/.coldpress.profile`, is not used")
    };
    if let Err(error) = &found {
        ui.warn(&sentence(error));
    }
    Ok(found.unwrap_or_default().map(set))
}

/// `app.sqfs.profile` of `app.sqfs`.
fn beside(image: &Path) -> PathBuf {
    let mut path = image.as_os_str().to_owned();
    path.push(".profile");
    path.into()
}

/// The profile that the image has as a file of its root.
fn within(image: &Image) -> anyhow::Result<Option<Profile>> {
    let Some((_, inode)) = image.find(WITHIN)? else {
        return Ok(None);
    };
    let Body::File(file) = &inode.body else {
        bail!("it is no file");
    };
    if file.size_bytes > WITHIN_BYTES_MAX {
        bail!("it has more than 16 MiB");
    }
    let mut bytes = vec![0; usize::try_from(file.size_bytes)?];
    let read = image.read_at(file, 0, &mut bytes)?;
    bytes.truncate(read);
    steps::parse_profile(&bytes).map(Some)
}
