//! What the name of a figure says.

/// What a figure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Seconds: `cold_s`.
    Seconds,
    /// Bytes: `size_bytes`.
    Bytes,
    /// Hundredths of something: `size_percent`.
    Percent,
    /// Processors that were busy: `used_cores`.
    Cores,
    /// Things: `reads`.
    Count,
}

impl Unit {
    const SUFFIXES: [(Unit, &'static str); 4] = [
        (Unit::Seconds, "_s"),
        (Unit::Bytes, "_bytes"),
        (Unit::Percent, "_percent"),
        (Unit::Cores, "_cores"),
    ];

    /// The unit in which the figure of this name is.
    pub fn of(figure: &str) -> Unit {
        split(figure).1
    }

    /// What names of figures end with; `count` for those that end with no unit.
    pub fn name(self) -> &'static str {
        let suffix = Unit::SUFFIXES.iter().find(|(unit, _)| *unit == self);
        suffix.map_or("count", |(_, suffix)| suffix.trim_start_matches('_'))
    }
}

/// The name of a figure without its unit: `cold` of `cold_s`.
pub fn stem(figure: &str) -> &str {
    split(figure).0
}

fn split(figure: &str) -> (&str, Unit) {
    let found = Unit::SUFFIXES.iter().find_map(|(unit, suffix)| {
        let stem = figure.strip_suffix(suffix)?;
        (!stem.is_empty()).then_some((stem, *unit))
    });
    found.unwrap_or((figure, Unit::Count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_with_their_units() {
        for (figure, expected, unit) in [
            ("cold_s", ("cold", Unit::Seconds), "s"),
            ("block_size_bytes", ("block_size", Unit::Bytes), "bytes"),
            ("size_percent", ("size", Unit::Percent), "percent"),
            ("used_cores", ("used", Unit::Cores), "cores"),
            ("reads", ("reads", Unit::Count), "count"),
            ("_s", ("_s", Unit::Count), "count"),
        ] {
            assert_eq!((stem(figure), Unit::of(figure)), expected);
            assert_eq!(Unit::of(figure).name(), unit);
        }
    }
}
