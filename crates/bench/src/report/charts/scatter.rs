//! Scatter plots: two values of each contestant against each other.

use std::io;

use super::frame::{Axis, Frame, LETTER_PX, Plot, WIDE_PX, shortened, tick};
use crate::figure;
use crate::pareto::pareto_front;
use crate::report::{Scatter, ScatterLine, ScatterSpot};

const HEIGHT_PX: u32 = 380;
const LABEL_LETTERS: usize = 24;
/// Height of a label: font and a gap.
const LABEL_PX: i32 = 16;
/// From the middle of a spot to its label.
const SPOT_PX: i32 = 9;

/// Draws a spot for each contestant.
pub(in crate::report) fn scatter(chart: &Scatter) -> io::Result<String> {
    let [x, y] = [&chart.figures[0], &chart.figures[1]].map(String::as_str);
    let mut ends = [ends(chart, |at| at.0), ends(chart, |at| at.1)];
    if chart.line == ScatterLine::Equal {
        let both = (0.0, ends[0].1.max(ends[1].1));
        ends = [both, both];
    }
    let scales = [(x, ends[0]), (y, ends[1])].map(|(name, ends)| figure::scale(name, ends.1));
    let axis = |index: usize, name: &str| Axis {
        unit: format!("{} in {}", figure::title(name), scales[index].1),
        ends: (
            ends[index].0 * scales[index].0,
            ends[index].1 * scales[index].0,
        ),
        tick,
    };
    let frame = Frame {
        title: &chart.title,
        width_px: WIDE_PX,
        height_px: HEIGHT_PX,
        x: axis(0, x),
        y: Some(axis(1, y)),
    };
    let place = |at: (f64, f64)| (at.0 * scales[0].0, at.1 * scales[1].0);
    frame.draw(|plot| {
        let front = front(chart);
        let line = match chart.line {
            ScatterLine::Front => steps(&front),
            ScatterLine::Equal => vec![(0.0, 0.0), (ends[0].1, ends[0].1)],
        };
        plot.line(line.into_iter().map(place).collect(), None, 1)?;
        for spot in &chart.spots {
            let [x, y] = [(x, spot.at.0), (y, spot.at.1)].map(|(name, value)| {
                format!("{} {}", figure::title(name), figure::formatted(name, value))
            });
            let is_front = chart.line == ScatterLine::Front && front.contains(&spot);
            let on_front = if is_front { ", on the front" } else { "" };
            let tip = format!("{}: {x}, {y}{on_front}", spot.name);
            let radius_px = if spot.is_marked { 7 } else { 4 };
            plot.dot(place(spot.at), radius_px, spot.kind + 1, &tip);
        }
        labels(plot, chart, place)
    })
}

/// The names of marked spots, but for those that would lie on others.
fn labels(
    plot: &mut Plot,
    chart: &Scatter,
    place: impl Fn((f64, f64)) -> (f64, f64),
) -> io::Result<()> {
    let mut taken: Vec<(i32, i32, i32)> = Vec::new();
    for spot in chart.spots.iter().filter(|spot| spot.is_marked) {
        let label = shortened(&spot.name, LABEL_LETTERS);
        let (x, y) = plot.place_px(place(spot.at));
        let length_px = i32::try_from(label.chars().count() * LETTER_PX).unwrap_or(0);
        let wide_px = i32::try_from(WIDE_PX).unwrap_or(i32::MAX);
        // Right of its spot, and where the chart ends left of it.
        let offset_px = if x.saturating_add(length_px + SPOT_PX) < wide_px {
            SPOT_PX
        } else {
            -SPOT_PX - length_px
        };
        let (left, right) = (x + offset_px, x + offset_px + length_px);
        let is_free = taken.iter().all(|(other_left, other_right, other_y)| {
            right < *other_left || *other_right < left || (y - other_y).abs() >= LABEL_PX
        });
        if is_free {
            taken.push((left, right, y));
            // Above the line through the spots.
            plot.text_off(&label, place(spot.at), (offset_px, -LABEL_PX))?;
        }
    }
    Ok(())
}

/// The ends of an axis: around the values, since distances count here and not lengths.
fn ends(chart: &Scatter, value: impl Fn((f64, f64)) -> f64) -> (f64, f64) {
    let values = || chart.spots.iter().map(|spot| value(spot.at));
    let (min, max) = (
        values().fold(f64::INFINITY, f64::min),
        values().fold(0.0, f64::max),
    );
    let room = ((max - min) * 0.08).max(max * 0.01);
    ((min - room).max(0.0), max + room)
}

/// The marked spots that no other marked one beats in both figures, from left to right.
fn front(chart: &Scatter) -> Vec<&ScatterSpot> {
    let marked: Vec<&ScatterSpot> = chart.spots.iter().filter(|spot| spot.is_marked).collect();
    let points: Vec<[f64; 2]> = marked.iter().map(|spot| [spot.at.0, spot.at.1]).collect();
    let known = marked.into_iter().zip(pareto_front(&points));
    let mut front: Vec<&ScatterSpot> = known
        .filter_map(|(spot, is_front)| is_front.then_some(spot))
        .collect();
    front.sort_by(|a, b| a.at.0.total_cmp(&b.at.0).then(b.at.1.total_cmp(&a.at.1)));
    front
}

/// From spot to spot, first along one axis and then along the other.
fn steps(front: &[&ScatterSpot]) -> Vec<(f64, f64)> {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for spot in front {
        if let Some(last) = steps.last() {
            steps.push((spot.at.0, last.1));
        }
        steps.push(spot.at);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(line: ScatterLine) -> Scatter {
        let spot = |name: &str, at, is_marked| ScatterSpot {
            name: name.to_owned(),
            at,
            kind: 0,
            is_marked,
        };
        Scatter {
            title: "Build and size".to_owned(),
            figures: ["build_s", "size_percent"].map(str::to_owned),
            kinds: Vec::new(),
            spots: vec![
                spot("slow", (274.9, 49.4), true),
                spot("fast", (18.4, 54.0), true),
                spot("twin of fast", (18.4, 54.0), true),
                spot("worse", (280.0, 60.0), false),
            ],
            line,
        }
    }

    #[test]
    fn the_front_is_a_staircase_from_left_to_right() {
        let expected = [
            (18.4, 54.0),
            (18.4, 54.0),
            (18.4, 54.0),
            (274.9, 54.0),
            (274.9, 49.4),
        ];
        let mut chart = chart(ScatterLine::Front);
        assert_eq!(steps(&front(&chart)), expected);
        // One that is marked for another reason.
        for spot in &mut chart.spots {
            spot.is_marked = true;
        }
        assert_eq!(steps(&front(&chart)), expected);
    }

    #[test]
    fn every_spot_tells_its_values_and_names_do_not_lie_on_each_other() {
        let svg = scatter(&chart(ScatterLine::Front)).expect("a string takes all");
        let tip = "worse: build 280 s, size, of the content 60.0 %</title>";
        assert!(svg.contains(tip), "{svg}");
        assert!(svg.contains("slow: build 275 s, size, of the content 49.4 %, on the front"));
        let named = |name: &str| svg.lines().any(|line| line.trim() == name);
        assert!(
            named("fast") && !named("twin of fast") && !named("worse"),
            "{svg}"
        );
    }

    #[test]
    fn nothing_to_show_is_an_empty_chart() {
        for line in [ScatterLine::Front, ScatterLine::Equal] {
            let empty = Scatter {
                spots: Vec::new(),
                ..chart(line)
            };
            assert!(
                scatter(&empty)
                    .expect("a string takes all")
                    .starts_with("<svg")
            );
        }
    }
}
