//! The report: one HTML file that answers a question and shows the evidence.
//!
//! Question, answer, evidence, conditions, in this order, for each study; then what several studies
//! show together. The file needs no network and no other file; charts are inline SVG. It is
//! complete without its script, which adds values on hover and downloads. It shows every sample,
//! every excluded run and every loss, since a table that only wins is not believed.

mod answers;
mod article;
mod beside;
mod boots;
mod charts;
mod conditions;
mod data;
mod file_sizes;
mod fronts;
mod losses;
mod page;
mod results;
mod samples;
mod sections;
mod times;
mod view;
mod waterfall;

pub use file_sizes::FileSizes;
pub use sections::{
    Exhibit, HeatMap, Scatter, ScatterLine, ScatterSpot, Section, Timeline, TimelineSpot,
};
pub use waterfall::{TaskSpan, Waterfall};

use std::io::{self, Write};

use coldpress_history::Study;

use charts::waterfall;
use page::Page;
use view::View;

/// What a report tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The heading.
    pub title: String,
    /// What was measured, ours and that of others.
    pub studies: Vec<Study>,
    /// What others tell, before the studies.
    pub sections: Vec<Section>,
    /// What was done, task by task.
    pub changes: Vec<Waterfall>,
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
/// Two bootstraps for each contestant and time. The file has some 100 KB, 3 MB with ten thousand
/// runs, and is built in memory.
pub fn report_html(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let views: Vec<View> = report.studies.iter().map(View::new).collect();
    let mut page = Page::new(&report.title);
    contents(&mut page, &views);
    for (index, view) in views.iter().enumerate() {
        article::write(&mut page, index, view)?;
    }
    boots::write(&mut page, &views);
    beside::write(&mut page, &views);
    sections::write(&mut page, &report.sections)?;
    changes(&mut page, &report.changes)?;
    conditions::notes(&mut page, &report.notes);
    // What is no study has no intervals to explain.
    if report.sections.is_empty() || !views.is_empty() {
        conditions::method(&mut page, &views);
    }
    out.write_all(page.finish(&data::json(&views)).as_bytes())
}

/// Links to the studies, where there are several.
fn contents(page: &mut Page, views: &[View]) {
    if views.len() < 2 {
        return;
    }
    page.push("<nav aria-label=\"Studies\"><ol>\n");
    for (index, view) in views.iter().enumerate() {
        page.push(&format!("<li><a href=\"#study-{index}\">"));
        page.text(&view.study.title);
        page.push("</a>");
        if view.is_published() {
            page.push(" <small class=\"badge\">published</small>");
        }
        page.push("</li>\n");
    }
    page.push("</ol></nav>\n");
}

fn changes(page: &mut Page, changes: &[Waterfall]) -> io::Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    page.section("changes", "What was done, task by task");
    for change in changes {
        page.chart(&change.title, &waterfall(&change.title, &change.spans)?);
    }
    let hint = "Each bar is a task, from its start to its end; a task that is a part of another is \
    indented below it.";
    page.element("p", "hint", hint);
    Ok(())
}

#[cfg(test)]
mod tests;
