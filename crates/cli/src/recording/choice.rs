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
    let is_file = containers::is_container(source) || source.is_file();
    let mut refused = Vec::new();
    for recorder in &RECORDERS {
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
