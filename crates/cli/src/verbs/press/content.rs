//! What the image is made of: the source, the start that orders it, and the plan of that.

use coldpress_host::Readahead;
use coldpress_layout::Plan;
use coldpress_trace::{Profile, Trace};
use coldpress_writer::{Input, Output, Source};

use super::Press;
use super::outputs::Outputs;
use super::request::{Ordering, Request};
use crate::recording::{Recorder, Stage};
use crate::start::Start;
use crate::tuning::{Among, take_best};
use crate::verbs::record;
use crate::{containers, inputs, profiles, program, resolve, steps};

/// What an image is made of.
pub(super) struct Content {
    pub(super) source: Source,
    /// The start that orders it; `None` if a plan does.
    pub(super) start: Option<Start>,
}

impl Press<'_> {
    /// What the source consists of. If it is a container image, that says what the command lacks.
    pub(super) fn inputs(&mut self) -> anyhow::Result<Vec<Input>> {
        let Request { args, command, .. } = &mut self.request;
        let (mut inputs, config) = containers::started(&args.source, &args.container, self.ui)?;
        inputs::trust_indexes(&mut inputs);
        program::complete(command, &args.command, config.as_ref())?;
        Ok(inputs)
    }

    /// The source, and a start of it: recorded now, or what of a profile it still has.
    pub(super) fn content(
        &self,
        inputs: &[Input],
        outputs: &mut Outputs,
    ) -> anyhow::Result<Content> {
        let Request { args, settings, .. } = &self.request;
        let source = steps::gather(inputs, settings, self.ui)?;
        resolve::check_tree(&args.source, &source.tree, self.request.is_inside)?;
        let start = match &self.request.ordering {
            Ordering::Plan(_) => None,
            Ordering::Profile(profile) => {
                Some(Start::Profile(profile.fresh(&source, self.ui)?.profile))
            }
            Ordering::Recording(recorder) => {
                Some(Start::Trace(self.record(recorder, &source, outputs)?))
            }
        };
        Ok(Content { source, start })
    }

    /// A start of the source.
    fn record(
        &self,
        recorder: &Recorder,
        source: &Source,
        outputs: &mut Outputs,
    ) -> anyhow::Result<Trace> {
        let Self {
            work_dir,
            janitor,
            ui,
            ..
        } = self;
        let Request {
            args,
            settings,
            command,
            ..
        } = &self.request;
        let stage = Stage {
            source,
            name: &args.source,
            command,
            limit: None,
            readahead: Readahead::Disk,
            settings,
            work_dir,
            janitor,
            ui,
        };
        let trace = record::told(recorder, &stage)?;
        if let Some(output) = outputs.trace.take() {
            record::write_trace(&trace, output)?;
        }
        if let Some(output) = outputs.profile.take() {
            let mut profile = Profile::from(&trace);
            profiles::fill(&mut profile, source, ui)?;
            profiles::write(&profile, output)?;
        }
        Ok(trace)
    }

    /// Takes the settings of the image whose start is predicted to be best, if asked to.
    pub(super) fn tune(&mut self, content: &mut Content) -> anyhow::Result<()> {
        let Request {
            args,
            settings,
            population,
            ..
        } = &mut self.request;
        if args.tune {
            let among = Among {
                goal: args.goal.goal(),
                readaheads: args.readahead.or(&Readahead::CHOICES),
                ..Among::of(population, Vec::new())
            };
            let start = content.start.as_ref();
            self.tuned = take_best(settings, &mut content.source, start, among, self.ui)?;
        }
        Ok(())
    }

    /// The plan of the image, which is also written if asked for.
    pub(super) fn plan(&self, content: &Content, output: Option<Output>) -> anyhow::Result<Plan> {
        let plan = match &self.request.ordering {
            Ordering::Plan(plan) => plan.clone(),
            Ordering::Profile(_) | Ordering::Recording(_) => self.planned(content),
        };
        if let Some(output) = output {
            let mut text = Vec::new();
            plan.write(&mut text)?;
            steps::write_small(output, &text)?;
        }
        Ok(plan)
    }

    /// The plan that a start asks for; an empty one without a start.
    pub(super) fn planned(&self, content: &Content) -> Plan {
        let block_size = self.request.settings.block_size;
        let start = content.start.as_ref();
        start.map_or_else(Plan::default, |start| {
            start.plan(&content.source, block_size)
        })
    }
}
