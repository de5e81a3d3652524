//! Heat maps: how often something happened, by time and place.

use std::io;

use coldpress_report::units::{as_f64, count};

use super::frame::{Axis, Frame, WIDE_PX, tick};
use crate::report::HeatMap;

const HEIGHT_PX: u32 = 380;
/// A cell with one is to be seen beside one with thousands.
const OPACITY_MIN: f64 = 0.18;

/// Draws a rectangle for each cell that has any, the denser the more; by the logarithm, as few
/// cells have most.
pub(in crate::report) fn heat_map(chart: &HeatMap) -> io::Result<String> {
    let [x_unit, y_unit] = chart.axes.clone();
    let axis = |unit: String, end: f64| Axis {
        unit,
        ends: (0.0, end),
        tick,
    };
    let frame = Frame {
        title: &chart.title,
        width_px: WIDE_PX,
        height_px: HEIGHT_PX,
        x: axis(x_unit, chart.ends.0),
        y: Some(axis(y_unit, chart.ends.1)),
    };
    let most = chart.rows.iter().flatten().max().copied().unwrap_or(0);
    let heat = |count: u64| (as_f64(count) + 1.0).log2() / (as_f64(most) + 1.0).log2();
    let height = chart.ends.1 / places(chart.rows.len());
    frame.draw(|plot| {
        for (row, cells) in chart.rows.iter().enumerate() {
            let width = chart.ends.0 / places(cells.len());
            for (column, &cell) in cells.iter().enumerate() {
                if cell == 0 {
                    continue;
                }
                let (x, y) = (place(column) * width, place(row) * height);
                let corners = [(x, y), (x + width, y + height)];
                plot.rectangle(corners, 1, heat(cell).max(OPACITY_MIN))?;
                let tip = format!(
                    "{} {}, {} to {} {}, from {} {} on",
                    count(cell),
                    chart.counted,
                    tick(x.round()),
                    tick((x + width).round()),
                    chart.axes[0],
                    tick(y.round()),
                    chart.axes[1]
                );
                plot.zone(corners, &tip);
            }
        }
        Ok(())
    })
}

fn place(index: usize) -> f64 {
    as_f64(u64::try_from(index).unwrap_or(u64::MAX))
}

fn places(count: usize) -> f64 {
    place(count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cells_with_something_are_drawn() {
        let mut chart = HeatMap {
            title: "image".to_owned(),
            axes: ["ms".to_owned(), "MiB".to_owned()],
            ends: (100.0, 10.0),
            counted: "reads".to_owned(),
            rows: vec![vec![0, 1, 0], vec![1500, 0, 0]],
        };
        let svg = heat_map(&chart).expect("a string takes all");
        assert_eq!(svg.matches("class=\"mark zone\"").count(), 2);
        let tip = "1,500 reads, 0 to 33 ms, from 5 MiB on";
        assert!(svg.contains(tip), "{svg}");
        for rows in [Vec::new(), vec![Vec::new()], vec![vec![0]]] {
            chart.rows = rows;
            chart.ends = (0.0, 0.0);
            assert!(
                heat_map(&chart)
                    .expect("a string takes all")
                    .starts_with("<svg")
            );
        }
    }
}
