//! Images that Docker or Podman keep on this machine, as these programs write them to a pipe.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use coldpress_writer::TarMembers;

use crate::archive::Archive;
use crate::error::Error;
use crate::open::Means;
use crate::reference::Daemon;

/// Bytes of what the program says that are repeated.
const SAID_MAX_BYTES: u64 = 2048;

/// Ends the program if the work stops.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended, and nobody asks how.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the program writes of an image.
///
/// # Errors
///
/// [`Error::Command`] if it cannot be run or fails, [`Error::Archive`] if what it writes is
/// damaged.
pub(crate) fn saved(
    daemon: Daemon,
    name: &str,
    text: &str,
    means: &Means,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Archive, Error> {
    let words: &[&str] = match daemon {
        Daemon::Docker => &["docker", "save"],
        Daemon::Podman => &["podman", "save", "--format", "docker-archive"],
    };
    let failed = |reason: String| Error::Command {
        command: format!("{} {name}", words.join(" ")),
        reason,
    };
    // In a file: a program that says much must not wait for somebody to read it.
    let directory = &means.spool_directory;
    let said = coldpress_writer::scratch_file(directory)?;
    let to_said = said
        .try_clone()
        .map_err(|error| failed(error.to_string()))?;
    let child = Command::new(words[0])
        .args(&words[1..])
        .arg(name)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(to_said)
        .spawn();
    let mut running = Running(child.map_err(|error| failed(error.to_string()))?);
    let output = running.0.stdout.take().expect("it is piped");
    let output = File::from(OwnedFd::from(output));
    let members = TarMembers::of_file(PathBuf::from(text), output, directory, progress);
    // A program that fails writes half an archive, or nothing: what it says is the reason.
    if members.is_err() {
        let _ = running.0.kill();
    }
    let status = running
        .0
        .wait()
        .map_err(|error| failed(error.to_string()))?;
    if status.code().is_some_and(|code| code != 0) {
        return Err(failed(format!("{status}: {}", last_words(said))));
    }
    Ok(Archive::new(members?, text.to_owned()))
}

/// The end of what a program has said.
fn last_words(mut said: File) -> String {
    let mut words = Vec::new();
    let len = said.metadata().map_or(0, |metadata| metadata.len());
    let from = len.saturating_sub(SAID_MAX_BYTES);
    if said.seek(SeekFrom::Start(from)).is_ok() {
        let _ = said.take(SAID_MAX_BYTES).read_to_end(&mut words);
    }
    String::from_utf8_lossy(&words).trim().replace('\n', "; ")
}
