//! Axes, and what is drawn inside them.

use std::io;
use std::ops::Range;

use coldpress_report::text::printable;
use coldpress_report::units::as_f64;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::marks::{self, GRID, Marks, TEXT, placeholder};

/// For charts that need a whole row of the page.
pub(super) const WIDE_PX: u32 = 880;
/// For charts that stand two in a row.
pub(super) const NARROW_PX: u32 = 430;

const MARGIN_PX: u32 = 12;
const AXIS_PX: u32 = 46;
const SIDE_AXIS_PX: u32 = 72;
/// The SVG backend writes this divided by 1.24 as the font size: 13 px.
const FONT_SIZE: f64 = 16.0;
/// Width of a letter of that size, on the wide side.
pub(super) const LETTER_PX: usize = 8;

type Context<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// One axis.
pub(super) struct Axis {
    /// What stands beside it.
    pub(super) unit: String,
    /// Its ends, in the numbers that are drawn.
    pub(super) ends: (f64, f64),
    /// A number as it is written beside the axis.
    pub(super) tick: fn(f64) -> String,
}

/// A chart before anything is drawn in it.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    pub(super) width_px: u32,
    /// Without margins and axes.
    pub(super) height_px: u32,
    pub(super) x: Axis,
    /// `None`: lanes, counted in pixels from the top.
    pub(super) y: Option<Axis>,
}

impl Frame<'_> {
    /// Draws axes and what `fill` draws into them.
    pub(super) fn draw(
        &self,
        fill: impl FnOnce(&mut Plot) -> io::Result<()>,
    ) -> io::Result<String> {
        let height_px = self.height_px.saturating_add(MARGIN_PX + AXIS_PX);
        let x = span(self.x.ends);
        let y = match &self.y {
            Some(axis) => span(axis.ends),
            None => f64::from(self.height_px.max(1))..0.0,
        };
        let side_px = if self.y.is_some() { SIDE_AXIS_PX } else { 0 };
        let mut svg = String::new();
        let marks = {
            let area = SVGBackend::with_string(&mut svg, (self.width_px, height_px));
            let area = area.into_drawing_area();
            let mut context = ChartBuilder::on(&area)
                .margin_left(MARGIN_PX)
                .margin_right(2 * MARGIN_PX)
                .margin_top(MARGIN_PX)
                .x_label_area_size(AXIS_PX)
                .y_label_area_size(side_px)
                .build_cartesian_2d(x.clone(), y.clone())
                .map_err(io::Error::other)?;
            self.mesh(&mut context)?;
            let room_px = self.width_px.saturating_sub(3 * MARGIN_PX + side_px);
            let mut plot = Plot {
                context,
                axes: [x, y],
                room_px,
                marks: Marks::default(),
            };
            fill(&mut plot)?;
            area.present().map_err(io::Error::other)?;
            plot.marks
        };
        Ok(marks::finish(
            &svg,
            self.title,
            (self.width_px, height_px),
            &marks,
        ))
    }

    fn mesh(&self, context: &mut Context) -> io::Result<()> {
        let x_tick = |value: &f64| (self.x.tick)(*value);
        let y_tick = |value: &f64| self.y.as_ref().map_or(String::new(), |y| (y.tick)(*value));
        let mut mesh = context.configure_mesh();
        mesh.x_labels(usize::try_from(self.width_px / 90).unwrap_or(4))
            .x_label_formatter(&x_tick)
            .x_desc(&self.x.unit)
            .y_labels(6)
            .y_label_formatter(&y_tick)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(GRID)
            .label_style(text_style())
            .axis_desc_style(text_style());
        match &self.y {
            Some(y) => mesh.y_desc(&y.unit),
            None => mesh.disable_y_mesh(),
        };
        mesh.draw().map_err(io::Error::other)
    }
}

/// The inside of a chart. Places are in the numbers of its axes.
pub(super) struct Plot<'a> {
    context: Context<'a>,
    axes: [Range<f64>; 2],
    room_px: u32,
    marks: Marks,
}

impl<'a> Plot<'a> {
    /// A filled rectangle between two corners.
    pub(super) fn rectangle(
        &mut self,
        corners: [(f64, f64); 2],
        series: usize,
        opacity: f64,
    ) -> io::Result<()> {
        let fill = placeholder(series).mix(opacity).filled();
        let corners = corners.map(|corner| self.inside(corner));
        self.draw(Rectangle::new(corners, fill))
    }

    /// A line through some places, in the color of a contestant or, without one, that of the text.
    pub(super) fn line(
        &mut self,
        places: Vec<(f64, f64)>,
        series: Option<usize>,
        width_px: u32,
    ) -> io::Result<()> {
        let color = series.map_or(TEXT, placeholder);
        let places: Vec<_> = places.into_iter().map(|at| self.inside(at)).collect();
        self.draw(PathElement::new(places, color.stroke_width(width_px)))
    }

    /// The name of a lane, at its top left.
    pub(super) fn name(&mut self, name: &str, at: (f64, f64), indent_px: u32) -> io::Result<()> {
        let room_px = usize::try_from(self.room_px.saturating_sub(indent_px)).unwrap_or(0);
        let name = shortened(&printable(name.as_bytes()), room_px / LETTER_PX);
        let indent_px = i32::try_from(indent_px).unwrap_or(0);
        self.draw(EmptyElement::at(self.inside(at)) + Text::new(name, (indent_px, 0), text_style()))
    }

    /// A text that begins right of a place, at its height.
    pub(super) fn text_beside(&mut self, text: &str, at: (f64, f64)) -> io::Result<()> {
        let style = text_style().pos(Pos::new(HPos::Left, VPos::Center));
        let text = printable(text.as_bytes());
        self.draw(EmptyElement::at(self.inside(at)) + Text::new(text, (7, 0), style))
    }

    /// A text whose upper left corner lies some pixels off a place.
    pub(super) fn text_off(
        &mut self,
        text: &str,
        at: (f64, f64),
        offset_px: (i32, i32),
    ) -> io::Result<()> {
        let text = printable(text.as_bytes());
        self.draw(EmptyElement::at(self.inside(at)) + Text::new(text, offset_px, text_style()))
    }

    /// A dot that tells its value.
    pub(super) fn dot(&mut self, at: (f64, f64), radius_px: u32, series: usize, tip: &str) {
        let (x_px, y_px) = self.place_px(at);
        self.marks.dot((x_px, y_px), radius_px, series, tip);
    }

    /// A rectangle that tells its value, and is not drawn.
    pub(super) fn zone(&mut self, corners: [(f64, f64); 2], tip: &str) {
        let corners = corners.map(|corner| self.place_px(corner));
        self.marks.zone(corners, tip);
    }

    /// Pixels from the top left corner of the chart.
    pub(super) fn place_px(&self, at: (f64, f64)) -> (i32, i32) {
        self.context.backend_coord(&self.inside(at))
    }

    /// The place, or the one at the end of the axes that is next to it: far outside, pixels have no
    /// numbers.
    fn inside(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let [along_x, along_y] = &self.axes;
        let clamp = |value: f64, axis: &Range<f64>| {
            value.clamp(axis.start.min(axis.end), axis.end.max(axis.start))
        };
        (clamp(x, along_x), clamp(y, along_y))
    }

    fn draw<E>(&mut self, element: E) -> io::Result<()>
    where
        E: 'a,
        for<'b> &'b E: plotters::element::PointCollection<'b, (f64, f64)>,
        E: plotters::element::Drawable<SVGBackend<'a>>,
    {
        self.context
            .draw_series(std::iter::once(element))
            .map(drop)
            .map_err(io::Error::other)
    }
}

/// The farthest that an axis reaches, and its least length and part of that: ticks are set by
/// adding steps, which never arrives where a step is less than a digit of the place. Samples of
/// others may hold any numbers.
const FARTHEST: f64 = 1e18;
const SHORTEST: f64 = 1e-12;
const SHORTEST_PART: f64 = 1e-9;

/// An axis needs a length.
fn span((from, to): (f64, f64)) -> Range<f64> {
    let far = from.abs().max(to.abs());
    let is_drawable = far <= FARTHEST && to - from >= SHORTEST.max(far * SHORTEST_PART);
    if is_drawable { from..to } else { 0.0..1.0 }
}

fn text_style() -> TextStyle<'static> {
    ("system-ui", FONT_SIZE).into_font().color(&TEXT)
}

/// Where a lane begins, in pixels from the top.
pub(super) fn lane_top(index: usize, lane_px: u32) -> f64 {
    as_f64(u64::try_from(index).unwrap_or(u64::MAX)) * f64::from(lane_px)
}

/// How high some lanes are.
pub(super) fn lanes_px(count: usize, lane_px: u32) -> u32 {
    u32::try_from(count)
        .unwrap_or(u32::MAX)
        .saturating_mul(lane_px)
}

/// A number on an axis: no more decimals than it needs.
pub(super) fn tick(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// At most `letter_count` letters, cut in the middle: the ends of long names differ most.
pub(super) fn shortened(name: &str, letter_count: usize) -> String {
    let name: Vec<char> = name
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .collect();
    if name.len() <= letter_count {
        return name.into_iter().collect();
    }
    let kept = letter_count.saturating_sub(1);
    let head = name.iter().take(kept.div_ceil(2));
    let tail = name.iter().skip(name.len() - kept / 2);
    head.chain(&['\u{2026}']).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_in_the_middle() {
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened("a-very-long-name", 7), "a-v\u{2026}ame");
        assert_eq!(shortened("tab\tnew\nline", 20), "tab new line");
        assert_eq!(shortened("name", 0), "\u{2026}");
    }

    #[test]
    fn ticks_have_no_needless_digits() {
        assert_eq!(
            [0.0, 0.5, 10.0, 0.300_000_000_000_04].map(tick),
            ["0", "0.5", "10", "0.3"]
        );
    }

    #[test]
    fn an_axis_without_a_length_gets_one() {
        for ends in [
            (0.0, 0.0),
            (1.0, f64::INFINITY),
            (f64::NAN, 1.0),
            (2.0, 1.0),
            (-1e308, 1e308),
            (1e17, 1e17 + 16.0),
            (0.0, 5e-324),
        ] {
            assert_eq!(span(ends), 0.0..1.0);
        }
        assert_eq!(span((-1.0, 3.0)), -1.0..3.0);
    }
}
