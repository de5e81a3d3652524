//! The image to build for a start: samples, predictions, and the choice between them.

use anyhow::{Context as _, anyhow};
use coldpress_calibration::Population;
use coldpress_format::{BlockSize, Compressor};
use coldpress_host::{Readahead, on_processor_s};
use coldpress_layout::{Plan, Tails};
use coldpress_report::failure::hint;
use coldpress_report::text::plural;
use coldpress_report::units::{bytes, seconds};
use coldpress_session::ui::Ui;
use coldpress_tune::{
    Budget, Candidate, Device, Devices, FieldOptions, Goal, Limits, Outcome, Rivals, Row, Sampled,
    Search, Unmet, defaults_today, field, front, recommend,
};
use coldpress_writer::{MetadataLayout, Source};

use crate::losses;
use crate::resolve::ImageSettings;
use crate::start::{Start, code};
use crate::steps::{self, advance};

/// Better known, what was chosen may be beaten by another, of which more is to be known then.
const REFINED_MAX: usize = 2;

/// What is asked.
pub(crate) struct Question<'a> {
    pub(crate) source: &'a Source,
    /// How images are written, but for what is chosen.
    pub(crate) settings: &'a ImageSettings,
    /// The start that is to be fast; `None` is reading everything.
    pub(crate) start: Option<&'a Start>,
    /// What the program takes when it waits for nothing, in s; `None` is what the recording tells
    /// of it.
    pub(crate) warm_s: Option<f64>,
    /// Where the image will be read.
    pub(crate) population: &'a Population,
    /// The readaheads of the mount to choose from, at least one.
    pub(crate) readaheads: &'a [Readahead],
    pub(crate) field: &'a FieldOptions,
    pub(crate) limits: &'a Limits,
    pub(crate) goal: Goal,
    /// What may be spent on blocks that are stored, if [`FieldOptions::has_budget`].
    pub(crate) budget: Budget,
}

/// What there is to choose from, and the choice.
#[derive(Debug)]
pub(crate) struct Tuned {
    /// The candidates, and behind them the defaults of tools.
    pub(crate) rows: Vec<Row>,
    /// For each whether no other beats it; the defaults of tools are beside it.
    pub(crate) is_front: Vec<bool>,
    /// The place of the one to build.
    pub(crate) chosen: usize,
    pub(crate) rivals: Rivals,
    /// Its plan.
    pub(crate) plan: Plan,
}

impl Tuned {
    /// The one to build.
    pub(crate) fn chosen(&self) -> Option<&Row> {
        self.rows.get(self.chosen)
    }

    /// The readahead that it is to have, of those to choose from.
    pub(crate) fn readahead(&self, readaheads: &[Readahead]) -> Option<Readahead> {
        let needs_no_setting = |it: &Readahead| !matches!(it, Readahead::Kib(_));
        let unset = readaheads.iter().rposition(needs_no_setting);
        let place = self.chosen()?.outcome.advised_readahead(unset);
        readaheads.get(place).copied()
    }
}

/// Among what the image of a start is chosen.
pub(crate) struct Among<'a> {
    /// Where it will be read.
    pub(crate) population: &'a Population,
    /// None are all.
    pub(crate) compressors: Vec<Option<Compressor>>,
    pub(crate) goal: Goal,
    /// At least one.
    pub(crate) readaheads: &'a [Readahead],
}

impl<'a> Among<'a> {
    /// With the readahead as it is.
    ///
    /// * `compressors`: none are all.
    pub(crate) fn of(population: &'a Population, compressors: Vec<Option<Compressor>>) -> Self {
        Self {
            population,
            compressors,
            goal: Goal::ExpectedStart,
            readaheads: &[Readahead::Disk],
        }
    }
}

/// What was chosen, beside the settings of the image.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// What each device loses by it, if there are several, as facts of a report.
    pub(crate) losses: Vec<(String, String)>,
    /// The readahead that the mount is to have.
    pub(crate) readahead: Readahead,
}

/// Chooses how the image of a start is written, and says so.
///
/// # Errors
///
/// As [`Question::answer`].
pub(crate) fn take_best(
    settings: &mut ImageSettings,
    source: &mut Source,
    start: Option<&Start>,
    among: Among,
    ui: &Ui,
) -> anyhow::Result<Taken> {
    let Among {
        population,
        compressors,
        goal,
        readaheads,
    } = among;
    let tuned = Question {
        source,
        settings,
        start,
        warm_s: None,
        population,
        readaheads,
        field: &FieldOptions {
            compressors,
            has_plan: true,
            group: settings.group,
            ..FieldOptions::default()
        },
        limits: &Limits::default(),
        goal,
        budget: Budget::Bytes(0),
    }
    .answer(ui)?;
    let readahead = tuned.readahead(readaheads).unwrap_or_default();
    if let Some(chosen) = tuned.chosen() {
        let with = match readahead {
            Readahead::Disk => String::new(),
            other => format!(" with `--readahead {other}`"),
        };
        ui.say(&format!(
            "tuned: {}, predicted to start in {}{with}",
            chosen.candidate,
            seconds(chosen.outcome.start_s)
        ));
        settings.take_over(&chosen.candidate);
    }
    let (rows, limits) = (&tuned.rows, Limits::default());
    let losses = losses::losses(rows, tuned.chosen, population, &limits);
    let notes = losses::notes(&losses);
    for (name, text) in &notes {
        ui.say(&format!("{name}: {text}"));
    }
    // Which tail ends there are, and which are the same, depends on the block size.
    if settings.tails == Tails::All {
        steps::compare(source, settings, ui)?;
    }
    steps::sketch(source, settings, ui)?;
    Ok(Taken {
        losses: notes,
        readahead,
    })
}

impl Question<'_> {
    /// Samples, predicts and chooses.
    ///
    /// # Errors
    ///
    /// If the source cannot be read, no candidate keeps the limits, or the user interrupts.
    pub(crate) fn answer(&self, ui: &Ui) -> anyhow::Result<Tuned> {
        let Self {
            source,
            start,
            population,
            ..
        } = self;
        let target = population.main();
        let options = self
            .settings
            .build_options(&source.tree, MetadataLayout::Dense);
        let plan = |block_size: BlockSize| match start {
            Some(start) => start.plan(source, block_size),
            None => Plan::default(),
        };
        let program_s = || start.and_then(|start| start.program_s(source, target));
        let compute_s = self.warm_s.or_else(program_s).unwrap_or(0.0);
        let sequence = start.map(|start| start.sequence(compute_s));
        let code = sequence.as_ref().map(|sequence| code(source, sequence));
        let search = Search {
            source,
            options: &options,
            plan: &plan,
            sequence: sequence.as_ref(),
            code: code.as_deref().unwrap_or_default(),
            readaheads: &self.devices(),
            budget: self.budget,
        };
        let (tools, candidates) = self.candidates();
        let mut sampled = sample(&search, &candidates, ui)?;
        let all: Vec<usize> = (0..candidates.len()).collect();
        let mut outcomes = predict(&search, &candidates, &sampled, &all, ui)?;
        let mut refined = Vec::new();
        let (rows, chosen) = loop {
            let rows = rows(&candidates, &tools, &outcomes);
            let chosen = recommend(&rows, self.limits, self.goal).map_err(unmet)?;
            if refined.contains(&chosen) || refined.len() == REFINED_MAX {
                break (rows, chosen);
            }
            refined.push(chosen);
            let told = refine(&search, &mut sampled, chosen, ui)?;
            let again = predict(&search, &candidates, &sampled, &told, ui)?;
            for (place, outcome) in told.into_iter().zip(again) {
                outcomes[place] = outcome;
            }
        };
        let proposed: Vec<Outcome> = rows
            .iter()
            .filter(|row| row.tool.is_none())
            .map(|row| row.outcome.clone())
            .collect();
        let mut is_front = front(&proposed);
        is_front.resize(rows.len(), false);
        leave_out_unspent(&rows, &mut is_front);
        let plan = rows
            .get(chosen)
            .map(|row| search.plan_with_encoding(&row.candidate, chosen, &sampled));
        Ok(Tuned {
            is_front,
            rivals: Rivals::of(chosen, &rows, self.limits, self.goal),
            plan: plan.unwrap_or_default(),
            chosen,
            rows,
        })
    }

    /// For each readahead what the devices are like.
    fn devices(&self) -> Vec<Devices> {
        let members = &self.population.members;
        let with = |readahead: &Readahead| {
            let devices = members.iter().map(|(target, share)| Device {
                medium: target.clone().with_readahead(*readahead).medium,
                machine: target.machine.clone(),
                reader: target.kernel,
                share: *share,
            });
            devices.collect()
        };
        self.readaheads.iter().map(with).collect()
    }

    /// What is tried, and behind it what tools build today, with their names.
    fn candidates(&self) -> (Vec<&'static str>, Vec<Candidate>) {
        let today = defaults_today(self.start.is_some());
        let mut candidates = field(self.field);
        candidates.extend(today.iter().map(|today| today.candidate));
        (today.iter().map(|today| today.tool).collect(), candidates)
    }
}

/// Leaves out candidates that found nothing to store: they are those that stand before them.
fn leave_out_unspent(rows: &[Row], is_front: &mut [bool]) {
    for (pair, is_front) in rows.windows(2).zip(is_front.iter_mut().skip(1)) {
        if let [before, row] = pair
            && row.candidate.spends
            && row.outcome == before.outcome
        {
            *is_front = false;
        }
    }
}

/// Compresses samples.
fn sample(search: &Search, candidates: &[Candidate], ui: &Ui) -> anyhow::Result<Sampled> {
    let count = plural(candidates.len() as u64, "image", "images");
    let mut step = ui.step("sampling", 0).about(&format!("for {count}"));
    let report = &mut |progress| advance(&mut step, progress, ui);
    let sampled = search.sample(candidates, &on_processor_s, report);
    let sampled = sampled.context("cannot sample the source")?;
    step.finish("");
    Ok(sampled)
}

/// Compresses more samples for the size of the one that is chosen; the places of those of which
/// they tell more.
fn refine(
    search: &Search,
    sampled: &mut Sampled,
    chosen: usize,
    ui: &Ui,
) -> anyhow::Result<Vec<usize>> {
    let mut step = ui.step("refining", 0).about("the size of the best");
    let report = &mut |progress| advance(&mut step, progress, ui);
    let told = search.refine(sampled, chosen, &on_processor_s, report);
    let told = told.context("cannot sample the source")?;
    step.finish("");
    Ok(told)
}

/// What candidates would give, by their places.
fn predict(
    search: &Search,
    candidates: &[Candidate],
    sampled: &Sampled,
    wanted: &[usize],
    ui: &Ui,
) -> anyhow::Result<Vec<Outcome>> {
    let bar = ui
        .count("predicting", wanted.len() as u64)
        .about("a start from each");
    let mut done = 0;
    let outcomes = search.predict(candidates, sampled, wanted, &mut || {
        bar.set(done);
        done += 1;
        ui.interrupt.poll()
    })?;
    bar.finish("");
    Ok(outcomes)
}

/// Candidates with their outcomes; the last are the defaults of tools.
fn rows(candidates: &[Candidate], tools: &[&'static str], outcomes: &[Outcome]) -> Vec<Row> {
    let proposed = candidates.len().saturating_sub(tools.len());
    let names = std::iter::repeat_n(None, proposed).chain(tools.iter().copied().map(Some));
    let rows = candidates.iter().zip(outcomes).zip(names);
    rows.map(|((candidate, outcome), tool)| Row {
        tool,
        candidate: *candidate,
        outcome: outcome.clone(),
    })
    .collect()
}

fn unmet(unmet: Unmet) -> anyhow::Error {
    let (least, advice) = match unmet {
        Unmet::Nothing => return anyhow!("there is no image to choose from"),
        Unmet::Size(least) => (
            format!("the smallest has {}", bytes(least)),
            "raise --max-size",
        ),
        Unmet::Build(least_s) => (
            format!("the quickest build takes {}", seconds(least_s)),
            "raise --build-time, or use more --threads",
        ),
        Unmet::Memory(least) => (
            format!("building takes {} at least", bytes(least)),
            "raise --build-memory, or build with fewer --threads",
        ),
        Unmet::PageCache(least) => (
            format!("a start leaves {} at least", bytes(least)),
            "raise --page-cache, or try smaller --block-sizes",
        ),
        Unmet::Together => (
            "each limit can be kept, but not all of them together".to_owned(),
            "loosen one of them, or try more with --thorough",
        ),
    };
    hint(anyhow!("no image keeps the limits: {least}"), advice)
}

#[cfg(test)]
mod tests {
    use coldpress_report::failure::{hint_of, sentence};

    use super::*;

    #[test]
    fn limits_that_none_keeps_are_told_with_the_least() {
        for (found, expected) in [
            (Unmet::Nothing, "there is no image to choose from"),
            (
                Unmet::Size(1 << 20),
                "no image keeps the limits: the smallest has 1.00 MiB",
            ),
            (
                Unmet::Build(90.0),
                "no image keeps the limits: the quickest build takes 90.0 s",
            ),
        ] {
            let error = unmet(found);
            assert_eq!(sentence(&error), expected);
            assert_eq!(hint_of(&error).is_some(), found != Unmet::Nothing);
        }
    }
}
