//! Marks that tell their value when they are pointed at, and the colors of the style sheet.
//!
//! A mark is an SVG element with a `<title>`, which browsers show without a script; the script of
//! the page shows it sooner, and for the keyboard.

use std::fmt::Write as _;

use plotters::prelude::RGBColor;

use crate::report::page::escape;

/// Colors in the style sheet; further contestants begin anew.
pub(super) const SERIES_COUNT: usize = 5;
pub(super) const TEXT: RGBColor = RGBColor(0xC0, 0xDE, 0xFF);
pub(super) const GRID: RGBColor = RGBColor(0xC0, 0xDE, 0xFE);

/// The variable of the style sheet that holds the color of a contestant.
pub(in crate::report) fn series(index: usize) -> String {
    format!("--series-{}", index % SERIES_COUNT)
}

/// Stands for the color of a contestant until [`finish`].
pub(super) fn placeholder(index: usize) -> RGBColor {
    RGBColor(0xC0, 0xDE, u8::try_from(index % SERIES_COUNT).unwrap_or(0))
}

/// The marks of one chart, as SVG.
#[derive(Default)]
pub(super) struct Marks {
    svg: String,
}

impl Marks {
    pub(super) fn dot(&mut self, at_px: (i32, i32), radius_px: u32, series: usize, tip: &str) {
        let (x, y) = at_px;
        let (series, tip) = (series % SERIES_COUNT, escape(tip));
        // Writing to a string does not fail.
        let _ = writeln!(
            self.svg,
            "<circle class=\"mark s{series}\" cx=\"{x}\" cy=\"{y}\" \
            r=\"{radius_px}\"><title>{tip}</title></circle>"
        );
    }

    pub(super) fn zone(&mut self, corners_px: [(i32, i32); 2], tip: &str) {
        let [(left, top), (right, bottom)] = corners_px;
        let (x, y) = (left.min(right), top.min(bottom));
        // Of a bar of length 0 there is something to point at.
        let (width, height) = (left.abs_diff(right).max(6), top.abs_diff(bottom).max(6));
        let tip = escape(tip);
        let _ = writeln!(
            self.svg,
            "<rect class=\"mark zone\" x=\"{x}\" y=\"{y}\" width=\"{width}\" \
            height=\"{height}\"><title>{tip}</title></rect>"
        );
    }
}

/// Puts marks into a chart, and the variables of the style sheet in the place of placeholder
/// colors. Text from outside is escaped by the backend and has no bare quote, so it cannot look
/// like an attribute.
pub(super) fn finish(svg: &str, title: &str, size_px: (u32, u32), marks: &Marks) -> String {
    let (width_px, height_px) = size_px;
    let size = format!("width=\"{width_px}\" height=\"{height_px}\" viewBox");
    let label = escape(title);
    let role = if marks.svg.is_empty() { "img" } else { "group" };
    let named = format!("role=\"{role}\" aria-label=\"{label}\" viewBox");
    let mut svg = svg.replacen(&size, &named, 1);
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
    let end = svg.rfind("</svg>").unwrap_or(svg.len());
    svg.insert_str(end, &marks.svg);
    svg
}
