//! Before and after, as the study of Tails has them: seconds, seconds saved, percent saved.

use coldpress_history::{Kind, Run, Study};
use serde::Serialize;

use crate::stats::{Ratio, median, ratio};

/// What one image saves against the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BootRow {
    /// The computer: its processor.
    pub computer: String,
    /// The storage device.
    pub device: String,
    /// The first contestant.
    pub before: String,
    /// Its median boot.
    pub before_s: f64,
    /// The other contestant.
    pub after: String,
    /// Its median boot.
    pub after_s: f64,
    /// Seconds saved, below 0 if it takes longer.
    pub saved_s: f64,
    /// The same in percent of the time before.
    pub saved_percent: f64,
    /// After divided by before, turn by turn, with what the samples allow to say.
    pub ratio: Option<Ratio>,
}

/// A row for each contestant of a study of boots but the first; none for other studies, and none
/// for a contestant without a boot that counts.
///
/// # Cost
///
/// That of [`ratio`] for each row.
pub fn boot_rows(study: &Study) -> Vec<BootRow> {
    let Some(first) = study
        .contestants
        .first()
        .filter(|_| study.kind == Kind::Boot)
    else {
        return Vec::new();
    };
    let fact = |name: &str| study.facts.get(name).cloned().unwrap_or_default();
    let median_s = |contestant| median(&study.values(contestant, "boot_s"));
    let others = study.contestants.iter().enumerate().skip(1);
    others
        .filter_map(|(index, other)| {
            let (before_s, after_s) = (median_s(0)?, median_s(index)?);
            let saved_s = before_s - after_s;
            Some(BootRow {
                computer: fact("cpu_model"),
                device: fact("device"),
                before: first.name.clone(),
                before_s,
                after: other.name.clone(),
                after_s,
                saved_s,
                saved_percent: saved_s / before_s * 100.0,
                ratio: ratio(&pairs(study, index)),
            })
        })
        .collect()
}

/// One (before, after) for each turn in which both count.
fn pairs(study: &Study, other: usize) -> Vec<(f64, f64)> {
    let boot_s = |run: &Run| run.figures.get("boot_s").copied();
    let pair = |run: &Run| {
        let first = study.counted(0).find(|first| first.turn == run.turn)?;
        Some((boot_s(first)?, boot_s(run)?))
    };
    study.counted(other).filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use coldpress_history::{Contestant, Facts, Figures, Origin, State};

    use super::*;
    use crate::stats::Verdict;

    fn study(times_s: &[[f64; 2]]) -> Study {
        let run = |turn: u32, contestant: usize, boot_s: f64| Run {
            contestant,
            turn,
            excluded: None,
            figures: Figures::from([("boot_s".to_owned(), boot_s)]),
        };
        let turns = (0_u32..).zip(times_s);
        Study {
            kind: Kind::Boot,
            title: "boots".to_owned(),
            began_unix_ms: 0,
            origin: Origin::Measured,
            state: State::Done,
            facts: Facts::from([("device".to_owned(), "usb2".to_owned())]),
            contestants: ["xz", "zstd"]
                .map(|name| Contestant {
                    name: name.to_owned(),
                    ..Contestant::default()
                })
                .to_vec(),
            runs: turns
                .flat_map(|(turn, [one, other])| [run(turn, 0, *one), run(turn, 1, *other)])
                .collect(),
        }
    }

    #[test]
    fn the_table_of_tails_is_reproduced() {
        // ThinkPad X1C6 and Kingston: 72 s, 57 s, 15 s saved, 21 %.
        let rows = boot_rows(&study(&[[72.0, 57.0]]));
        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        assert_eq!((row.before.as_str(), row.after.as_str()), ("xz", "zstd"));
        assert_eq!((row.before_s, row.after_s, row.saved_s), (72.0, 57.0, 15.0));
        assert_eq!(format!("{:.0}", row.saved_percent), "21");
        assert_eq!(row.device, "usb2");
        let verdict = row.ratio.map(|ratio| ratio.verdict);
        assert_eq!(verdict, Some(Verdict::NoDifferenceShown), "one turn");
    }

    #[test]
    fn what_does_not_count_is_in_no_row() {
        let mut study = study(&[[10.0, 12.0], [10.0, 12.0], [99.0, 1.0]]);
        study.runs[4].excluded = Some("the guest gave up".to_owned());
        let row = &boot_rows(&study)[0];
        let turns = row.ratio.map(|ratio| ratio.turns);
        assert_eq!((row.before_s, turns), (10.0, Some(2)));
        for run in &mut study.runs {
            run.excluded = Some("all".to_owned());
        }
        assert_eq!(boot_rows(&study), []);
    }
}
