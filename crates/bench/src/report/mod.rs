//! The report: one HTML file that answers a question and shows the evidence.
//!
//! Question, answer, evidence, conditions, in this order. The file needs no network, no scripts and
//! no other file; charts are inline SVG. It shows every sample, every excluded run and every loss,
//! since a table that only wins is not believed.

mod charts;
mod conditions;
mod html;

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::comparison::Comparison;
use crate::rows::Row;
use crate::run::Run;
use crate::stats::{Summary, Verdict};
use crate::text::COLUMNS;
use charts::{Axis, Lane, bars, box_plots};
use html::Page;

/// What a report tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was measured.
    pub comparison: Comparison,
    /// The heading.
    pub title: String,
    /// Facts beside the measurement, as (name, value): plan, build times, checks, tool versions.
    pub notes: Vec<(String, String)>,
}

/// Writes the report as one HTML file.
///
/// # Errors
///
/// Those of `out`.
///
/// # Cost
///
/// That of [`Comparison::rows`]; the file has some 100 KB and is built in memory.
pub fn report_html(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let comparison = &report.comparison;
    let rows = comparison.rows();
    let mut page = Page::new(&report.title);
    answer(&mut page, comparison, &rows);
    results(&mut page, &rows);
    times(&mut page, comparison, &rows)?;
    amounts(&mut page, &rows)?;
    conditions::excluded(&mut page, comparison);
    conditions::notes(&mut page, &report.notes);
    conditions::conditions(&mut page, comparison);
    conditions::method(&mut page);
    conditions::samples(&mut page, comparison);
    out.write_all(page.finish().as_bytes())
}

fn answer(page: &mut Page, comparison: &Comparison, rows: &[Row]) {
    page.push("<p class=\"question\">How long does <code>");
    page.text(&comparison.command.line());
    page.push("</code> take to start, if nothing of it is in memory?</p>\n");
    for (index, sentence) in comparison.answers(rows).iter().enumerate() {
        let row = rows.get(index + 1);
        let verdict = row
            .and_then(|row| row.versus?.cold)
            .map(|cold| cold.verdict);
        let class = match verdict {
            Some(Verdict::Faster) => "answer faster",
            Some(Verdict::Slower) => "answer slower",
            _ => "answer",
        };
        page.element("p", class, sentence);
    }
}

fn results(page: &mut Page, rows: &[Row]) {
    page.section("Results");
    page.push("<div class=\"wide results\"><table><thead><tr>");
    for column in COLUMNS {
        page.push("<th scope=\"col\">");
        page.text(column);
        page.push("</th>");
    }
    page.push("</tr></thead><tbody>\n");
    for (index, row) in rows.iter().enumerate() {
        page.push("<tr>");
        for (column, cell) in row.cells().iter().enumerate() {
            if column == 0 {
                let series = charts::series(index);
                page.push(&format!(
                    "<th scope=\"row\"><i style=\"background:var({series})\"></i>"
                ));
            } else {
                page.push("<td>");
            }
            page.text(&cell.value);
            for more in [&cell.change, &cell.detail, &cell.verdict] {
                if !more.is_empty() {
                    page.element("small", "", more);
                }
            }
            page.push(if column == 0 { "</th>" } else { "</td>" });
        }
        page.push("</tr>\n");
    }
    page.push("</tbody></table></div>\n");
    if let Some((baseline, others)) = rows.split_first().filter(|(_, others)| !others.is_empty()) {
        losses(page, baseline, others);
    }
}

fn losses(page: &mut Page, baseline: &Row, others: &[Row]) {
    let sentence = format!(
        "Times are medians with their 95 % intervals. Ratios are those to {}; below 1 is better.",
        baseline.name
    );
    page.element("p", "hint", &sentence);
    page.push("<h3>What got worse</h3>\n<ul>\n");
    for row in others {
        let losses = row.losses();
        let clauses = match losses.as_slice() {
            [] => "shows no loss in what was measured".to_owned(),
            [only] => only.clone(),
            [first @ .., last] => format!("{} and {last}", first.join(", ")),
        };
        page.element("li", "", &format!("{} {clauses}.", row.name));
    }
    page.push("</ul>\n");
}

fn times(page: &mut Page, comparison: &Comparison, rows: &[Row]) -> io::Result<()> {
    let lanes = |time_s: fn(&Run) -> Option<f64>, summary: fn(&Row) -> Option<Summary>| {
        let lane = |(index, row): (usize, &Row)| Lane {
            name: row.name.clone(),
            summary: summary(row),
            samples: comparison.counted(index).filter_map(time_s).collect(),
        };
        rows.iter().enumerate().map(lane).collect::<Vec<_>>()
    };
    let cold = box_plots("Cold start", &lanes(|run| run.cold_s, |row| row.cold_s))?;
    let warm = box_plots("Warm start", &lanes(|run| run.warm_s, |row| row.warm_s))?;
    for (title, chart) in [("Cold starts", cold), ("Warm starts", warm)] {
        page.section(title);
        page.push("<div class=\"wide\">");
        page.push(&chart);
        page.push("</div>\n");
    }
    page.element(
        "p",
        "hint",
        "A box holds the middle half of the runs, its line is the median, its whiskers reach to \
         the fastest and the slowest run. Each dot is a run.",
    );
    Ok(())
}

fn amounts(page: &mut Page, rows: &[Row]) -> io::Result<()> {
    page.section("Size, reads and memory");
    page.push("<div class=\"charts\">\n");
    let mut chart = |title: &str, axis: Axis, amount: fn(&Row) -> Option<u64>| {
        let amounts: Vec<_> = rows
            .iter()
            .map(|row| (row.name.clone(), amount(row)))
            .collect();
        page.push("<figure>");
        page.element("figcaption", "", title);
        page.push(&bars(title, axis, &amounts)?);
        page.push("</figure>\n");
        io::Result::Ok(())
    };
    chart("Image size", Axis::Bytes, |row| Some(row.size_bytes))?;
    chart("Reads in a cold start", Axis::Reads, |row| row.reads)?;
    chart("Bytes read in a cold start", Axis::Bytes, |row| {
        row.read_bytes
    })?;
    chart("Page cache after both starts", Axis::Bytes, |row| {
        row.page_cache_bytes
    })?;
    page.push("</div>\n");
    Ok(())
}

#[cfg(test)]
mod tests;
