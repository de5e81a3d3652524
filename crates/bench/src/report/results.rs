//! The table of results: medians, intervals, ratios and verdicts.

use coldpress_history::Contestant;
use coldpress_report::units::{change, ratio};

use super::charts::series;
use super::page::Page;
use super::view::{Finding, View};
use crate::figure;
use crate::stats::Verdict;

/// Figures that stand with the samples only: they explain a run, and are no result.
const LEFT_OUT: [&str; 4] = [
    "mount_reads",
    "mount_read_bytes",
    "resident_pages",
    "block_size_bytes",
];

/// Writes a row for each contestant and a column for each figure.
pub(super) fn write(page: &mut Page, view: &View) {
    let shown: Vec<&(String, Vec<Finding>)> = view
        .figures
        .iter()
        .filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()) && view.has(name))
        .collect();
    page.element("h3", "", "Results");
    page.push("<div class=\"wide results\"><table><thead><tr><th scope=\"col\">contestant</th>");
    for (name, _) in &shown {
        page.push("<th scope=\"col\">");
        page.text(&figure::title(name));
        page.push("</th>");
    }
    page.push("</tr></thead><tbody>\n");
    for (index, contestant) in view.study.contestants.iter().enumerate() {
        page.push("<tr>");
        heading(page, view, (index, contestant));
        for (name, findings) in &shown {
            page.push("<td>");
            if let Some(finding) = findings.get(index) {
                cell(page, name, finding);
            }
            page.push("</td>");
        }
        page.push("</tr>\n");
    }
    page.push("</tbody></table></div>\n");
    hint(page, view);
}

fn heading(page: &mut Page, view: &View, (index, contestant): (usize, &Contestant)) {
    let color = series(index);
    page.push(&format!(
        "<th scope=\"row\"><i style=\"background:var({color})\"></i>"
    ));
    page.text(&contestant.name);
    let facts: Vec<String> = contestant
        .facts
        .iter()
        .map(|(name, value)| format!("{} {value}", name.replace('_', " ")))
        .collect();
    if !facts.is_empty() {
        page.element("small", "", &facts.join(", "));
    }
    let counted = view.study.counted(index).count();
    let all = view
        .study
        .runs
        .iter()
        .filter(|run| run.contestant == index)
        .count();
    if !view.is_published() && all > 0 {
        let excluded = match all - counted {
            0 => String::new(),
            excluded => format!(", {excluded} excluded"),
        };
        let runs = if counted == 1 { "run" } else { "runs" };
        page.element("small", "", &format!("{counted} {runs}{excluded}"));
    }
    page.push("</th>");
}

fn cell(page: &mut Page, name: &str, finding: &Finding) {
    let Some(median) = finding.median else {
        page.text("-");
        return;
    };
    page.text(&figure::formatted(name, median));
    let span = |low: f64, high: f64, written: &dyn Fn(f64) -> String| {
        format!("{} to {}", written(low), written(high))
    };
    if let Some(summary) = finding.summary.as_ref().filter(|summary| summary.count > 1) {
        let interval = summary.interval;
        let value = |value| figure::formatted(name, value);
        page.element("small", "", &span(interval.low, interval.high, &value));
    }
    match (finding.ratio, finding.share) {
        (Some(found), _) => {
            let interval = span(found.interval.low, found.interval.high, &ratio);
            page.element(
                "small",
                "",
                &format!("ratio {} ({interval})", ratio(found.value)),
            );
            let class = match found.verdict {
                Verdict::Faster => "good",
                Verdict::Slower => "bad",
                Verdict::NoDifferenceShown => "",
            };
            page.element("small", class, &found.verdict.to_string());
        }
        (None, Some(share)) => page.element("small", "", &change(share)),
        (None, None) => {}
    }
}

fn hint(page: &mut Page, view: &View) {
    let mut sentences = Vec::new();
    if view.figures.iter().any(|(name, _)| view.has_spread(name)) {
        sentences.push("Times are medians with their 95 % intervals.".to_owned());
    }
    let contestants = &view.study.contestants;
    if contestants.len() > 1 {
        let names_one = |one: &Contestant| one.facts.contains_key("baseline");
        let baseline = if contestants.iter().any(names_one) {
            "the baseline that each contestant names"
        } else {
            view.name(0)
        };
        sentences.push(format!(
            "Ratios and changes are those to {baseline}, or where it lacks the figure to the first \
            that has it; a ratio below 1 is better."
        ));
    }
    if !sentences.is_empty() {
        page.element("p", "hint", &sentences.join(" "));
    }
}
