//! An archive ordered into a new file, or in its place.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use coldpress_host::LeasedFile;
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;
use coldpress_writer::Output;

use super::{Asked, Opened, Ordered, Uses};
use crate::explained;

/// What is to be done.
#[derive(Debug)]
pub struct Job<'a> {
    /// The archive.
    pub input: &'a Path,
    /// The new one; `None`: it takes the place of the old one, if nobody has that open.
    pub output: Option<&'a Path>,
    /// The path of the archive in the log or trace.
    pub known_as: Option<&'a Path>,
    /// How it is to be written.
    pub asked: Asked,
    /// Whether it is read back and compared; in its place it always is.
    pub verifies: bool,
    /// Where the trace of the same start with the new archive goes.
    pub trace_out: Option<&'a Path>,
}

impl Job<'_> {
    /// Does it.
    ///
    /// # Errors
    ///
    /// If anything cannot be read or written, or is refused; then the old archive is in its place.
    pub fn run(&self, uses: &Uses, ui: &Ui) -> anyhow::Result<Ordered> {
        let held = self.output.is_none().then(|| LeasedFile::take(self.input));
        let held = held.transpose().map_err(explained)?;
        let opened = match &held {
            Some(held) => Opened::of_file(self.input, held.file().try_clone()?)?,
            None => Opened::read(self.input)?,
        };
        let hot = uses.of(&opened, self.known_as, ui)?;
        let _hold = ui.interrupt.hold();
        let output = Output::create(self.output.unwrap_or(self.input))?;
        let trace_out = self.trace_out.map(Output::create).transpose()?;
        let mut ordered = Ordered::write(&opened, &hot, self.asked, output.file(), ui)?;
        let traced = uses.traced(&opened, self.known_as)?;
        let traced = traced
            .as_ref()
            .map(|(trace, path)| (*trace, path.as_slice()));
        ordered.predict(&opened, output.file(), traced, &hot)?;
        if self.verifies || held.is_some() {
            Ordered::verify(&opened, output.file())?;
        }
        if let Some(held) = &held {
            let given = held.give_metadata(output.file(), false);
            given.and_then(|()| held.check_alone()).map_err(explained)?;
        }
        output.commit()?;
        if let Some(output) = trace_out {
            let text = ordered.carried(uses, &opened, self.known_as)?;
            let written = output.file().write_all(&text);
            written.with_context(|| format!("cannot write {}", quoted(output.path())))?;
            output.commit()?;
        }
        Ok(ordered)
    }
}
