//! The results of a build study, as two tables.

use coldpress_report::Table;
use coldpress_report::units::seconds;

use super::{BuildRow, Image, Matrix, UnpackRow};
use crate::figure::formatted;
use crate::stats::Summary;

/// What the marks and figures of both tables mean.
pub const BUILD_LEGEND: &str = "* on the Pareto front: no other is as good in build time, size and unpack \
time, and better in one. Medians; \
+- is half of the range of the middle half of the runs. Unpack time is that of the fastest \
way.";

/// A row for each way to make an image.
pub fn build_table(rows: &[BuildRow]) -> String {
    let columns = ["", "build", "+-", "cores", "size", "%", "memory", "unpack"];
    let row = |row: &BuildRow| {
        let cell = |name, value: Option<f64>| value.map(|value| formatted(name, value));
        let cells = [
            row.build_s.map(|summary| seconds(summary.median)),
            row.build_s.and_then(|summary| spread(&summary)),
            cell("used_cores", row.used_cores),
            cell("size_bytes", row.size_bytes),
            row.size_percent.map(|percent| format!("{percent:.1}")),
            cell("peak_memory_bytes", row.peak_memory_bytes),
            row.unpack_s.map(seconds),
        ];
        let mark = if row.is_on_front { "*" } else { " " };
        let name = format!("{mark} {}", row.name);
        std::iter::once(name).chain(cells.map(or_dash)).collect()
    };
    text(columns.map(str::to_owned).to_vec(), rows.iter().map(row))
}

/// A row for each image, a column for each way to unpack it.
pub fn unpack_table(rows: &[UnpackRow], matrix: &Matrix) -> String {
    let of_image = |image| {
        let ways = matrix.unpacks.iter().zip(rows);
        ways.filter(move |(unpack, _)| unpack.image == image)
    };
    // Above each other, as the names are wider than the times.
    let ways = of_image(0).map(|(unpack, _)| unpack.to_string().replace(' ', "\n"));
    let columns = std::iter::once("unpack".to_owned()).chain(ways);
    let row = |(index, image): (usize, &Image)| {
        let times = of_image(index).map(|(_, row)| {
            let time = row.unpack_s.map(|summary| seconds(summary.median));
            or_dash(time)
        });
        std::iter::once(format!("  {image}")).chain(times).collect()
    };
    text(columns.collect(), matrix.images.iter().enumerate().map(row))
}

fn text(columns: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let table = Table {
        columns,
        rows: rows.collect(),
    };
    table.text_with_numbers(|column| column > 0)
}

/// Half of the range between the quartiles, in percent of the median; nothing of one run.
fn spread(times: &Summary) -> Option<String> {
    let half = (times.upper_quartile - times.lower_quartile) / 2.0;
    let percent = 100.0 * half / times.median;
    (times.count > 1).then(|| format!("{percent:.0} %"))
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}
