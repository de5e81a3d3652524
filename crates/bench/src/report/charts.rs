//! Charts as inline SVG.
//!
//! Each contestant has a lane: its name above, its box or bar below. So names of any length fit,
//! never turn and never collide, and no legend is needed. The charts are drawn in placeholder
//! colors, which are then replaced by variables of the style sheet: one SVG for light and dark.

use std::io;

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::format_units::{as_f64, bytes, count};
use crate::stats::Summary;
use crate::text::printable;

/// Colors in the style sheet; further contestants begin anew.
const SERIES_COUNT: usize = 5;
const TEXT: RGBColor = RGBColor(0xC0, 0xDE, 0xFF);
const GRID: RGBColor = RGBColor(0xC0, 0xDE, 0xFE);

const WIDE_PX: u32 = 880;
const NARROW_PX: u32 = 430;
const MARGIN_PX: u32 = 12;
const AXIS_PX: u32 = 46;
/// The SVG backend writes this divided by 1.24 as the font size: 13 px.
const FONT_SIZE: f64 = 16.0;
/// Width of a letter of that size, on the wide side.
const LETTER_PX: usize = 8;

type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// The runs of one contestant.
pub(super) struct Lane {
    pub(super) name: String,
    pub(super) summary: Option<Summary>,
    pub(super) samples: Vec<f64>,
}

/// What bars measure.
#[derive(Clone, Copy)]
pub(super) enum Axis {
    Bytes,
    Reads,
}

/// The variable of the style sheet that holds the color of a contestant.
pub(super) fn series(index: usize) -> String {
    format!("--series-{}", index % SERIES_COUNT)
}

/// Draws a horizontal box plot of times in seconds for each lane, with all samples.
pub(super) fn box_plots(title: &str, lanes: &[Lane]) -> io::Result<String> {
    const LANE_PX: u32 = 76;
    let max_s = lanes
        .iter()
        .flat_map(|lane| &lane.samples)
        .fold(0.0_f64, |max, time| max.max(*time));
    let (scale, unit) = if max_s < 0.9995 {
        (1e3, "milliseconds")
    } else {
        (1.0, "seconds")
    };
    let frame = Frame {
        title,
        unit: format!("{title} in {unit}"),
        width_px: WIDE_PX,
        lane_px: LANE_PX,
        lane_count: lanes.len(),
        max: max_s * scale * 1.03,
    };
    frame.draw(|chart| {
        for (index, lane) in lanes.iter().enumerate() {
            let top = as_f64(u64::from(LANE_PX)) * small(index);
            frame.name(chart, &lane.name, top)?;
            let color = placeholder(index);
            let Some(times) = &lane.summary else {
                frame.note(chart, "no counted run", top + 32.0)?;
                continue;
            };
            let x = |time_s: f64| time_s * scale;
            let line = |from: (f64, f64), to: (f64, f64), width: u32| {
                PathElement::new(vec![from, to], color.stroke_width(width))
            };
            let (high, middle, low) = (top + 21.0, top + 31.0, top + 41.0);
            let corners = [
                (x(times.lower_quartile), high),
                (x(times.upper_quartile), low),
            ];
            draw(chart, Rectangle::new(corners, color.mix(0.25).filled()))?;
            draw(chart, Rectangle::new(corners, color.stroke_width(1)))?;
            let whiskers = [
                (times.min, times.lower_quartile),
                (times.upper_quartile, times.max),
            ];
            for (from, to) in whiskers {
                draw(chart, line((x(from), middle), (x(to), middle), 2))?;
            }
            for end in [times.min, times.max] {
                draw(
                    chart,
                    line((x(end), middle - 5.0), (x(end), middle + 5.0), 2),
                )?;
            }
            draw(
                chart,
                line((x(times.median), high), (x(times.median), low), 4),
            )?;
            for time_s in &lane.samples {
                let dot = Circle::new((x(*time_s), top + 50.0), 4, color.mix(0.6).filled());
                draw(chart, dot)?;
            }
        }
        Ok(())
    })
}

/// Draws a horizontal bar for each contestant, with its value at the end.
pub(super) fn bars(
    title: &str,
    axis: Axis,
    amounts: &[(String, Option<u64>)],
) -> io::Result<String> {
    const LANE_PX: u32 = 54;
    let max = amounts
        .iter()
        .filter_map(|(_, amount)| *amount)
        .max()
        .unwrap_or(0);
    let (scale, unit) = match axis {
        Axis::Reads => (1.0, "reads"),
        Axis::Bytes => byte_unit(max),
    };
    let frame = Frame {
        title,
        unit: unit.to_owned(),
        width_px: NARROW_PX,
        lane_px: LANE_PX,
        lane_count: amounts.len(),
        // Room for the value behind the longest bar.
        max: as_f64(max) * scale * 1.28,
    };
    frame.draw(|chart| {
        for (index, (name, amount)) in amounts.iter().enumerate() {
            let top = as_f64(u64::from(LANE_PX)) * small(index);
            frame.name(chart, name, top)?;
            let Some(amount) = *amount else {
                frame.note(chart, "not measured", top + 27.0)?;
                continue;
            };
            let end = as_f64(amount) * scale;
            let color = placeholder(index);
            draw(
                chart,
                Rectangle::new([(0.0, top + 19.0), (end, top + 35.0)], color.filled()),
            )?;
            let value = match axis {
                Axis::Bytes => bytes(amount),
                Axis::Reads => count(amount),
            };
            let style = text_style().pos(Pos::new(HPos::Left, VPos::Center));
            let value = EmptyElement::at((end, top + 27.0)) + Text::new(value, (7, 0), style);
            draw(chart, value)?;
        }
        Ok(())
    })
}

/// What both kinds of charts have in common.
struct Frame<'a> {
    title: &'a str,
    unit: String,
    width_px: u32,
    lane_px: u32,
    lane_count: usize,
    /// Right end of the axis; it begins at 0, so that lengths can be compared.
    max: f64,
}

impl Frame<'_> {
    fn draw(&self, content: impl FnOnce(&mut Chart) -> io::Result<()>) -> io::Result<String> {
        let lanes = u32::try_from(self.lane_count).unwrap_or(u32::MAX);
        let lanes_px = lanes.saturating_mul(self.lane_px);
        let height_px = lanes_px.saturating_add(MARGIN_PX + AXIS_PX);
        let max = if self.max > 0.0 && self.max.is_finite() {
            self.max
        } else {
            1.0
        };
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, (self.width_px, height_px));
            let area = area.into_drawing_area();
            let mut chart = ChartBuilder::on(&area)
                .margin_left(MARGIN_PX)
                .margin_right(2 * MARGIN_PX)
                .margin_top(MARGIN_PX)
                .x_label_area_size(AXIS_PX)
                // Downwards, in pixels.
                .build_cartesian_2d(0.0..max, f64::from(lanes_px)..0.0)
                .map_err(io::Error::other)?;
            chart
                .configure_mesh()
                .disable_y_mesh()
                .x_labels(usize::try_from(self.width_px / 90).unwrap_or(4))
                .x_label_formatter(&|value| tick(*value))
                .x_desc(&self.unit)
                .bold_line_style(GRID)
                .light_line_style(TRANSPARENT)
                .axis_style(GRID)
                .label_style(text_style())
                .axis_desc_style(text_style())
                .draw()
                .map_err(io::Error::other)?;
            content(&mut chart)?;
            area.present().map_err(io::Error::other)?;
        }
        Ok(finish(&svg, self.title, self.width_px, height_px))
    }

    fn name(&self, chart: &mut Chart, name: &str, top: f64) -> io::Result<()> {
        let room_px = usize::try_from(self.width_px - 3 * MARGIN_PX).unwrap_or(0);
        let name = shortened(&printable(name.as_bytes()), room_px / LETTER_PX);
        draw(chart, Text::new(name, (0.0, top), text_style()))
    }

    fn note(&self, chart: &mut Chart, note: &str, middle: f64) -> io::Result<()> {
        let style = text_style().pos(Pos::new(HPos::Left, VPos::Center));
        draw(
            chart,
            Text::new(note.to_owned(), (self.max * 0.01, middle), style),
        )
    }
}

fn draw<'a, E>(chart: &mut Chart<'a>, element: E) -> io::Result<()>
where
    E: 'a,
    for<'b> &'b E: plotters::element::PointCollection<'b, (f64, f64)>,
    E: plotters::element::Drawable<SVGBackend<'a>>,
{
    chart
        .draw_series(std::iter::once(element))
        .map(drop)
        .map_err(io::Error::other)
}

fn text_style() -> TextStyle<'static> {
    ("system-ui", FONT_SIZE).into_font().color(&TEXT)
}

fn placeholder(index: usize) -> RGBColor {
    RGBColor(0xC0, 0xDE, u8::try_from(index % SERIES_COUNT).unwrap_or(0))
}

/// Puts the variables of the style sheet in the place of placeholder colors. Text from outside is
/// escaped by the backend and has no bare quote, so it cannot look like an attribute.
fn finish(svg: &str, title: &str, width_px: u32, height_px: u32) -> String {
    let size = format!("width=\"{width_px}\" height=\"{height_px}\" viewBox");
    let label = super::html::escape(title);
    let mut svg = svg.replacen(
        &size,
        &format!("role=\"img\" aria-label=\"{label}\" viewBox"),
        1,
    );
    let mut colors: Vec<(RGBColor, String)> = (0..SERIES_COUNT)
        .map(|index| (placeholder(index), format!("var({})", series(index))))
        .collect();
    colors.push((TEXT, "currentColor".to_owned()));
    colors.push((GRID, "var(--grid)".to_owned()));
    for (RGBColor(red, green, blue), variable) in colors {
        for attribute in ["fill", "stroke"] {
            let drawn = format!("{attribute}=\"#{red:02X}{green:02X}{blue:02X}\"");
            svg = svg.replace(&drawn, &format!("style=\"{attribute}:{variable}\""));
        }
    }
    svg
}

fn small(index: usize) -> f64 {
    as_f64(u64::try_from(index).unwrap_or(u64::MAX))
}

/// The binary unit in which `max` has one to four digits, and its inverse.
fn byte_unit(max: u64) -> (f64, &'static str) {
    let mut scale = 1.0;
    let mut name = "bytes";
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if as_f64(max) * scale < 1024.0 {
            break;
        }
        scale /= 1024.0;
        name = larger;
    }
    (scale, name)
}

/// A number on an axis: no more decimals than it needs.
fn tick(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// At most `letter_count` letters, cut in the middle: the ends of long names differ most.
fn shortened(name: &str, letter_count: usize) -> String {
    let name: Vec<char> = name
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .collect();
    if name.len() <= letter_count {
        return name.into_iter().collect();
    }
    let kept = letter_count.saturating_sub(1);
    let (head, tail) = (&name[..kept.div_ceil(2)], &name[name.len() - kept / 2..]);
    head.iter().chain(&['\u{2026}']).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_in_the_middle() {
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened("a-very-long-name", 7), "a-v\u{2026}ame");
        assert_eq!(shortened("tab\tnew\nline", 20), "tab new line");
    }

    #[test]
    fn ticks_and_units_are_plain() {
        assert_eq!(
            [0.0, 0.5, 10.0, 0.300_000_000_000_04].map(tick),
            ["0", "0.5", "10", "0.3"]
        );
        assert_eq!(byte_unit(1000), (1.0, "bytes"));
        assert_eq!(byte_unit(311 << 20), (1.0 / 1024.0 / 1024.0, "MiB"));
    }

    #[test]
    fn no_placeholder_color_is_left() {
        let lanes = [Lane {
            name: "fill=\"#C0DE00\"".into(),
            summary: None,
            samples: vec![],
        }];
        let svg = box_plots("Cold start", &lanes).expect("a string takes all");
        assert!(!svg.contains("=\"#C0DE"), "{svg}");
        // Text stays text.
        assert!(svg.contains("fill=&quot;#C0DE00&quot;"), "{svg}");
        assert!(svg.contains("style=\"fill:currentColor\""));
    }

    #[test]
    fn amounts_that_are_missing_or_zero_are_drawn() {
        let amounts = [("a".to_owned(), Some(0)), ("b".to_owned(), None)];
        let svg = bars("Reads", Axis::Reads, &amounts).expect("a string takes all");
        assert!(svg.contains("not measured"));
    }
}
