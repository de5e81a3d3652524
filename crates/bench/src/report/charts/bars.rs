//! Bars: one value of each contestant.

use std::io;

use super::frame::{Axis, Frame, NARROW_PX, lane_top, lanes_px, tick};
use crate::figure;

const LANE_PX: u32 = 54;

/// The value of one contestant.
pub(in crate::report) struct Bar {
    pub(in crate::report) name: String,
    /// Which color it has.
    pub(in crate::report) series: usize,
    pub(in crate::report) value: Option<f64>,
    /// How it is written beside the bar.
    pub(in crate::report) text: String,
}

/// Draws a horizontal bar for each contestant, with its value at the end.
///
/// * `figure`: the name of what was measured, with its unit.
pub(in crate::report) fn bars(title: &str, figure: &str, values: &[Bar]) -> io::Result<String> {
    let max = values
        .iter()
        .filter_map(|bar| bar.value)
        .fold(0.0_f64, f64::max);
    let (scale, unit) = figure::scale(figure, max);
    let frame = Frame {
        title,
        width_px: NARROW_PX,
        height_px: lanes_px(values.len(), LANE_PX),
        x: Axis {
            unit: unit.to_owned(),
            // It begins at 0, so that lengths can be compared, and has room for the longest value.
            ends: (0.0, max * scale * 1.45),
            tick,
        },
        y: None,
    };
    frame.draw(|plot| {
        for (index, bar) in values.iter().enumerate() {
            let top = lane_top(index, LANE_PX);
            plot.name(&bar.name, (0.0, top), 0)?;
            let Some(value) = bar.value else {
                plot.text_beside("not measured", (0.0, top + 27.0))?;
                continue;
            };
            let corners = [(0.0, top + 19.0), (value.max(0.0) * scale, top + 35.0)];
            plot.rectangle(corners, bar.series, 1.0)?;
            plot.text_beside(&bar.text, (corners[1].0, top + 27.0))?;
            plot.zone(corners, &format!("{}: {}", bar.name, bar.text));
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_that_are_missing_or_zero_are_drawn() {
        let bar = |name: &str, value: Option<f64>| Bar {
            name: name.to_owned(),
            series: 0,
            value,
            text: value.map_or(String::new(), |value| figure::formatted("reads", value)),
        };
        let svg = bars("Reads", "reads", &[bar("a", Some(0.0)), bar("b", None)]);
        let svg = svg.expect("a string takes all");
        assert!(svg.contains("not measured"));
        assert!(svg.contains("<title>a: 0</title>"), "{svg}");
    }
}
