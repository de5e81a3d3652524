//! Which recorder: the best that this process may use, or the one that was asked for.

use std::path::Path;

use anyhow::anyhow;
use coldpress_host::{enter_private_namespace, is_root};
use coldpress_report::failure::hint;
use coldpress_session::ui::Ui;

use super::{RECORDERS, Recorder};
use crate::containers;
use crate::flags::recorder::RecorderName;

/// Chooses, and says why no better one was possible. What is mounted from here on is seen by nobody
/// else.
///
/// * `source`: what is recorded.
///
/// Call it before any thread is started.
///
/// # Errors
///
/// If the recorder that was asked for lacks something, or all do.
pub(crate) fn choose(
    asked: RecorderName,
    chroot: bool,
    source: &Path,
    ui: &Ui,
) -> anyhow::Result<&'static Recorder> {
    first_of(RECORDERS.iter(), asked, chroot, source, ui)
}

/// The same, for a start whose archives are ordered: entries are smaller than what the kernel maps
/// around a fault, so a recorder that sees single pages comes first. A start of
/// Firefox reads its archives 107 times when they are ordered by what `fuse` saw, and 206 times by
/// what `kernel` saw.
///
/// # Errors
///
/// As [`choose`].
pub(crate) fn choose_for_archives(
    asked: RecorderName,
    chroot: bool,
    source: &Path,
    ui: &Ui,
) -> anyhow::Result<&'static Recorder> {
    let (single, others) = RECORDERS
        .iter()
        .partition::<Vec<_>, _>(|recorder| recorder.sees_single_pages);
    first_of(single.into_iter().chain(others), asked, chroot, source, ui)
}

fn first_of(
    recorders: impl Iterator<Item = &'static Recorder>,
    asked: RecorderName,
    chroot: bool,
    source: &Path,
    ui: &Ui,
) -> anyhow::Result<&'static Recorder> {
    let is_file = containers::is_container(source) || source.is_file();
    let mut refused = Vec::new();
    for recorder in recorders {
        if asked != RecorderName::Auto && asked != recorder.name {
            continue;
        }
        let missing = if is_file && !recorder.builds_image {
            Some("a directory: images and containers are none".to_owned())
        } else {
            (recorder.missing)(chroot)
        };
        let Some(missing) = missing else {
            if !refused.is_empty() {
                ui.warn(&format!(
                    "recorded by `{}`, as {}",
                    recorder.name(),
                    refused.join("; ")
                ));
            }
            // Without root fusermount3 mounts, where everyone sees it.
            let mounts = recorder.name == RecorderName::Kernel
                || (recorder.name == RecorderName::Fuse && is_root());
            if mounts {
                enter_private_namespace()?;
            }
            return Ok(recorder);
        };
        refused.push(format!("`{}` lacks {missing}", recorder.name()));
    }
    let error = anyhow!("nothing can be recorded: {}", refused.join("; "));
    Err(hint(
        error,
        "run it as root, on a kernel with SquashFS, loop devices and tracefs",
    ))
}
