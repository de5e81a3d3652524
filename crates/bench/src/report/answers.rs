//! The answer, in sentences with verdicts.

use coldpress_history::Kind;
use coldpress_report::units::seconds;

use super::page::Page;
use super::view::{Finding, View};
use crate::stats::Verdict;
use crate::text::{COLD_START, Deed, answer, interval_of_seconds, plural};

/// More contestants than these are counted by verdict, and their sentences are folded.
const SENTENCES_MAX: usize = 8;

const BOOT: Deed = Deed {
    verb: "boots",
    noun: "boots",
    infinitive: "boot",
};
const BUILD: Deed = Deed {
    verb: "is built",
    noun: "builds",
    infinitive: "build",
};
const UNPACK: Deed = Deed {
    verb: "is unpacked",
    noun: "unpacking",
    infinitive: "unpack",
};

/// What a study is about: the figures that its answers tell of.
pub(super) fn subjects(kind: Kind) -> &'static [(&'static str, Deed)] {
    match kind {
        Kind::Launch | Kind::Press => &[("cold_s", COLD_START)],
        Kind::Build => &[("build_s", BUILD), ("unpack_s", UNPACK)],
        Kind::Boot => &[("boot_s", BOOT)],
    }
}

/// Writes the answers; nothing for published figures, which allow no verdict.
pub(super) fn write(page: &mut Page, view: &View) {
    if view.is_published() {
        return;
    }
    for (figure, deed) in subjects(view.study.kind) {
        let findings = view.figure(figure);
        // Of a study of building, only contestants that build are asked for their building.
        let ran: Vec<usize> = (0..findings.len())
            .filter(|index| is_part(view, figure, *index))
            .collect();
        match ran.as_slice() {
            [] => {}
            [only] => alone(page, view, deed, (*only, findings)),
            [baseline, others @ ..] => versus(page, view, deed, findings, (*baseline, others)),
        }
    }
}

/// Whether a contestant has runs that measure the figure, or only runs that do not count.
fn is_part(view: &View, figure: &str, contestant: usize) -> bool {
    let median = view
        .figure(figure)
        .get(contestant)
        .and_then(|one| one.median);
    let has_counted = view.study.counted(contestant).next().is_some();
    median.is_some() || !has_counted
}

fn alone(page: &mut Page, view: &View, deed: &Deed, (index, findings): (usize, &[Finding])) {
    let name = view.name(index);
    let sentence = match findings.get(index).and_then(|one| one.summary.as_ref()) {
        Some(summary) => format!(
            "{name} {} in {} ({}).",
            deed.verb,
            seconds(summary.median),
            interval_of_seconds(&summary.interval)
        ),
        None => format!("{name}: no run counts."),
    };
    page.element("p", "answer", &sentence);
}

fn versus(
    page: &mut Page,
    view: &View,
    deed: &Deed,
    findings: &[Finding],
    (baseline, others): (usize, &[usize]),
) {
    let median = |index: usize| findings.get(index).and_then(|one| one.median);
    let ratio = |index: usize| findings.get(index).and_then(|one| one.ratio);
    let before = (view.name(baseline), median(baseline));
    let is_folded = others.len() > SENTENCES_MAX;
    if is_folded {
        let verdicts: Vec<_> = others
            .iter()
            .map(|index| ratio(*index).map(|found| found.verdict))
            .collect();
        let counted = |verdict| {
            verdicts
                .iter()
                .filter(|found| **found == Some(verdict))
                .count()
        };
        let text = format!(
            "{} of {}: {} faster and {} slower than {}, of {} no difference is shown.",
            plural(others.len(), "other contestant", "other contestants"),
            deed.noun,
            counted(Verdict::Faster),
            counted(Verdict::Slower),
            before.0,
            others.len() - counted(Verdict::Faster) - counted(Verdict::Slower),
        );
        page.element("p", "answer", &text);
        page.push("<details><summary>Each of them</summary>\n");
    }
    for index in others {
        let class = match ratio(*index).map(|found| found.verdict) {
            Some(Verdict::Faster) => "answer faster",
            Some(Verdict::Slower) => "answer slower",
            _ => "answer",
        };
        let other = (view.name(*index), median(*index));
        page.element("p", class, &answer(deed, before, other, ratio(*index)));
    }
    if is_folded {
        page.push("</details>\n");
    }
}
