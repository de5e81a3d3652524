//! Every run, at full precision.

use std::collections::BTreeSet;

use coldpress_history::Run;

use super::page::Page;
use super::view::View;
use crate::figure;

/// Runs that a table shows; the rows of more would make a page of many megabytes.
const ROWS_MAX: usize = 10_000;

/// Writes the table of all runs, folded, and the button that saves them.
pub(super) fn write(page: &mut Page, index: usize, view: &View) {
    page.element("h3", "", "Samples");
    page.push(&format!(
        "<p class=\"tools\" hidden><button type=\"button\" data-csv=\"{index}\">CSV</button></p>\n"
    ));
    let runs = &view.study.runs;
    if runs.is_empty() {
        let text = "There are no single runs; the figures of the contestants are those of the \
        table of results.";
        page.element("p", "hint", text);
        return;
    }
    let figures = figures_of_runs(view);
    let head = ["turn", "contestant"].map(str::to_owned).into_iter();
    let titles = figures.iter().map(|name| (*name).to_owned());
    let columns: Vec<String> = head.chain(titles).chain(["counts".to_owned()]).collect();
    page.push("<details><summary>All runs</summary>\n");
    let rows = runs.iter().take(ROWS_MAX).map(|run| {
        let values = figures.iter().map(|name| match run.figures.get(*name) {
            Some(value) => number(*value).into(),
            None => "-".into(),
        });
        let counts = match &run.excluded {
            None => "yes".into(),
            Some(reason) => format!("no: {reason}").into(),
        };
        let turn = run.turn.saturating_add(1).to_string().into();
        let name = view.name(run.contestant).into();
        [turn, name]
            .into_iter()
            .chain(values)
            .chain([counts])
            .collect()
    });
    page.table(&columns, rows);
    if let Some(more) = runs.len().checked_sub(ROWS_MAX).filter(|more| *more > 0) {
        let text = format!("{more} more runs are in the data of this page, and in the CSV file.");
        page.element("p", "hint", &text);
    }
    page.push("</details>\n");
}

/// What was measured run by run, in the order of tables.
pub(super) fn figures_of_runs<'v>(view: &'v View) -> Vec<&'v str> {
    let names = |run: &'v Run| run.figures.keys().map(String::as_str);
    let found: BTreeSet<&str> = view.study.runs.iter().flat_map(names).collect();
    let mut found: Vec<&str> = found.into_iter().collect();
    found.sort_by_key(|name| figure::place(name));
    found
}

/// As few digits as say the same number, and not more than a nanosecond needs.
fn number(value: f64) -> String {
    let text = format!("{value:.9}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_full() {
        let cases = [
            (0.0, "0"),
            (1.25, "1.25"),
            (5.240_323_069, "5.240323069"),
            (144_000_000.0, "144000000"),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value), expected);
        }
    }
}
