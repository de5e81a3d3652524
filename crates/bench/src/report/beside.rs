//! Published figures beside our own, contestant by contestant.

use coldpress_history::{Contestant, Kind};
use coldpress_report::units::ratio;

use super::page::Page;
use super::view::View;
use crate::figure;

/// What can be compared between studies of a kind: ratios, since the machines differ.
const FIGURES: [&str; 7] = [
    "cold_s",
    "warm_s",
    "boot_s",
    "build_s",
    "unpack_s",
    "size_bytes",
    "size_percent",
];

/// Writes a table for each figure of each published study that a study of ours of the same kind has
/// too.
pub(super) fn write(page: &mut Page, views: &[View]) {
    let mut has_section = false;
    for published in views.iter().filter(|view| view.is_published()) {
        let is_like =
            |view: &&View| !view.is_published() && is_alike(view.study.kind, published.study.kind);
        let ours: Vec<&View> = views.iter().filter(is_like).collect();
        for name in FIGURES.into_iter().filter(|name| published.has(name)) {
            let having: Vec<&View> = ours
                .iter()
                .copied()
                .filter(|view| view.has(name) && counterparts(published, view) > 1)
                .collect();
            if having.is_empty() {
                continue;
            }
            if !has_section {
                page.section("beside", "Beside published figures");
                has_section = true;
            }
            table(page, name, published, &having);
        }
    }
    if has_section {
        let text = "Each figure, and its ratio to that of the first contestant with the same \
        baseline. The machines differ, so ratios \
                    can be compared and figures cannot; nothing here has a verdict.";
        page.element("p", "hint", text);
    }
}

/// A press is a launch study with an image of its own.
fn is_alike(one: Kind, other: Kind) -> bool {
    let base = |kind| {
        if kind == Kind::Press {
            Kind::Launch
        } else {
            kind
        }
    };
    base(one) == base(other)
}

fn table(page: &mut Page, name: &str, published: &View, ours: &[&View]) {
    let heading = format!("{}: {}", published.study.title, figure::title(name));
    page.element("h3", "", &heading);
    let titles = ours.iter().map(|view| view.study.title.clone());
    let columns: Vec<String> = ["contestant".to_owned(), "published".to_owned()]
        .into_iter()
        .chain(titles)
        .collect();
    let shared: Vec<&Contestant> = published
        .study
        .contestants
        .iter()
        .filter(|one| ours.iter().any(|view| counterpart(view, one).is_some()))
        .collect();
    let all: Vec<&View> = std::iter::once(published)
        .chain(ours.iter().copied())
        .collect();
    let rows = shared.iter().map(|one| {
        let first = shared
            .iter()
            .find(|other| is_of_same(published, one, other));
        let cells = all.iter().map(|view| {
            let first = first.and_then(|first| median(view, name, first));
            cell(view, name, one, first.map(|(_, median)| median)).into()
        });
        std::iter::once(one.name.as_str().into())
            .chain(cells)
            .collect()
    });
    page.table(&columns, rows);
}

/// Whether two contestants are of the same thing, which has one baseline.
fn is_of_same(view: &View, one: &Contestant, other: &Contestant) -> bool {
    let contestants = &view.study.contestants;
    let baseline = |of: &Contestant| {
        let index = contestants.iter().position(|known| known.name == of.name);
        index.map(|index| view.study.baseline(index))
    };
    baseline(one) == baseline(other)
}

/// `xz-128K: 5.66 s, 2.65 times`.
fn cell(view: &View, name: &str, one: &Contestant, first: Option<f64>) -> String {
    let Some((contestant, value)) = median(view, name, one) else {
        return "-".to_owned();
    };
    let label = if contestant.name == one.name {
        String::new()
    } else {
        format!("{}: ", contestant.name)
    };
    let share = first
        .filter(|first| *first > 0.0)
        .map(|first| ratio(value / first));
    let share = share.map_or(String::new(), |share| format!(", ratio {share}"));
    format!("{label}{}{share}", figure::formatted(name, value))
}

fn median<'v>(view: &'v View, name: &str, one: &Contestant) -> Option<(&'v Contestant, f64)> {
    let index = counterpart(view, one)?;
    let contestant = view.study.contestants.get(index)?;
    Some((contestant, view.figure(name).get(index)?.median?))
}

fn counterparts(published: &View, ours: &View) -> usize {
    let contestants = published.study.contestants.iter();
    contestants
        .filter(|one| counterpart(ours, one).is_some())
        .count()
}

/// The contestant of the same name, or the first one that is made alike.
fn counterpart(view: &View, one: &Contestant) -> Option<usize> {
    let contestants = &view.study.contestants;
    let same_name = contestants.iter().position(|other| other.name == one.name);
    same_name.or_else(|| {
        contestants
            .iter()
            .position(|other| is_made_alike(one, other))
    })
}

/// The same compressor, and nothing that both state differs.
fn is_made_alike(one: &Contestant, other: &Contestant) -> bool {
    let fact = |name: &str| match (one.facts.get(name), other.facts.get(name)) {
        (Some(one), Some(other)) => Some(one == other),
        _ => None,
    };
    let figure = |name: &str| match (one.figures.get(name), other.figures.get(name)) {
        (Some(one), Some(other)) => Some((one - other).abs() < 0.5),
        _ => None,
    };
    let rest = [
        fact("app"),
        fact("level"),
        fact("block_size"),
        fact("threads"),
        figure("block_size_bytes"),
    ];
    fact("compressor") == Some(true) && !rest.contains(&Some(false))
}
