//! The results of a build study, as two tables.

use std::io::Write as _;

use coldpress_bench::build_study::{BuildRow, Matrix, UnpackRow};
use coldpress_bench::figure;
use coldpress_bench::stats::Summary;
use coldpress_report::text::wrapped;
use coldpress_report::units::seconds;
use coldpress_session::ui::Ui;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

const LEGEND: &str = "* on the Pareto front: no other is as good in build time, size and unpack \
time, and better in one. Medians; \
+- is half of the range of the middle half of the runs. Unpack time is that of the fastest \
way.";

/// Prints both to standard output.
pub(super) fn print(
    builds: &[BuildRow],
    unpacks: &[UnpackRow],
    matrix: &Matrix,
    ui: &Ui,
) -> anyhow::Result<()> {
    let mut out = ui.out();
    writeln!(out, "{}", build_table(builds))?;
    if !unpacks.is_empty() {
        writeln!(out, "\n{}", unpack_table(unpacks, matrix))?;
    }
    writeln!(out, "\n{}", wrapped(LEGEND, out.width()))?;
    out.flush()?;
    Ok(())
}

fn build_table(rows: &[BuildRow]) -> String {
    let mut table = table(["", "build", "+-", "cores", "size", "%", "memory", "unpack"]);
    for row in rows {
        let cell = |name, value: Option<f64>| value.map(|value| figure(name, value));
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
        table.add_row(std::iter::once(name).chain(cells.map(or_dash)));
    }
    trimmed(table)
}

/// A row for each image, a column for each way to unpack it.
fn unpack_table(rows: &[UnpackRow], matrix: &Matrix) -> String {
    let of_image = |image| {
        let ways = matrix.unpacks.iter().zip(rows);
        ways.filter(move |(unpack, _)| unpack.image == image)
    };
    // Above each other, as the names are wider than the times.
    let ways = of_image(0).map(|(unpack, _)| unpack.to_string().replace(' ', "\n"));
    let mut table = table(std::iter::once("unpack".to_owned()).chain(ways));
    for (index, image) in matrix.images.iter().enumerate() {
        let times = of_image(index).map(|(_, row)| {
            let time = row.unpack_s.map(|summary| seconds(summary.median));
            or_dash(time)
        });
        table.add_row(std::iter::once(format!("  {image}")).chain(times));
    }
    trimmed(table)
}

fn table<T: Into<comfy_table::Cell>>(header: impl IntoIterator<Item = T>) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(
            header
                .into_iter()
                .map(Into::into)
                .collect::<Vec<comfy_table::Cell>>(),
        );
    table
}

fn trimmed(mut table: Table) -> String {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
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
