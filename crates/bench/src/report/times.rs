//! Charts of single figures: box plots of what has a spread, bars of the rest.

use std::io;

use coldpress_report::units::change;

use super::charts::{Bar, DOTS_MAX, Lane, bars, boxes};
use super::page::Page;
use super::view::{Finding, View};
use crate::figure;

/// Times, and the headings of their charts.
const TIMES: [(&str, &str); 6] = [
    ("cold_s", "Cold starts"),
    ("warm_s", "Warm starts"),
    ("walk_s", "Reads of the whole tree"),
    ("boot_s", "Boots"),
    ("build_s", "Builds"),
    ("unpack_s", "Unpacking"),
];

/// Amounts, and the headings of their charts.
const AMOUNTS: [(&str, &str); 7] = [
    ("size_bytes", "Image size"),
    ("size_percent", "Image size, of the content"),
    ("reads", "Reads"),
    ("read_bytes", "Bytes read"),
    ("page_cache_bytes", "Page cache after both starts"),
    ("used_cores", "Cores used"),
    ("peak_memory_bytes", "Peak memory"),
];

/// Writes a chart for each figure that the study has.
pub(super) fn write(page: &mut Page, view: &View) -> io::Result<()> {
    let has_runs = |name: &str| view.figures.iter().any(|(known, _)| known == name);
    let spread: Vec<_> = TIMES
        .iter()
        .filter(|(name, _)| view.has_spread(name))
        .collect();
    for (name, title) in &spread {
        let lanes: Vec<Lane> = lanes(view, name).collect();
        page.chart(title, &boxes(title, name, &lanes)?);
    }
    if !spread.is_empty() {
        page.element("p", "hint", HINT);
        let dots: usize = spread
            .iter()
            .map(|(name, _)| sample_count(view, name))
            .max()
            .unwrap_or(0);
        if dots > DOTS_MAX {
            let text = format!(
                "Of more than {DOTS_MAX} runs in a chart only outliers have a dot; the samples \
                below are complete."
            );
            page.element("p", "hint", &text);
        }
    }
    let single = TIMES.iter().filter(|(name, _)| !view.has_spread(name));
    let amounts: Vec<_> = single
        .chain(&AMOUNTS)
        .filter(|(name, _)| has_runs(name))
        .collect();
    if amounts.is_empty() {
        return Ok(());
    }
    page.push("<div class=\"charts\">\n");
    for (name, title) in amounts {
        page.chart(title, &bars(title, name, &values(view, name))?);
    }
    page.push("</div>\n");
    Ok(())
}

const HINT: &str = "A box holds the middle half of the runs, its line is the median, its whiskers \
reach to the \
                    fastest and the slowest run. Each dot is a run.";

/// Contestants that take part: without any run of the figure they have no lane, unless none of
/// their runs counts.
fn takes_part(view: &View, contestant: usize, finding: &Finding) -> bool {
    finding.median.is_some() || view.study.counted(contestant).next().is_none()
}

fn lanes<'v>(view: &'v View, name: &str) -> impl Iterator<Item = Lane> + use<'v> {
    let findings = view.figure(name).iter().enumerate();
    findings
        .filter(|(index, finding)| takes_part(view, *index, finding))
        .map(|(index, finding)| Lane {
            name: view.name(index).to_owned(),
            series: index,
            summary: finding.summary,
            samples: finding.samples.clone(),
        })
}

fn sample_count(view: &View, name: &str) -> usize {
    view.figure(name).iter().map(|one| one.samples.len()).sum()
}

/// The median of each contestant, and how much it differs from that of the baseline.
fn values(view: &View, name: &str) -> Vec<Bar> {
    let findings = view.figure(name).iter().enumerate();
    findings
        .filter(|(index, finding)| takes_part(view, *index, finding))
        .map(|(index, finding)| {
            let value = finding.median.map(|median| figure::formatted(name, median));
            let change = finding.share.map(|share| format!(" ({})", change(share)));
            Bar {
                name: view.name(index).to_owned(),
                series: index,
                value: finding.median,
                text: format!(
                    "{}{}",
                    value.unwrap_or_default(),
                    change.unwrap_or_default()
                ),
            }
        })
        .collect()
}
