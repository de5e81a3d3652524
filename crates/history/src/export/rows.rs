//! The long form: a row for each figure.

use jiff::Timestamp;

use crate::figure::Unit;
use crate::studies::StudyId;
use crate::study::Study;

/// One figure of one run, or of a contestant in all its runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FigureRow<'a> {
    pub(crate) id: StudyId,
    pub(crate) study: &'a Study,
    /// Name of the contestant.
    pub(crate) contestant: &'a str,
    /// `None` for what is the same in all runs.
    pub(crate) turn: Option<u32>,
    /// Why the run does not count.
    pub(crate) excluded: Option<&'a str>,
    pub(crate) figure: &'a str,
    pub(crate) value: f64,
}

impl FigureRow<'_> {
    /// In milliseconds since 1970; `None` if it is not known.
    pub(crate) fn began_unix_ms(&self) -> Option<i64> {
        let began = i64::try_from(self.study.began_unix_ms).ok();
        began.filter(|began| *began > 0)
    }

    /// As RFC 3339 in UTC.
    pub(crate) fn began(&self) -> Option<String> {
        let time = Timestamp::from_millisecond(self.began_unix_ms()?).ok()?;
        Some(time.to_string())
    }

    pub(crate) fn unit(&self) -> Unit {
        Unit::of(self.figure)
    }
}

/// All figures of some studies: those of the contestants, then those of the runs in their order.
pub(crate) fn rows(studies: &[(StudyId, Study)]) -> impl Iterator<Item = FigureRow<'_>> {
    studies.iter().flat_map(|(id, study)| {
        let own = study
            .contestants
            .iter()
            .map(|it| (it.name.as_str(), None, None, &it.figures));
        let of_runs = study.runs.iter().map(|run| {
            let contestant = study.contestants.get(run.contestant);
            let name = contestant.map_or("", |contestant| contestant.name.as_str());
            (name, Some(run.turn), run.excluded.as_deref(), &run.figures)
        });
        own.chain(of_runs)
            .flat_map(move |(contestant, turn, excluded, figures)| {
                figures.iter().map(move |(figure, value)| FigureRow {
                    id: *id,
                    study,
                    contestant,
                    turn,
                    excluded,
                    figure,
                    value: *value,
                })
            })
    })
}
