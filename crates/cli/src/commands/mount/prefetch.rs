//! What is to be decompressed before it is asked for.

use std::path::{Path, PathBuf};

use coldpress_trace::WorkingSet;

use crate::args::MountArgs;
use crate::failure;
use crate::steps;
use crate::text::quoted;
use crate::ui::Ui;

/// Recordings that needed something, as a share: what fewer needed is seldom needed.
const MIN_SHARE: f64 = 0.5;

/// The working set of the profile that is named, or lies beside the image.
///
/// # Errors
///
/// If the one that is named cannot be used. About one that lies there by itself is warned.
pub(super) fn working_set(args: &MountArgs, ui: &Ui) -> anyhow::Result<Option<WorkingSet>> {
    if let Some(path) = &args.profile {
        return read(path).map(Some);
    }
    let beside = beside(&args.image);
    if args.no_profile || !beside.is_file() {
        return Ok(None);
    }
    let set = read(&beside);
    if let Err(error) = &set {
        let why = failure::sentence(error);
        ui.warn(&format!("{} is not used: {why}", quoted(&beside)));
    }
    Ok(set.ok())
}

fn read(path: &Path) -> anyhow::Result<WorkingSet> {
    Ok(steps::read_profile(path)?.working_set(MIN_SHARE))
}

/// `app.sqfs.profile` of `app.sqfs`.
fn beside(image: &Path) -> PathBuf {
    let mut path = image.as_os_str().to_owned();
    path.push(".profile");
    path.into()
}
