//! A file whose image is being replaced: recorded, built, proven.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_bench::{Contestant, Scenario};
use coldpress_history::{Kind, Study};
use coldpress_host::{Command, Device, Janitor, Readahead, Scratch};
use coldpress_layout::Plan;
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped_path, printable, quoted};
use coldpress_retrofit::{Account, Container, Original, STANDING, probe, sign, stand};
use coldpress_session::ui::Ui;
use coldpress_session::work_dir::WorkDir;
use coldpress_writer::{MetadataLayout, Output, Source};

use crate::recording::{Recorder, Stage};
use crate::resolve::ImageSettings;
use crate::start::Start;
use crate::verbs::record;
use crate::verbs::retrofit::args::RetrofitArgs;
use crate::{steps, study};

/// A file whose image is being replaced.
pub(super) struct Job<'a> {
    pub(super) args: &'a RetrofitArgs,
    pub(super) original: Original,
    /// `None` of a container if none was given.
    pub(super) command: Option<Command>,
    pub(super) work_dir: WorkDir<'a>,
    pub(super) scratch: Scratch,
    pub(super) janitor: &'a Janitor,
    pub(super) ui: &'a Ui,
}

impl Job<'_> {
    /// A start of the old image.
    pub(super) fn record(
        &self,
        recorder: &Recorder,
        source: &Source,
        settings: &ImageSettings,
    ) -> anyhow::Result<Option<Start>> {
        let Some(command) = &self.command else {
            return Ok(None);
        };
        let stage = Stage {
            source,
            name: &self.args.input,
            command,
            limit: None,
            readahead: Readahead::Disk,
            settings,
            work_dir: &self.work_dir,
            janitor: self.janitor,
            ui: self.ui,
        };
        Ok(Some(Start::Trace(record::told(recorder, &stage)?)))
    }

    /// The new file, compared with the old one in all that was to stay.
    pub(super) fn build(
        &self,
        settings: &mut ImageSettings,
        source: &Source,
        (plan, start): (&Plan, Option<&Start>),
        output: &Output,
    ) -> anyhow::Result<Account> {
        let Self { original, ui, .. } = self;
        settings.offset_bytes = original.start;
        settings.is_padded = original.container.is_padded();
        let options = settings.build_options(&source.tree, MetadataLayout::Dense);
        let other = settings.compression.map(|it| it.compressor);
        let other = other.filter(|it| *it != original.compressor);
        if let (Some(other), Container::AppImage(_)) = (other, &original.container) {
            let mut stop = || ui.interrupt.is_pending();
            let said = probe(original, &options, self.scratch.path(), &mut stop);
            if let Some(said) = said.context("cannot ask the AppImage what it reads")? {
                let said = printable(said.trim_ascii());
                let error = anyhow!("the AppImage's program reads no images of {other}: {said}");
                let advice = "without --compressor the image keeps the one it has";
                return Err(hint(error, advice));
            }
        }
        let order = steps::order(source, plan, settings, ui);
        let built = steps::write("pressing", source, &order, output, &options, ui)?;
        steps::verify(output, source, &built, original.start, ui)?;
        let (mut bytes, takes_place) = (built.image_bytes, self.args.in_place);
        if let Some((limit, start)) = self.args.start_pack.start_pack.zip(start) {
            let set = start.working_set();
            let pack = steps::add_start_pack(output, &set, limit, settings, ui)?;
            ui.say(&steps::start_pack_line(
                &escaped_path(self.args.target()),
                &pack,
            ));
            bytes = output.file().metadata()?.len() - original.start;
        }
        let mut stop = || ui.interrupt.is_pending();
        let directory = self.scratch.path();
        let completed = original.complete(output.file(), bytes, takes_place, directory, &mut stop);
        let completed = completed.and_then(|mut account| {
            if let (Some(key), Container::AppImage(app)) = (&self.args.sign, &original.container) {
                sign(app, output.file(), key, directory, &mut stop)?;
                account.recomputed.push(format!("signature, by {key}"));
                account.is_signed = true;
            }
            Ok(account)
        });
        completed.with_context(|| format!("cannot complete {}", quoted(output.path())))
    }

    /// Makes what is measured.
    pub(super) fn stand(&self, file: &Path, name: &str) -> anyhow::Result<()> {
        let to = self.scratch.path().join(name);
        let mut stop = || self.ui.interrupt.is_pending();
        stand(&self.original.container, file, &to, &mut stop)
            .context("cannot prepare the comparison")
    }

    /// Measures starts of both files in turn: AppImages by their own program.
    pub(super) fn prove(&self, mut command: Command, device: Device) -> anyhow::Result<Study> {
        let contestants = ["before", "after"]
            .map(|name| Contestant::image(name, &self.scratch.path().join(name)));
        if let Container::AppImage(_) = self.original.container {
            command.args = vec![format!("{{root}}/{STANDING}").into()];
            command.args.extend(self.args.command.command.clone());
        }
        let scenario = Scenario {
            kind: Kind::Press,
            title: format!("coldpress retrofit {}", self.args.input.display()),
            command,
            device,
            runs: self.args.runs.number.get(),
            seed: study::seed(),
            walk: false,
        };
        let directory = self.work_dir.path();
        study::measure(&scenario, &contestants, directory, self.janitor, self.ui)
            .map_err(|error| hint(error, "the new file is in place; only the proof is missing"))
    }
}
