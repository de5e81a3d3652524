//! Box-and-whisker plots: the runs of each contestant.

use std::io;

use super::frame::{Axis, Frame, Plot, WIDE_PX, lane_top, lanes_px, tick};
use crate::figure;
use crate::stats::Summary;

const LANE_PX: u32 = 76;

/// With more runs than these in a chart only outliers have a dot: the dots of ten thousand runs
/// are a bar, and a megabyte.
pub(in crate::report) const DOTS_MAX: usize = 2_000;

/// The runs of one contestant.
pub(in crate::report) struct Lane {
    pub(in crate::report) name: String,
    /// Which color it has.
    pub(in crate::report) series: usize,
    pub(in crate::report) summary: Option<Summary>,
    pub(in crate::report) samples: Vec<Sample>,
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub(in crate::report) struct Sample {
    pub(in crate::report) turn: u32,
    pub(in crate::report) value: f64,
    pub(in crate::report) is_outlier: bool,
}

/// Draws the runs of each lane: quartiles, median, extremes, and each run as a dot.
///
/// * `figure`: the name of what was measured, with its unit.
pub(in crate::report) fn boxes(title: &str, figure: &str, lanes: &[Lane]) -> io::Result<String> {
    let values = lanes.iter().flat_map(|lane| &lane.samples);
    let (mut min, mut max, mut count) = (0.0_f64, 0.0_f64, 0);
    for sample in values {
        min = min.min(sample.value);
        max = max.max(sample.value);
        count += 1;
    }
    let (scale, unit) = figure::scale(figure, max);
    let frame = Frame {
        title,
        width_px: WIDE_PX,
        height_px: lanes_px(lanes.len(), LANE_PX),
        x: Axis {
            unit: format!("{title} in {unit}"),
            ends: (min * scale, max * scale * 1.03),
            tick,
        },
        y: None,
    };
    frame.draw(|plot| {
        for (index, lane) in lanes.iter().enumerate() {
            let top = lane_top(index, LANE_PX);
            plot.name(&lane.name, (min * scale, top), 0)?;
            match &lane.summary {
                Some(summary) => summary_of(plot, (lane.series, top), scale, summary)?,
                None => plot.text_beside("no counted run", (min * scale, top + 31.0))?,
            }
            if let Some(summary) = &lane.summary {
                let corners = [
                    (summary.min * scale, top + 21.0),
                    (summary.max * scale, top + 41.0),
                ];
                plot.zone(corners, &box_tip(figure, &lane.name, summary));
            }
            for sample in &lane.samples {
                if count <= DOTS_MAX || sample.is_outlier {
                    let tip = dot_tip(figure, &lane.name, sample);
                    plot.dot((sample.value * scale, top + 50.0), 4, lane.series, &tip);
                }
            }
        }
        Ok(())
    })
}

fn summary_of(
    plot: &mut Plot,
    (series, top): (usize, f64),
    scale: f64,
    summary: &Summary,
) -> io::Result<()> {
    let x = |value: f64| value * scale;
    let (high, middle, low) = (top + 21.0, top + 31.0, top + 41.0);
    let (left, right) = (x(summary.lower_quartile), x(summary.upper_quartile));
    plot.rectangle([(left, high), (right, low)], series, 0.25)?;
    let outline = vec![
        (left, high),
        (right, high),
        (right, low),
        (left, low),
        (left, high),
    ];
    plot.line(outline, Some(series), 1)?;
    for (from, to) in [(summary.min, left), (summary.max, right)] {
        plot.line(vec![(x(from), middle), (to, middle)], Some(series), 2)?;
        let end = vec![(x(from), middle - 5.0), (x(from), middle + 5.0)];
        plot.line(end, Some(series), 2)?;
    }
    let median = vec![(x(summary.median), high), (x(summary.median), low)];
    plot.line(median, Some(series), 4)
}

fn box_tip(name: &str, contestant: &str, summary: &Summary) -> String {
    let value = |value| figure::formatted(name, value);
    format!(
        "{contestant}: median {}, middle half {} to {}, all {} to {}",
        value(summary.median),
        value(summary.lower_quartile),
        value(summary.upper_quartile),
        value(summary.min),
        value(summary.max),
    )
}

fn dot_tip(name: &str, contestant: &str, sample: &Sample) -> String {
    let outlier = if sample.is_outlier { ", outlier" } else { "" };
    let (turn, value) = (
        sample.turn.saturating_add(1),
        figure::formatted(name, sample.value),
    );
    format!("{contestant}, turn {turn}: {value}{outlier}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_placeholder_color_is_left() {
        let lanes = [Lane {
            name: "fill=\"#C0DE00\"".into(),
            series: 0,
            summary: None,
            samples: vec![],
        }];
        let svg = boxes("Cold start", "cold_s", &lanes).expect("a string takes all");
        assert!(!svg.contains("=\"#C0DE"), "{svg}");
        // Text stays text.
        assert!(svg.contains("fill=&quot;#C0DE00&quot;"), "{svg}");
        assert!(svg.contains("style=\"fill:currentColor\""));
        assert!(svg.contains("no counted run"));
    }

    #[test]
    fn a_dot_tells_its_run_and_of_very_many_only_outliers_are_drawn() {
        let sample = |turn, value| Sample {
            turn,
            value,
            is_outlier: value > 2.0,
        };
        let lane = |count: u32| {
            let samples: Vec<Sample> = (0..count).map(|turn| sample(turn, 1.25)).collect();
            let values: Vec<f64> = samples.iter().map(|sample| sample.value).collect();
            [Lane {
                name: "<plain>".into(),
                series: 0,
                summary: Summary::new(&values[..values.len().min(9)]),
                samples: samples.into_iter().chain([sample(7, 3.5)]).collect(),
            }]
        };
        let few = boxes("Cold start", "cold_s", &lane(2)).expect("a string takes all");
        assert!(
            few.contains("<title>&lt;plain&gt;, turn 1: 1.25 s</title>"),
            "{few}"
        );
        assert!(few.contains("turn 8: 3.50 s, outlier"), "{few}");
        let many = boxes("Cold start", "cold_s", &lane(3_000)).expect("a string takes all");
        assert_eq!(many.matches("<circle").count(), 1);
    }
}
