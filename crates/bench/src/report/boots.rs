//! Boots before and after, in the form of the study of Tails: seconds and percent saved.

use std::borrow::Cow;

use coldpress_history::Kind;
use coldpress_report::units::seconds;

use super::page::Page;
use super::view::{Finding, View};

const COLUMNS: [&str; 7] = [
    "boots",
    "before",
    "after",
    "before, median",
    "after, median",
    "saved",
    "saved, percent",
];

/// Writes a row for each contestant of each boot study, beside its baseline.
pub(super) fn write(page: &mut Page, views: &[View]) {
    let is_boot = |view: &&View| view.study.kind == Kind::Boot && view.has("boot_s");
    let rows: Vec<_> = views.iter().filter(is_boot).flat_map(rows).collect();
    if rows.is_empty() {
        return;
    }
    page.section("boots", "Boots, before and after");
    page.table(&COLUMNS.map(str::to_owned), rows);
    let text = "Published rows are figures of others, on their computers and sticks. A saving of \
    ours that the \
                answers above do not call faster is none.";
    page.element("p", "hint", text);
}

fn rows<'v>(view: &'v View) -> Vec<Vec<Cow<'v, str>>> {
    let published = if view.is_published() {
        " (published)"
    } else {
        ""
    };
    let title = format!("{}{published}", view.study.title);
    let findings = view.figure("boot_s");
    let row = |(index, finding): (usize, &_)| row(view, &title, index, finding);
    findings.iter().enumerate().filter_map(row).collect()
}

fn row<'v>(
    view: &'v View,
    title: &str,
    index: usize,
    after: &Finding,
) -> Option<Vec<Cow<'v, str>>> {
    let baseline = view.study.baseline(index);
    let (before_s, after_s) = (view.figure("boot_s").get(baseline)?.median?, after.median?);
    if baseline == index || before_s <= 0.0 {
        return None;
    }
    let saved_s = before_s - after_s;
    Some(vec![
        title.to_owned().into(),
        view.name(baseline).into(),
        view.name(index).into(),
        seconds(before_s).into(),
        seconds(after_s).into(),
        seconds(saved_s).into(),
        format!("{:.0} %", saved_s * 100.0 / before_s).into(),
    ])
}
