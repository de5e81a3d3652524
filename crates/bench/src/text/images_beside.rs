//! Images beside each other, figure by figure.

use coldpress_report::Table;

use super::{COLUMNS, Cell};

/// What a name may take, so that three images fit in 80 characters: as much as the longest verdict.
const NAME_MAX: usize = 19;

/// One column for each image; one line for each figure, with its change before it, so that figures
/// stand below each other, and its interval and verdict below it.
pub fn images_beside(images: &[[Cell; COLUMNS.len()]]) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
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
        rows.push(std::iter::once(title.to_owned()).chain(first).collect());
        for line in below {
            if line.iter().any(|text| !text.is_empty()) {
                let cells = line.into_iter().cloned();
                rows.push(std::iter::once(String::new()).chain(cells).collect());
            }
        }
    }
    let table = Table {
        columns: Vec::new(),
        rows,
    };
    table.text_with_numbers(|column| column > 0)
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
        let text = images_beside(&[image.clone(), image.clone(), image]);
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        assert_eq!(text.lines().count(), 16, "{text}");
        assert!(text.contains("chromium..squashfs"), "{text}");
    }
}
