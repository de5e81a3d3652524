//! Conditions on which a comparison of two studies fails: `cold > +5%`.

use std::fmt;
use std::str::FromStr;

use coldpress_history::stem;

use crate::difference::Difference;

/// A figure that changed by more than it may.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Name of the figure, with or without its unit.
    figure: String,
    direction: Direction,
    /// By how much it may change.
    percent: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Above,
    Below,
}

/// Why a text is no condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// There is neither `>` nor `<`.
    #[error("must be FIGURE > PERCENT% or FIGURE < PERCENT%, as `cold > +5%`")]
    NoComparison,
    /// What stands before it is no name.
    #[error("must begin with the name of a figure: letters, digits and `_`")]
    NoFigure,
    /// What stands behind it is no percentage.
    #[error("must end with a change in percent above -100%, as `+5%`")]
    NoPercentage,
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Condition, ConditionError> {
        let at = text.find(['<', '>']).ok_or(ConditionError::NoComparison)?;
        let (figure, rest) = text.split_at(at);
        let direction = if rest.starts_with('>') {
            Direction::Above
        } else {
            Direction::Below
        };
        let figure = figure.trim();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if figure.is_empty() || !figure.chars().all(is_name) {
            return Err(ConditionError::NoFigure);
        }
        let number = rest[1..].trim().strip_suffix('%').map(str::trim);
        let percent = number.and_then(|number| number.parse::<f64>().ok());
        let percent = percent.filter(|percent| percent.is_finite() && *percent > -100.0);
        Ok(Condition {
            figure: figure.to_owned(),
            direction,
            percent: percent.ok_or(ConditionError::NoPercentage)?,
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.direction {
            Direction::Above => '>',
            Direction::Below => '<',
        };
        write!(f, "{} {sign} {:+}%", self.figure, self.percent)
    }
}

impl Condition {
    /// Whether it is about this difference.
    pub fn is_about(&self, difference: &Difference) -> bool {
        self.figure == difference.figure || self.figure == stem(&difference.figure)
    }

    /// Whether the figure surely changed by more than it may: the whole interval lies beyond;
    /// `None` if nothing is sure.
    pub fn holds(&self, difference: &Difference) -> Option<bool> {
        let limit = 1.0 + self.percent / 100.0;
        let sure = difference.relation.interval?;
        Some(match self.direction {
            Direction::Above => sure.low > limit,
            Direction::Below => sure.high < limit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::differences;
    use crate::difference::tests::study;

    #[test]
    fn conditions_are_a_figure_a_comparison_and_a_percentage() {
        for (text, expected) in [
            ("cold > +5%", Ok("cold > +5%")),
            ("cold>5%", Ok("cold > +5%")),
            (" size_bytes < -2.5 % ", Ok("size_bytes < -2.5%")),
            ("size > 0%", Ok("size > +0%")),
            ("size > -3%", Ok("size > -3%")),
            ("", Err(ConditionError::NoComparison)),
            ("cold = 5%", Err(ConditionError::NoComparison)),
            ("cold", Err(ConditionError::NoComparison)),
            ("> 5%", Err(ConditionError::NoFigure)),
            ("cold start > 5%", Err(ConditionError::NoFigure)),
            ("cold > 5", Err(ConditionError::NoPercentage)),
            ("cold >= 5%", Err(ConditionError::NoPercentage)),
            ("cold > %", Err(ConditionError::NoPercentage)),
            ("cold > inf%", Err(ConditionError::NoPercentage)),
            ("cold > NaN%", Err(ConditionError::NoPercentage)),
            ("cold < -100%", Err(ConditionError::NoPercentage)),
        ] {
            let found = text
                .parse::<Condition>()
                .map(|condition| condition.to_string());
            assert_eq!(found, expected.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn a_condition_holds_if_the_whole_interval_lies_beyond() {
        let starts = [1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 1.02];
        let slower = starts.map(|start_s| start_s * 1.5);
        let base = study(&[("a", 100.0, &starts)]);
        let new = study(&[("a", 107.0, &slower)]);
        let found = differences(&base, &new);
        for (text, figure, expected) in [
            ("cold > 5%", "cold_s", true),
            ("cold_s > 5%", "cold_s", true),
            ("cold > 49%", "cold_s", false),
            ("cold > 200%", "cold_s", false),
            ("cold < -5%", "cold_s", false),
            ("size > 0%", "size_bytes", true),
            ("size > 6.9%", "size_bytes", true),
            ("size > 7%", "size_bytes", false),
            ("size < 8%", "size_bytes", true),
        ] {
            let condition: Condition = text.parse().expect("a condition");
            let about: Vec<_> = found.iter().filter(|it| condition.is_about(it)).collect();
            assert_eq!(about.len(), 1, "{text}");
            assert_eq!(about[0].figure, figure);
            assert_eq!(condition.holds(about[0]), Some(expected), "{text}");
        }
        let few = differences(&study(&[("a", 1.0, &starts[..5])]), &new);
        let condition: Condition = "cold > 5%".parse().expect("a condition");
        assert_eq!(condition.holds(&few[0]), None);
    }
}
