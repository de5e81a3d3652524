//! What was proven, in a screenful.

use std::io::Write as _;

use coldpress_bench::rows;
use coldpress_bench::text::{COLUMNS, Cell, answers, exclusions, floors};
use coldpress_history::Study;
use coldpress_report::text::wrapped;
use coldpress_session::ui::Ui;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::predicted;

/// What a name may take, so that three images fit in 80 characters: as much as the longest verdict.
const NAME_MAX: usize = 19;

/// Prints figures and answers to standard output.
pub(crate) fn print(study: &Study, ui: &Ui) -> anyhow::Result<()> {
    let rows = rows(study);
    let cells: Vec<_> = rows.iter().map(coldpress_bench::Row::cells).collect();
    let mut out = ui.out();
    writeln!(out, "{}\n", table(&cells))?;
    let losses = rows.iter().filter_map(|row| {
        let losses = row.losses();
        (!losses.is_empty()).then(|| format!("{} {}.", row.name, losses.join(", ")))
    });
    let predictions = study.contestants.iter().zip(&rows);
    let predictions = predictions.filter_map(|(one, row)| predicted::sentence(&one.figures, row));
    let sentences = answers(&rows).into_iter();
    let width = out.width();
    for sentence in sentences
        .chain(losses)
        .chain(predictions)
        .chain(floors(&rows))
        .chain(exclusions(study))
    {
        writeln!(out, "{}", wrapped(&sentence, width))?;
    }
    out.flush()?;
    Ok(())
}

/// One column for each image; one line for each figure, with its change before it, so that figures
/// stand below each other, and its interval and verdict below it.
fn table(images: &[[Cell; COLUMNS.len()]]) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    for (index, column) in COLUMNS.iter().enumerate() {
        let figures = images.iter().map(|image| &image[index]);
        let title = if index == 0 { "" } else { column };
        let first = figures.clone().map(|cell| match cell.change.as_str() {
            "" if index == 0 => shortened(&cell.value),
            "" => cell.value.clone(),
            change => format!("{change}  {}", cell.value),
        });
        let below = [
            figures.clone().map(|cell| &cell.detail).collect::<Vec<_>>(),
            figures.map(|cell| &cell.verdict).collect(),
        ];
        table.add_row(std::iter::once(title.to_owned()).chain(first));
        for line in below {
            if line.iter().any(|text| !text.is_empty()) {
                table.add_row(std::iter::once("").chain(line.into_iter().map(String::as_str)));
            }
        }
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// A name that is too long for its column, without its middle.
fn shortened(name: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    if characters.len() <= NAME_MAX {
        return name.to_owned();
    }
    let half = (NAME_MAX - 2) / 2;
    let begin: String = characters[..half].iter().collect();
    let end: String = characters[characters.len() - half..].iter().collect();
    format!("{begin}..{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_images_fit_in_80_columns_and_one_screen() {
        let cell = |value: &str, change: &str, detail: &str, verdict: &str| Cell {
            value: value.into(),
            change: change.into(),
            detail: detail.into(),
            verdict: verdict.into(),
        };
        let image = [
            cell(
                "chromium-131-amd64.squashfs",
                "",
                "10 runs, 10 excluded",
                "",
            ),
            cell("1023 MiB", "-12.3 %", "", ""),
            cell("88.8 ms", "", "88.8 ms to 88.8 ms", ""),
            cell("88.8 ms", "", "88.8 ms to 88.8 ms", ""),
            cell("88,888", "+100.3 %", "", ""),
            cell("1023 MiB", "+100.3 %", "", ""),
            cell("1023 MiB", "+100.3 %", "", ""),
            cell("0.888", "", "0.888 to 0.888", "no difference shown"),
            cell("0.888", "", "0.888 to 0.888", "no difference shown"),
        ];
        let text = table(&[image.clone(), image.clone(), image]);
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        assert_eq!(text.lines().count(), 16, "{text}");
        assert!(text.contains("chromium..squashfs"), "{text}");
    }
}
