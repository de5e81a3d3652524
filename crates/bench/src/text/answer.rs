//! One sentence about two contestants, for the terminal and the report alike.

use coldpress_report::units::{ratio as three_digits, seconds};

use super::{interval_of_ratio, plural};
use crate::stats::{Ratio, TURNS_FOR_VERDICT, Verdict};

/// What a time says of a contestant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deed {
    /// `NAME ... in 1.2 s`.
    pub(crate) verb: &'static str,
    /// `the ... of NAME`.
    pub(crate) noun: &'static str,
    /// `takes as long to ...`.
    pub(crate) infinitive: &'static str,
}

pub(crate) const COLD_START: Deed = Deed {
    verb: "starts cold",
    noun: "cold starts",
    infinitive: "start cold",
};

/// What a contestant does better or worse than the baseline, with its interval and a verdict.
///
/// * `baseline`, `other`: name and median time.
pub(crate) fn answer(
    deed: &Deed,
    baseline: (&str, Option<f64>),
    other: (&str, Option<f64>),
    ratio: Option<Ratio>,
) -> String {
    let ((before, before_s), (name, after_s)) = (baseline, other);
    let Some(ratio) = ratio else {
        return format!("{name} and {before} have no counted run in the same turn.");
    };
    let Deed { verb, noun, .. } = deed;
    let median = |time_s: Option<f64>| time_s.map_or("-".to_owned(), seconds);
    let times = format!("{} instead of {}", median(after_s), median(before_s));
    let (value, interval) = (
        three_digits(ratio.value),
        interval_of_ratio(&ratio.interval),
    );
    match ratio.verdict {
        Verdict::Faster => format!(
            "{name} {verb} in {times}: {value} of the time of {before} ({interval}), faster."
        ),
        Verdict::Slower => format!(
            "{name} {verb} in {times}: {value} times as long as {before} ({interval}), slower."
        ),
        Verdict::NoDifferenceShown if ratio.turns < TURNS_FOR_VERDICT => format!(
            "{} too few for a verdict on the {noun} of {name} and {before} \
             ({TURNS_FOR_VERDICT} are needed): {times}, ratio {value}.",
            plural(ratio.turns, "turn is", "turns are")
        ),
        Verdict::NoDifferenceShown => format!(
            "No difference shown between the {noun} of {name} and {before}: {times}, \
             ratio {value} ({interval})."
        ),
    }
}
