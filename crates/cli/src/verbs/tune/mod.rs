//! `coldpress tune`: samples, predictions, the choice, and how to build it.

pub(crate) mod args;
mod build_line;
mod chart;
mod conditions;
mod facts;
mod json;
mod page;
mod readahead;
mod recorded;
mod summary;
mod table;
mod why;

use std::path::{Path, PathBuf};

use coldpress_bench::report_html;
use coldpress_host::Readahead;
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::failure::unless_stdout_closed;
use coldpress_session::ui::Ui;
use coldpress_tune::{Budget, Equivalent, equivalents};
use coldpress_writer::Output;

use crate::containers;
use crate::losses::{Loss, losses};
use crate::resolve::{self, ImageSettings};
use crate::steps;
use crate::tuning::{Question, Tuned};
use crate::verbs::tune::args::TuneArgs;
use build_line::build_line;
use conditions::Conditions;
use recorded::Origin;

/// A choice and what it is about.
struct Advice<'a> {
    args: &'a TuneArgs,
    conditions: &'a Conditions,
    /// Those to choose from, at least one.
    readaheads: &'a [Readahead],
    tuned: &'a Tuned,
}

pub(super) fn run(args: &TuneArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let mut conditions = Conditions::resolve(args, ui)?;
    let sources = std::slice::from_ref(&args.source);
    let settings = ImageSettings::for_tuning(args.threads, &args.source_options, sources)?;
    let (inputs, config) = containers::started(&args.source, &args.container, ui)?;
    check_paths(args)?;
    let origin = Origin::resolve(args, config.as_ref(), ui)?;
    let _hold = ui.interrupt.hold();
    // A wrong place is told before the search.
    let plan_out = args.plan_out.as_deref().map(Output::create).transpose()?;
    let report = args.report.as_deref().map(Output::create).transpose()?;
    let source = steps::gather(&inputs, &settings, ui)?;
    conditions.look_into(&source, ui);
    let start = origin.start(args, &source, &settings, ui)?;
    // Reading everything says nothing of a start, and sets nothing.
    let readaheads = match &start {
        Some(_) => args.readahead.or(&Readahead::CHOICES),
        None => args.readahead.or(&[Readahead::Disk]),
    };
    let question = Question {
        source: &source,
        settings: &settings,
        start: start.as_ref(),
        warm_s: args.warm,
        population: &conditions.population,
        readaheads,
        field: &conditions.field,
        limits: &conditions.limits,
        goal: args.goal.goal(),
        budget: args.size_budget.unwrap_or(Budget::Bytes(0)),
    };
    let tuned = question.answer(ui)?;
    let advice = Advice {
        args,
        conditions: &conditions,
        readaheads,
        tuned: &tuned,
    };
    if let Some(output) = plan_out {
        let mut text = Vec::new();
        tuned.plan.write(&mut text)?;
        steps::write_small(output, &text)?;
    }
    if let Some(output) = report {
        let mut html = Vec::new();
        report_html(&page::report(&advice), &mut html)?;
        steps::write_small(output, &html)?;
    }
    unless_stdout_closed(tell(&advice, ui))?;
    Ok(Exit::partial_if(source.losses().next().is_some()))
}

/// Nothing that is written may replace a part of the source, what is read or another output.
fn check_paths(args: &TuneArgs) -> anyhow::Result<()> {
    let inputs = [
        Some(&args.source),
        args.trace.as_ref(),
        args.profile.as_ref(),
    ];
    let inputs: Vec<PathBuf> = inputs.into_iter().flatten().cloned().collect();
    let outputs = [&args.plan_out, &args.report].into_iter().flatten();
    let outputs: Vec<&Path> = outputs.map(PathBuf::as_path).collect();
    resolve::check_outputs(&outputs, &inputs)
}

fn tell(advice: &Advice, ui: &Ui) -> anyhow::Result<()> {
    if advice.args.json {
        return ui.json(&json::Document::new(advice));
    }
    summary::print(advice, ui)
}

impl Advice<'_> {
    /// What an image does in the time that is predicted, as a verb.
    fn action(&self) -> &'static str {
        if self.args.has_start() {
            "starts"
        } else {
            "is read"
        }
    }

    /// What is to be fast.
    fn start_text(&self) -> String {
        let args = self.args;
        if let Some(path) = &args.trace {
            return format!("the start of the trace {}", quoted(path));
        }
        if let Some(path) = &args.profile {
            return format!("the start of the profile {}", quoted(path));
        }
        match args.command.command.first() {
            Some(program) => format!("a start of {}", quoted(Path::new(program))),
            None => "reading everything, as no start is given".to_owned(),
        }
    }

    /// What each device loses with what was chosen.
    fn losses(&self) -> Vec<Loss> {
        let (tuned, conditions) = (self.tuned, self.conditions);
        let (population, limits) = (&conditions.population, &conditions.limits);
        losses(&tuned.rows, tuned.chosen, population, limits)
    }

    /// How coldpress is told to build what was chosen.
    fn build_line(&self) -> Option<String> {
        let args = self.args;
        let chosen = self.tuned.chosen()?;
        let plan = args.plan_out.as_deref();
        Some(build_line(&chosen.candidate, &args.source, plan))
    }

    /// How others are told.
    fn equivalents(&self) -> Vec<Equivalent> {
        let chosen = self.tuned.chosen();
        chosen.map_or_else(Vec::new, |row| equivalents(&row.candidate))
    }
}
