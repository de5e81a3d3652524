//! The opens and lookups of a program that starts from the directory itself: no root, no mount, no
//! image.
//!
//! It says of a file that it was opened, not which pages of it were used: all of them, perhaps.

use coldpress_host::{OpensRecorder, cannot_record_opens, start};
use coldpress_trace::Trace;

use super::{About, Stage};

pub(super) const TITLE: &str =
    "opens: system calls that name files, by seccomp; pages are not known";

/// What of this recorder this process lacks.
pub(super) fn missing(chroot: bool) -> Option<String> {
    cannot_record_opens(chroot).map(str::to_owned)
}

/// Starts the command from the directory, and returns what it opened and looked up.
///
/// # Errors
///
/// If the directory cannot be read, the kernel refuses to tell, or the command fails.
pub(super) fn record(stage: &Stage<'_>) -> anyhow::Result<Trace> {
    let step = stage.ui.step("recording", 0).about("a start");
    // Absolute, because the command may change its working directory.
    let directory = stage.name.canonicalize()?;
    let recorder = OpensRecorder::new(&directory)?;
    let (recording, outcome) = stage.run(
        |cgroup| recorder.start(stage.command, cgroup),
        || recorder.finish(),
    )?;
    step.finish("");
    let header = stage.header(About {
        recorder: TITLE,
        cold: "no: caches were as they were".to_owned(),
        read_ahead_kib: None,
        block_size: None,
        lost_events: recording.lost_events,
        wall_ns: outcome.wall_ns,
    });
    stage.demand_events(Trace {
        header,
        events: recording.events,
    })
}

/// The same start without a recorder.
///
/// # Errors
///
/// As [`record`].
pub(super) fn unrecorded(stage: &Stage<'_>) -> anyhow::Result<u64> {
    let directory = stage.name.canonicalize()?;
    let ((), outcome) = stage.run(|cgroup| start(stage.command, &directory, cgroup), || Ok(()))?;
    Ok(outcome.wall_ns)
}
