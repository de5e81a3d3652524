//! Waterfalls: when each task of a change ran, within which other one.

use std::io;

use coldpress_report::units::seconds;

use super::frame::{Axis, Frame, WIDE_PX, lane_top, lanes_px, tick};
use crate::figure;
use crate::report::TaskSpan;

const LANE_PX: u32 = 40;
const INDENT_PX: u32 = 16;
/// Deeper tasks are not indented further, so that their names keep room.
const DEPTH_MAX: u32 = 12;

/// Draws a bar for each task, below its name, which is indented by its depth.
pub(in crate::report) fn waterfall(title: &str, spans: &[TaskSpan]) -> io::Result<String> {
    let end_s = |span: &TaskSpan| span.began_s + span.duration_s;
    let max_s = spans.iter().map(end_s).fold(0.0, f64::max);
    let (scale, unit) = figure::scale("end_s", max_s);
    let frame = Frame {
        title,
        width_px: WIDE_PX,
        height_px: lanes_px(spans.len(), LANE_PX),
        x: Axis {
            unit: format!("{unit} from the start"),
            ends: (0.0, max_s * scale * 1.12),
            tick,
        },
        y: None,
    };
    frame.draw(|plot| {
        for (index, span) in spans.iter().enumerate() {
            let top = lane_top(index, LANE_PX);
            let depth = span.depth.min(DEPTH_MAX);
            plot.name(&span.label, (0.0, top), depth * INDENT_PX)?;
            let right = end_s(span) * scale;
            let corners = [(span.began_s * scale, top + 18.0), (right, top + 30.0)];
            let series = usize::try_from(depth).unwrap_or(0) + 1;
            plot.rectangle(corners, series, 1.0)?;
            let duration = seconds(span.duration_s);
            plot.text_beside(&duration, (right, top + 24.0))?;
            let began = seconds(span.began_s);
            plot.zone(
                corners,
                &format!("{}: {duration}, from {began}", span.label),
            );
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_tells_when_it_began_and_how_long_it_took() {
        let span = |label: &str, depth, began_s, duration_s| TaskSpan {
            label: label.to_owned(),
            depth,
            began_s,
            duration_s,
        };
        let spans = [
            span("mount-snap", 0, 0.0, 2.177),
            span("setup <snap>", 1, 0.1, 2.048),
            span("deep", u32::MAX, 0.2, 0.0),
        ];
        let svg = waterfall("install", &spans).expect("a string takes all");
        assert!(
            svg.contains("<title>setup &lt;snap&gt;: 2.05 s, from 100 ms</title>"),
            "{svg}"
        );
        assert_eq!(svg.matches("class=\"mark zone\"").count(), 3);
    }
}
