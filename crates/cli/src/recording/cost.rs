//! What recording costs a start.

use std::time::Duration;

use coldpress_bench::stats;
use coldpress_report::units;
use coldpress_trace::Trace;

use super::{Recorder, Stage};

/// Times of starts, of each turn one unrecorded and one recorded.
#[derive(Debug, Default)]
pub(crate) struct Cost {
    unrecorded_s: Vec<f64>,
    recorded_s: Vec<f64>,
}

impl Cost {
    /// Times the start that will be recorded next.
    ///
    /// # Errors
    ///
    /// Those of a recording.
    pub(crate) fn time_unrecorded(
        &mut self,
        recorder: &Recorder,
        stage: &Stage<'_>,
    ) -> anyhow::Result<()> {
        if self.unrecorded_s.is_empty() {
            // The first start of all fills caches for the others, where they are not dropped.
            (recorder.unrecorded)(stage)?;
        }
        let wall_ns = (recorder.unrecorded)(stage)?;
        self.unrecorded_s
            .push(Duration::from_nanos(wall_ns).as_secs_f64());
        Ok(())
    }

    /// Notes how long the recorded start took.
    pub(crate) fn note(&mut self, trace: &Trace) {
        let wall_us = trace
            .header
            .find("wall-us")
            .and_then(|wall_us| wall_us.parse().ok());
        self.recorded_s
            .extend(wall_us.map(|wall_us| Duration::from_micros(wall_us).as_secs_f64()));
    }

    /// `recording cost +1.2 % (-0.4 % to +2.9 %, 10 turns): 152 ms recorded, 150 ms not`; nothing
    /// if nothing was timed.
    pub(crate) fn sentence(&self) -> Option<String> {
        let Self {
            unrecorded_s,
            recorded_s,
        } = self;
        let pairs: Vec<(f64, f64)> = unrecorded_s
            .iter()
            .copied()
            .zip(recorded_s.iter().copied())
            .collect();
        let ratio = stats::ratio(&pairs)?;
        Some(format!(
            "recording cost {} ({} to {}, {} turns): {} recorded, {} not",
            units::change(ratio.value),
            units::change(ratio.interval.low),
            units::change(ratio.interval.high),
            ratio.turns,
            units::seconds(stats::median(recorded_s)?),
            units::seconds(stats::median(unrecorded_s)?),
        ))
    }
}

#[cfg(test)]
mod tests {
    use coldpress_trace::Header;

    use super::*;

    #[test]
    fn the_cost_is_the_median_of_the_turns() {
        let mut cost = Cost::default();
        assert_eq!(cost.sentence(), None);
        for (unrecorded_s, wall_us) in [(0.1, "102000"), (0.2, "204000"), (0.1, "102000")] {
            cost.unrecorded_s.push(unrecorded_s);
            let fields = vec![("wall-us".to_owned(), wall_us.to_owned())];
            cost.note(&Trace {
                header: Header { fields },
                events: Vec::new(),
            });
        }
        let sentence = cost.sentence().unwrap();
        let expected =
            "recording cost +2.0 % (+2.0 % to +2.0 %, 3 turns): 102 ms recorded, 100 ms not";
        assert_eq!(sentence, expected);
    }
}
