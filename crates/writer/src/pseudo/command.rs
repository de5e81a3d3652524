//! The commands of `f` and `F`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::definition::Definition;
use crate::content::{Content, StoreId};
use crate::draft::Draft;
use crate::error::{self, Error};

/// What commands have printed: one after the other in a file without a name, for a store each
/// would take a file descriptor each.
#[derive(Debug, Default)]
pub(super) struct Outputs(Option<(File, StoreId)>);

impl Outputs {
    /// Runs a command and keeps what it prints; returns that and its length.
    ///
    /// The command reads the standard input of this process, as under mksquashfs. It writes into a
    /// pipe, not into the file, which it could otherwise shorten.
    ///
    /// # Errors
    ///
    /// [`Error::CommandFailed`] if it does not exit with 0, [`Error::Source`] if it cannot be run
    /// or its output cannot be kept in `scratch`.
    pub(super) fn run(
        &mut self,
        draft: &mut Draft,
        definition: &Definition,
        command: &[u8],
        scratch: &Path,
    ) -> Result<(Content, u64), Error> {
        let keep = |error| error::source("write a temporary file in", scratch)(error);
        let (file, store) = match &mut self.0 {
            Some(outputs) => outputs,
            none => {
                let file = tempfile::tempfile_in(scratch).map_err(keep)?;
                let shared = file.try_clone().map_err(keep)?;
                none.insert((
                    file,
                    draft.keep(Arc::new(shared), "the output of commands".into()),
                ))
            }
        };
        let start_bytes = file.seek(SeekFrom::End(0)).map_err(keep)?;
        let shell = Path::new("/bin/sh");
        let run = |error| error::source("run", shell)(error);
        let mut child = Command::new(shell)
            .arg("-c")
            .arg(OsStr::from_bytes(command))
            .stdout(Stdio::piped())
            .spawn()
            .map_err(run)?;
        let copied = match child.stdout.take() {
            Some(mut printed) => io::copy(&mut printed, file),
            None => Ok(0),
        };
        // Its output is closed by now, so that it ends also if nobody could take the output.
        let status = child.wait().map_err(run)?;
        let len_bytes = copied.map_err(keep)?;
        if !status.success() {
            return Err(Error::CommandFailed {
                place: definition.place.clone(),
                command: command.to_vec(),
                status,
            });
        }
        let content = if len_bytes == 0 {
            Content::Nothing
        } else {
            Content::Stored {
                store: *store,
                offset_bytes: start_bytes,
            }
        };
        Ok((content, len_bytes))
    }
}
