//! A boot chart as SVG: processors above disk above services above processes, over one axis of
//! time.

use std::io;

use coldpress_report::text::printable;
use coldpress_report::units::{as_f64, seconds};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::chart::{BootChart, Span};

const WIDTH_PX: u32 = 1000;
const MARGIN_PX: u32 = 12;
const TITLE_PX: u32 = 40;
const CURVE_PX: u32 = 110;
const LANE_PX: u32 = 14;
const HEADING_PX: u32 = 22;
const AXIS_PX: u32 = 40;
const SCALE_PX: u32 = 56;
/// Lanes of each kind: what took longest is drawn, a page of it.
const LANES_MAX: usize = 60;
const NAME_LETTERS_MAX: usize = 48;
/// Right of this share of the time a name stands left of its bar.
const NAMES_TURN_AT: f64 = 0.7;

const INK: RGBColor = RGBColor(0x26, 0x2b, 0x33);
const GRID: RGBColor = RGBColor(0xd5, 0xd9, 0xe0);
const PROCESSORS: RGBColor = RGBColor(0x2f, 0x6f, 0xb7);
const DISK: RGBColor = RGBColor(0xc0, 0x5a, 0x1d);
const UNITS: RGBColor = RGBColor(0x3d, 0x8b, 0x57);
const PROCESSES: RGBColor = RGBColor(0x80, 0x5a, 0xa8);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Axes<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// A curve or a set of lanes.
struct Panel {
    heading: String,
    color: RGBColor,
    height_px: u32,
    content: Content,
}

enum Content {
    /// (from, to, value), and the end of the scale.
    Curve(Vec<(f64, f64, f64)>, f64),
    Lanes(Vec<Span>),
}

/// Draws a boot chart as one SVG file of its own.
///
/// # Errors
///
/// [`io::Error`] if a value cannot be drawn.
pub fn boot_chart_svg(chart: &BootChart) -> io::Result<String> {
    let panels = panels(chart);
    let height_px = TITLE_PX + AXIS_PX + panels.iter().map(|panel| panel.height_px).sum::<u32>();
    // What was traced took longer.
    let end_s = chart.traced_boot_s.unwrap_or(0.0).max(chart.boot_s);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH_PX, height_px)).into_drawing_area();
        area.fill(&WHITE).map_err(io::Error::other)?;
        let (title, mut rest) = area.split_vertically(TITLE_PX);
        let words = format!(
            "{}: ready after {}",
            name(&chart.name),
            seconds(chart.boot_s)
        );
        let style = text(20.0).pos(Pos::new(HPos::Left, VPos::Center));
        let place = (px(SCALE_PX), px(TITLE_PX / 2));
        title
            .draw_text(&words, &style, place)
            .map_err(io::Error::other)?;
        for (index, panel) in panels.iter().enumerate() {
            let is_last = index + 1 == panels.len();
            let axis_px = if is_last { AXIS_PX } else { 0 };
            let (above, below) = rest.split_vertically(panel.height_px + axis_px);
            panel.draw(&above, end_s, axis_px)?;
            rest = below;
        }
        area.present().map_err(io::Error::other)?;
    }
    Ok(svg)
}

fn panels(chart: &BootChart) -> Vec<Panel> {
    let curve = |heading: String, color, rate: fn(&[super::ChartSample; 2]) -> f64, scale: f64| {
        let steps = chart.samples.array_windows().filter_map(|pair| {
            let (from, to) = (pair[0].at_s, pair[1].at_s);
            (to > from).then(|| (from, to, rate(pair) / (to - from)))
        });
        let steps: Vec<_> = steps.collect();
        let max = steps.iter().map(|step| step.2).fold(scale, f64::max);
        Panel {
            heading,
            color,
            height_px: HEADING_PX + CURVE_PX,
            content: Content::Curve(steps, max),
        }
    };
    let mut panels = vec![
        curve(
            format!("busy processors of {}", chart.cpus),
            PROCESSORS,
            |[from, to]| to.cpu_s - from.cpu_s,
            f64::from(chart.cpus),
        ),
        curve(
            "read from the disk, MB/s".to_owned(),
            DISK,
            |[from, to]| as_f64(to.read_bytes.saturating_sub(from.read_bytes)) / 1e6,
            0.1,
        ),
    ];
    panels.extend(lanes("services", UNITS, &chart.units));
    if let Some(traced_boot_s) = chart.traced_boot_s {
        let heading = format!(
            "processes, of a boot that was traced ({})",
            seconds(traced_boot_s)
        );
        panels.extend(lanes(&heading, PROCESSES, &chart.processes));
    }
    panels
}

/// Lanes for those that took longest, in the order in which they began.
fn lanes(heading: &str, color: RGBColor, spans: &[Span]) -> Option<Panel> {
    let mut shown: Vec<&Span> = spans.iter().collect();
    let length = |span: &Span| span.ended_s - span.began_s;
    shown.sort_by(|one, other| length(other).total_cmp(&length(one)));
    shown.truncate(LANES_MAX);
    shown.sort_by(|one, other| one.began_s.total_cmp(&other.began_s));
    let heading = match spans.len() - shown.len() {
        0 => heading.to_owned(),
        more => format!("{heading}; {more} shorter ones are not shown"),
    };
    let height_px = u32::try_from(shown.len()).ok()? * LANE_PX + HEADING_PX;
    (!shown.is_empty()).then(|| Panel {
        heading,
        color,
        height_px,
        content: Content::Lanes(shown.into_iter().cloned().collect()),
    })
}

impl Panel {
    fn draw(&self, area: &Area, end_s: f64, axis_px: u32) -> io::Result<()> {
        let (scale, is_curve) = match &self.content {
            Content::Curve(_, max) => (0.0..*max * 1.05, true),
            Content::Lanes(spans) => (as_f64(spans.len() as u64)..0.0, false),
        };
        let (head, body) = area.split_vertically(HEADING_PX);
        let style = text(15.0).pos(Pos::new(HPos::Left, VPos::Center));
        let place = (px(SCALE_PX), px(HEADING_PX / 2));
        head.draw_text(&self.heading, &style, place)
            .map_err(io::Error::other)?;
        let mut axes = ChartBuilder::on(&body)
            .margin_right(2 * MARGIN_PX)
            .set_label_area_size(LabelAreaPosition::Left, SCALE_PX)
            .set_label_area_size(LabelAreaPosition::Bottom, axis_px)
            .build_cartesian_2d(0.0..end_s.max(0.001) * 1.02, scale)
            .map_err(io::Error::other)?;
        axes.configure_mesh()
            .x_labels(12)
            .y_labels(if is_curve { 4 } else { 0 })
            .y_label_formatter(&|value| format!("{value:.1}"))
            .x_label_formatter(&|value| format!("{value:.1}"))
            .x_desc(if axis_px > 0 {
                "seconds since the machine was started"
            } else {
                ""
            })
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(GRID)
            .label_style(text(13.0))
            .draw()
            .map_err(io::Error::other)?;
        match &self.content {
            Content::Curve(steps, _) => self.curve(&mut axes, steps),
            Content::Lanes(spans) => self.bars(&mut axes, spans, end_s),
        }
    }

    fn curve(&self, axes: &mut Axes, steps: &[(f64, f64, f64)]) -> io::Result<()> {
        let boxes = steps.iter().map(|&(from, to, value)| {
            Rectangle::new([(from, 0.0), (to, value)], self.color.mix(0.8).filled())
        });
        axes.draw_series(boxes).map(drop).map_err(io::Error::other)
    }

    fn bars(&self, axes: &mut Axes, spans: &[Span], end_s: f64) -> io::Result<()> {
        for (index, span) in spans.iter().enumerate() {
            let top = as_f64(index as u64);
            // A dot of time is to be seen too.
            let ended_s = span.ended_s.max(span.began_s + end_s / 500.0);
            let corners = [(span.began_s, top + 0.2), (ended_s, top + 0.85)];
            let bar = Rectangle::new(corners, self.color.filled());
            axes.draw_series([bar]).map_err(io::Error::other)?;
            let (at, away_px, side) = if ended_s < end_s * NAMES_TURN_AT {
                (ended_s, 4, HPos::Left)
            } else {
                (span.began_s, -4, HPos::Right)
            };
            let style = text(13.0).pos(Pos::new(side, VPos::Center));
            let words = Text::new(name(&span.name), (away_px, 0), style);
            let label = EmptyElement::at((at, top + 0.5)) + words;
            axes.draw_series([label]).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

fn text(size: f64) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

fn px(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(0)
}

/// A name on one line that leaves room for others.
fn name(name: &str) -> String {
    let name = printable(name.as_bytes()).replace(['\n', '\t'], " ");
    match name.char_indices().nth(NAME_LETTERS_MAX) {
        Some((end, _)) => format!("{}\u{2026}", &name[..end]),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ChartSample;
    use super::*;

    fn span(name: &str, began_s: f64, ended_s: f64) -> Span {
        Span {
            name: name.to_owned(),
            began_s,
            ended_s,
        }
    }

    fn chart() -> BootChart {
        let sample = |at_s: f64, cpu_s: f64, read_bytes: u64| ChartSample {
            at_s,
            cpu_s,
            reads: 1,
            read_bytes,
        };
        BootChart {
            name: "xz </svg>".to_owned(),
            boot_s: 2.0,
            cpus: 2,
            samples: vec![
                sample(0.0, 0.0, 0),
                sample(1.0, 1.5, 3 << 20),
                sample(2.0, 1.6, 4 << 20),
            ],
            units: vec![
                span("late.service", 1.9, 2.0),
                span("early.service", 0.1, 0.1),
            ],
            processes: vec![span("udevd", 0.2, 2.5)],
            traced_boot_s: Some(3.0),
            lines: Vec::new(),
        }
    }

    #[test]
    fn a_chart_shows_each_of_its_parts_and_escapes_names() {
        let svg = boot_chart_svg(&chart()).expect("a string takes all");
        for part in [
            "xz &lt;/svg&gt;: ready after 2.00 s",
            "busy processors of 2",
            "MB/s",
            "services",
            "early.service",
            "late.service",
            "processes, of a boot that was traced (3.00 s)",
            "udevd",
            "seconds since the machine was started",
        ] {
            assert!(svg.contains(part), "{part}\n{svg}");
        }
        assert_eq!(svg.matches("</svg>").count(), 1);
    }

    #[test]
    fn a_boot_without_services_samples_or_time_is_drawn() {
        let mut chart = chart();
        chart.samples.clear();
        chart.units.clear();
        chart.processes.clear();
        (chart.boot_s, chart.traced_boot_s) = (0.0, None);
        let svg = boot_chart_svg(&chart).expect("a string takes all");
        assert!(!svg.contains("services") && !svg.contains("processes"));
        assert!(!svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn the_longest_of_many_are_shown() {
        let spans: Vec<Span> = (0..u32::try_from(LANES_MAX).unwrap() + 5)
            .map(|index| span(&format!("unit-{index}"), 0.0, f64::from(index)))
            .collect();
        let panel = lanes("services", UNITS, &spans).expect("lanes");
        assert_eq!(panel.heading, "services; 5 shorter ones are not shown");
        let Content::Lanes(shown) = panel.content else {
            panic!("lanes are lanes");
        };
        assert!(shown.iter().all(|span| span.ended_s >= 5.0));
    }
}
