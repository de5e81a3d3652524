//! How a figure stands to another one, and how sure that is.

use coldpress_history::Unit;
use serde::Serialize;

use crate::stats::{Interval, Ratio, TURNS_FOR_VERDICT};

/// A figure divided by another one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Relation {
    /// The ratio of the medians; `None` if a value is not above 0.
    pub ratio: Option<f64>,
    /// Where the ratio lies at [`CONFIDENCE`](crate::stats::CONFIDENCE): at one point if it is
    /// exact; `None` if nothing is sure.
    pub interval: Option<Interval>,
    /// What the ratio rests on.
    pub evidence: Evidence,
}

/// What a relation rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// Figures that are the same in all runs, and no times: there is nothing to be unsure of.
    Exact,
    /// Enough runs of both.
    Sampled,
    /// Fewer runs than a verdict needs, or values that cannot be divided.
    TooLittle,
}

impl Relation {
    /// Of two figures that are the same in all runs.
    #[expect(clippy::float_cmp, reason = "what is exact is equal or not")]
    pub(crate) fn exact(base: f64, new: f64) -> Relation {
        let ratio = if base == new {
            Some(1.0)
        } else {
            (base > 0.0 && new >= 0.0).then(|| new / base)
        };
        Relation {
            ratio,
            interval: ratio.map(|ratio| Interval {
                low: ratio,
                high: ratio,
            }),
            evidence: ratio.map_or(Evidence::TooLittle, |_| Evidence::Exact),
        }
    }

    /// Of samples; `None` if they could not be divided.
    pub(crate) fn sampled(found: Option<Ratio>) -> Relation {
        // The interval of a few runs is as narrow as it is wrong.
        let enough = found.filter(|ratio| ratio.turns >= TURNS_FOR_VERDICT);
        Relation {
            ratio: found.map(|ratio| ratio.value),
            interval: enough.map(|ratio| ratio.interval),
            evidence: enough.map_or(Evidence::TooLittle, |_| Evidence::Sampled),
        }
    }

    /// What can be said of the figure of this name, as a word or two.
    pub fn verdict(&self, figure: &str) -> &'static str {
        let (less, more) = match Unit::of(figure) {
            Unit::Seconds => ("faster", "slower"),
            Unit::Bytes | Unit::Percent => ("smaller", "larger"),
            Unit::Cores | Unit::Count => ("fewer", "more"),
        };
        match (self.interval, self.evidence) {
            (Some(sure), _) if sure.high < 1.0 => less,
            (Some(sure), _) if sure.low > 1.0 => more,
            (_, Evidence::Exact) => "the same",
            (_, Evidence::Sampled) => "no difference shown",
            (_, Evidence::TooLittle) => "too few runs",
        }
    }
}

/// Whether a figure that all runs share is exact: a time that was taken once is a sample.
pub(crate) fn is_exact(figure: &str) -> bool {
    !matches!(Unit::of(figure), Unit::Seconds | Unit::Cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_figures_are_divided_where_they_can_be() {
        for (base, new, ratio, verdict) in [
            (2.0, 3.0, Some(1.5), "larger"),
            (2.0, 0.0, Some(0.0), "smaller"),
            (0.0, 0.0, Some(1.0), "the same"),
            (0.0, 1.0, None, "too few runs"),
            (-1.0, 1.0, None, "too few runs"),
        ] {
            let relation = Relation::exact(base, new);
            assert_eq!(relation.ratio, ratio, "{base} {new}");
            assert_eq!(relation.verdict("size_bytes"), verdict, "{base} {new}");
        }
    }
}
