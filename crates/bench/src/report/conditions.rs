//! What the figures rest on: runs that do not count, outliers, facts, method.

use coldpress_history::{Kind, Run};
use coldpress_report::units::count;

use super::answers::subjects;
use super::file_sizes::FileSizes;
use super::page::Page;
use super::view::View;
use crate::figure;
use crate::stats::{RESAMPLES, TURNS_FOR_VERDICT};

/// More are counted; they are all in the table of samples.
const NAMED_MAX: usize = 100;

/// The runs that do not count, and those that do and lie far from the others.
pub(super) fn excluded(page: &mut Page, view: &View) {
    let study = view.study;
    if study.runs.is_empty() || view.is_published() {
        return;
    }
    page.element("h3", "", "Excluded runs and outliers");
    let excluded = study.runs.iter().filter_map(|run| {
        let reason = run.excluded.as_ref()?;
        Some(format!("{}: {reason}.", named(view, run)))
    });
    let excluded: Vec<String> = excluded.collect();
    if excluded.is_empty() {
        let text = format!("No run is excluded: all {} runs count.", study.runs.len());
        page.element("p", "", &text);
    }
    list(page, &excluded);
    list(page, &outliers(view));
}

/// `Turn 3, plain (cold start 1.2 s)`.
fn named(view: &View, run: &Run) -> String {
    let figures = subjects(view.study.kind).iter();
    let measured: Vec<String> = figures
        .filter_map(|(name, _)| {
            let value = run.figures.get(*name)?;
            Some(format!(
                "{} {}",
                figure::title(name),
                figure::formatted(name, *value)
            ))
        })
        .collect();
    let measured = match measured.as_slice() {
        [] => String::new(),
        some => format!(" ({})", some.join(", ")),
    };
    let turn = run.turn.saturating_add(1);
    format!("Turn {turn}, {}{measured}", view.name(run.contestant))
}

fn outliers(view: &View) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, findings) in &view.figures {
        for (index, finding) in findings.iter().enumerate() {
            for sample in finding.samples.iter().filter(|sample| sample.is_outlier) {
                lines.push(format!(
                    "Turn {}, {}: {} {} is an outlier, more than three interquartile ranges from \
                    the middle half; it counts.",
                    sample.turn.saturating_add(1),
                    view.name(index),
                    figure::title(name),
                    figure::formatted(name, sample.value)
                ));
            }
        }
    }
    lines
}

fn list(page: &mut Page, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    page.push("<ul>\n");
    for line in lines.iter().take(NAMED_MAX) {
        page.element("li", "", line);
    }
    if let Some(more) = lines.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
        page.element("li", "", &format!("{more} more: see the samples."));
    }
    page.push("</ul>\n");
}

/// Everything that changes results.
pub(super) fn facts(page: &mut Page, view: &View) {
    let facts = view.study.facts.iter();
    let mut rows = facts
        .filter(|(name, _)| *name != FileSizes::FACT)
        .map(|(name, value)| vec![name.replace('_', " ").into(), value.as_str().into()])
        .peekable();
    if rows.peek().is_none() {
        return;
    }
    page.element("h3", "", "Conditions");
    page.push("<div class=\"facts\">");
    page.table(&[], rows);
    page.push("</div>");
}

/// Facts beside the measurement.
pub(super) fn notes(page: &mut Page, notes: &[(String, String)]) {
    if notes.is_empty() {
        return;
    }
    page.section("facts", "Facts");
    let rows = notes
        .iter()
        .map(|(name, value)| vec![name.as_str().into(), value.as_str().into()]);
    page.push("<div class=\"facts\">");
    page.table(&[], rows);
    page.push("</div>");
}

/// How the figures are computed.
pub(super) fn method(page: &mut Page, views: &[View]) {
    page.section("method", "Method");
    let is_launch = |view: &&View| matches!(view.study.kind, Kind::Launch | Kind::Press);
    let is_ours = |view: &&View| !view.is_published();
    if views.iter().filter(is_ours).any(|view| is_launch(&view)) {
        page.element("p", "", LAUNCHES);
    }
    let text = format!(
        "Intervals come from {} resamples (expanded percentile bootstrap, fixed seed); for ratios \
        whole turns are drawn, \
        since all runs of a turn met the same disturbances. \"Faster\" and \"slower\" need an \
        interval wholly on \
        one side of 1 and at least {TURNS_FOR_VERDICT} turns. Outliers are named and kept; runs \
        that do not count are named \
         with their reason. Figures of others are shown as they were published, without a verdict.",
        count(RESAMPLES as u64)
    );
    page.element("p", "", &text);
}

const LAUNCHES: &str = "Contestants start in turn, in changing order. Before each run the caches \
are dropped and the image is mounted \
anew; mounting is not part of the time, and what the command uses outside \
the image is cold too. The warm \
start follows in the same mount. Reads and bytes are those of the loop \
device.";
