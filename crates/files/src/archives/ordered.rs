//! An archive written in the order of a start.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_archive::{Archive, Layout, Placement, Settings, Storing};
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped_path, plural, quoted};
use coldpress_report::units::{bytes, count};
use coldpress_session::ui::Ui;
use coldpress_trace::Trace;
use serde::Serialize;

use super::expected::{Expected, asked_by_log, asked_by_pages};
use super::{Opened, Uses};

/// Bytes that are written at once.
const WRITE_BYTES: usize = 1 << 20;

/// How an archive is to be written.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Where index and hot entries are; `None`: as fits it.
    pub layout: Option<Layout>,
    /// Which entries are decompressed.
    pub storing: Storing,
    /// To what data that are not compressed are aligned; 0: as they are.
    pub align_bytes: u64,
    /// Whether signed archives are ordered.
    pub takes_signed: bool,
}

/// What was done, for `--json` too.
#[derive(Debug, Serialize)]
pub struct Ordered {
    /// With escapes.
    file: String,
    /// `tail`, `double`, `gecko`; none for asar.
    layout: Option<&'static str>,
    entries: usize,
    hot_entries: usize,
    stored_entries: usize,
    size_bytes_before: u64,
    size_bytes: u64,
    /// Pages of 4 KiB that hold what the start needs.
    hot_pages_before: u64,
    hot_pages: u64,
    /// In how many pieces they lie.
    hot_runs_before: u64,
    hot_runs: u64,
    /// What the start would read.
    predicted: Option<Expected>,
    /// What moved where.
    #[serde(skip)]
    pub placement: Placement,
}

impl Ordered {
    /// Writes the new archive.
    ///
    /// # Errors
    ///
    /// If the old one is damaged or refused, or `new` cannot be written.
    pub fn write(
        opened: &Opened,
        hot: &[usize],
        asked: Asked,
        new: &File,
        ui: &Ui,
    ) -> anyhow::Result<Self> {
        let step = ui.step("ordering", opened.file.metadata()?.len());
        let poll = &mut |done_bytes| {
            step.set(done_bytes);
            ui.interrupt.poll()
        };
        let mut out = BufWriter::with_capacity(WRITE_BYTES, new);
        let failed = |error| opened.failed("order", error);
        let entries = opened.archive.parts().len();
        let mut counts = (None, hot.len(), 0);
        let (placement, size_bytes) = match &opened.archive {
            Archive::Asar(_) if asked.layout.is_some() => {
                let name = quoted(&opened.path);
                return Err(anyhow!(
                    "{name} is an asar archive, which has one layout only"
                ));
            }
            Archive::Asar(asar) => asar
                .write(&opened.file, hot, &mut out, poll)
                .map_err(failed)?,
            Archive::Jimage(_) => {
                let error = anyhow!("{} is the work of jlink", quoted(&opened.path));
                let what = "`coldpress profile export --format jlink-order` writes a list for \
                            `jlink --order-resources`";
                return Err(hint(error, what));
            }
            Archive::Zip(zip) => {
                let settings = Settings {
                    layout: asked.layout.unwrap_or_else(|| zip.fitting_layout()),
                    storing: asked.storing,
                    align_bytes: asked.align_bytes,
                    takes_signed: asked.takes_signed,
                };
                let arranged = zip.arrange(&opened.file, hot, settings).map_err(failed)?;
                let written = zip.write(&opened.file, &arranged, &mut out, poll);
                let size_bytes = written.map_err(failed)?;
                let layout = Some(settings.layout.name());
                counts = (layout, arranged.hot_entries, arranged.stored_entries);
                (arranged.placement(zip, size_bytes), size_bytes)
            }
        };
        out.flush().context("cannot write the new archive")?;
        step.finish("");
        let [before, after] = placement.hot_spread();
        Ok(Self {
            file: escaped_path(&opened.path),
            layout: counts.0,
            entries,
            hot_entries: counts.1,
            stored_entries: counts.2,
            size_bytes_before: opened.file.metadata()?.len(),
            size_bytes,
            hot_pages_before: before.pages,
            hot_pages: after.pages,
            hot_runs_before: before.runs,
            hot_runs: after.runs,
            predicted: None,
            placement,
        })
    }

    /// Predicts what the start would read of both archives.
    ///
    /// * `traced`: the trace of the start, and the path of the archive there; without one, the
    ///   start reads the hot entries one after the other.
    ///
    /// # Errors
    ///
    /// If an archive cannot be read.
    pub fn predict(
        &mut self,
        opened: &Opened,
        new: &File,
        traced: Option<(&Trace, &[u8])>,
        hot: &[usize],
    ) -> anyhow::Result<()> {
        let start = match traced {
            Some((trace, path)) => asked_by_pages(trace, path),
            None => asked_by_log(opened, &self.placement, hot),
        };
        self.predicted = Some(Expected::of(opened, new, &self.placement, &start)?);
        Ok(())
    }

    /// Reads the new archive and compares every content with the old one.
    ///
    /// # Errors
    ///
    /// The first entry that differs.
    pub fn verify(opened: &Opened, new: &File) -> anyhow::Result<()> {
        let again = Opened::of_file(&opened.path, new.try_clone()?);
        let again = again.context("cannot read the new archive back")?;
        let is_same = match (&opened.archive, &again.archive) {
            (Archive::Zip(old), Archive::Zip(read)) => {
                let compared = old.compare(&opened.file, read, new);
                compared.map_err(|error| anyhow!(error)).map(|()| true)
            }
            (Archive::Asar(old), Archive::Asar(read)) => old
                .is_same(&opened.file, read, new)
                .map_err(|error| anyhow!(error)),
            _ => Ok(false),
        };
        if is_same.context("the new archive is not kept")? {
            return Ok(());
        }
        Err(anyhow!(
            "the new archive of {} differs",
            quoted(&opened.path)
        ))
    }

    /// The trace of the start as it would be with the new archive, as text.
    ///
    /// # Errors
    ///
    /// If there is no trace.
    pub fn carried(
        &self,
        uses: &Uses,
        opened: &Opened,
        known_as: Option<&Path>,
    ) -> anyhow::Result<Vec<u8>> {
        let Some((trace, path)) = uses.traced(opened, known_as)? else {
            return Err(anyhow!(
                "a trace is made of a trace only; give it with `--trace`"
            ));
        };
        let mut text = Vec::new();
        self.placement.carry(trace, &path).write(&mut text)?;
        Ok(text)
    }

    /// What is predicted, if it is.
    pub fn prediction(&self) -> Option<String> {
        self.predicted.as_ref().map(Expected::sentence)
    }

    /// `omni.ja: 325 of 2,453 entries, layout tail; the start needs 5 pages in 1 piece, ...`
    pub fn sentence(&self) -> String {
        let layout = self
            .layout
            .map_or(String::new(), |name| format!(", layout {name}"));
        let size = bytes(self.size_bytes);
        let was = if self.size_bytes == self.size_bytes_before {
            String::new()
        } else {
            format!(", was {}", bytes(self.size_bytes_before))
        };
        format!(
            "{}: {} of {}{layout}; the start needs {} in {}, before {} in {}; {size}{was}",
            self.file,
            count(self.hot_entries as u64),
            plural(self.entries as u64, "entry", "entries"),
            plural(self.hot_pages, "page", "pages"),
            plural(self.hot_runs, "piece", "pieces"),
            count(self.hot_pages_before),
            count(self.hot_runs_before),
        )
    }
}
