//! Timelines: spots by time and place, in the color of their kind.

use std::io;

use super::frame::{Axis, Frame, WIDE_PX, tick};
use crate::report::Timeline;

const HEIGHT_PX: u32 = 380;
/// More spots are drawn, but only so many tell what they are: each is an element of the page of its
/// own.
const TELLING_MAX: usize = 3000;
const RADIUS_PX: u32 = 3;

/// Draws a spot for each thing that happened.
pub(in crate::report) fn timeline(chart: &Timeline) -> io::Result<String> {
    let end = |value: fn(&(f64, f64)) -> f64| {
        let values = chart.spots.iter().map(|spot| value(&spot.at));
        values.fold(0.0, f64::max) * 1.02
    };
    let [x_unit, y_unit] = chart.axes.clone();
    let axis = |unit: String, end: f64| Axis {
        unit,
        ends: (0.0, end),
        tick,
    };
    let ends = (end(|at| at.0), end(|at| at.1));
    let frame = Frame {
        title: &chart.title,
        width_px: WIDE_PX,
        height_px: HEIGHT_PX,
        x: axis(x_unit, ends.0),
        y: Some(axis(y_unit, ends.1)),
    };
    // Half the size of a small dot, in the units of the axes.
    let half = (
        ends.0 * f64::from(RADIUS_PX) / f64::from(WIDE_PX) / 2.0,
        ends.1 * f64::from(RADIUS_PX) / f64::from(HEIGHT_PX) / 2.0,
    );
    let step = chart.spots.len().div_ceil(TELLING_MAX).max(1);
    frame.draw(|plot| {
        for (index, spot) in chart.spots.iter().enumerate() {
            let (x, y) = spot.at;
            let series = spot.kind + 1;
            if index % step == 0 {
                plot.dot(spot.at, RADIUS_PX, series, &spot.tip);
            } else {
                let corners = [(x - half.0, y - half.1), (x + half.0, y + half.1)];
                plot.rectangle(corners, series, 0.65)?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::TimelineSpot;

    #[test]
    fn spots_tell_what_they_are_until_there_are_too_many() {
        let spot = |kind| TimelineSpot {
            at: (10.0, 20.0),
            kind,
            tip: format!("<{kind}>"),
        };
        let mut chart = Timeline {
            title: "reads".to_owned(),
            axes: ["ms".to_owned(), "MiB".to_owned()],
            kinds: vec!["a".to_owned(), "b".to_owned()],
            spots: vec![spot(0), spot(1)],
        };
        let svg = timeline(&chart).expect("a string takes all");
        assert!(svg.contains("<title>&lt;1&gt;</title>"), "{svg}");
        assert_eq!(svg.matches("class=\"mark s2\"").count(), 1);
        chart.spots = vec![spot(0); 2 * TELLING_MAX];
        let svg = timeline(&chart).expect("a string takes all");
        assert_eq!(svg.matches("class=\"mark s1\"").count(), TELLING_MAX);
        chart.spots.clear();
        assert!(
            timeline(&chart)
                .expect("a string takes all")
                .starts_with("<svg")
        );
    }
}
