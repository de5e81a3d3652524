//! What got worse.

use coldpress_history::Kind;
use coldpress_report::units::ratio;

use super::answers::subjects;
use super::page::Page;
use super::view::View;
use crate::stats::Verdict;
use crate::text::{Deed, interval_of_ratio};

/// Counts at the block device are reproducible to about 2 %; a smaller change is not called a loss.
const COUNT_NOISE: f64 = 0.02;
/// A size has no noise, but a change that prints as 0.0 % is none.
const SIZE_NOISE: f64 = 0.000_5;

const WARM_START: Deed = Deed {
    verb: "starts warm",
    noun: "warm starts",
    infinitive: "start warm",
};

/// Amounts, the change that is none, and a loss in words around its percentage.
const AMOUNTS: [(&str, f64, &str, &str); 5] = [
    ("size_bytes", SIZE_NOISE, "is", "larger"),
    ("reads", COUNT_NOISE, "needs", "more reads"),
    ("read_bytes", COUNT_NOISE, "reads", "more bytes"),
    (
        "page_cache_bytes",
        COUNT_NOISE,
        "occupies",
        "more of the page cache",
    ),
    ("peak_memory_bytes", COUNT_NOISE, "takes", "more memory"),
];

/// Writes the losses of each contestant against the baseline. Studies of building have none: there
/// each contestant trades one figure for another, which the front shows.
pub(super) fn write(page: &mut Page, view: &View) {
    let contestants = view.study.contestants.len();
    if view.is_published() || view.study.kind == Kind::Build || contestants < 2 {
        return;
    }
    page.push("<h3>What got worse</h3>\n<ul>\n");
    for index in 1..contestants {
        let losses = losses(view, index);
        let clauses = match losses.as_slice() {
            [] => "shows no loss in what was measured".to_owned(),
            [only] => only.clone(),
            [first @ .., last] => format!("{} and {last}", first.join(", ")),
        };
        page.element("li", "", &format!("{} {clauses}.", view.name(index)));
    }
    page.push("</ul>\n");
}

fn losses(view: &View, contestant: usize) -> Vec<String> {
    let mut losses = Vec::new();
    let times = subjects(view.study.kind)
        .iter()
        .chain(&[("warm_s", WARM_START)]);
    for (figure, deed) in times {
        let found = view
            .figure(figure)
            .get(contestant)
            .and_then(|one| one.ratio);
        if let Some(found) = found.filter(|found| found.verdict == Verdict::Slower) {
            losses.push(format!(
                "takes {} times as long to {} ({})",
                ratio(found.value),
                deed.infinitive,
                interval_of_ratio(&found.interval)
            ));
        }
    }
    for (figure, noise, verb, object) in AMOUNTS {
        let share = view
            .figure(figure)
            .get(contestant)
            .and_then(|one| one.share);
        if let Some(share) = share.filter(|share| *share > 1.0 + noise) {
            losses.push(format!("{verb} {:.1} % {object}", (share - 1.0) * 100.0));
        }
    }
    losses
}
