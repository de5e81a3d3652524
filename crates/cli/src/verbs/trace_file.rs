//! Timings as trace events, in a file: `--timings FILE`.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_report::failure::{hint, sentence};
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::timing::status;
use coldpress_session::ui::Ui;
use coldpress_writer::Output;

use crate::steps;

/// How every such file begins, and nothing else that somebody keeps.
const BEGINNING: &[u8] = b"{\"traceEvents\":";

/// Does something and writes how long what of it took, however it ended.
///
/// # Errors
///
/// Those of the operation; if it went well, that the file cannot be written.
pub(crate) fn traced(
    path: Option<&Path>,
    ui: &Ui,
    act: impl FnOnce() -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    let Some(path) = path else {
        return act();
    };
    // A wrong place is told at once, not after minutes.
    drop(create(path)?);
    let outcome = act();
    let written = write(path, &outcome, ui);
    match (&outcome, written) {
        (Ok(_), written) => written?,
        (Err(_), Err(error)) => ui.warn(&sentence(&error)),
        (Err(_), Ok(())) => {}
    }
    outcome
}

fn write(path: &Path, outcome: &anyhow::Result<Exit>, ui: &Ui) -> anyhow::Result<()> {
    let change = ui.timing.change(status(outcome, ui.interrupt.is_pending()));
    let json = serde_json::to_vec(&change.trace_events())?;
    steps::write_small(create(path)?, &json)
}

/// A file that takes the place of an older one of its kind, and of nothing else: what stands there
/// may be what the verb has just read or written.
fn create(path: &Path) -> anyhow::Result<Output> {
    let is_free = is_free(path).with_context(|| format!("cannot read {}", quoted(path)))?;
    if !is_free {
        let error = anyhow!("{} exists and holds no timings", quoted(path));
        return Err(hint(error, "give another file to --timings"));
    }
    Ok(Output::create(path)?)
}

/// Whether there is nothing, or what was written here before.
fn is_free(path: &Path) -> io::Result<bool> {
    // Something that is no file is refused when it is created, and must not be waited for here.
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
        Ok(metadata) if !metadata.is_file() => return Ok(true),
        Ok(_) => {}
    }
    let mut beginning = Vec::new();
    let len = BEGINNING.len() as u64;
    File::open(path)?.take(len).read_to_end(&mut beginning)?;
    Ok(beginning == BEGINNING)
}
