//! Sections that others make: texts, tables and charts of what is no study.

use std::fmt::Write as _;
use std::io;

use coldpress_report::Table;

use super::charts::{heat_map, scatter, series, timeline};
use super::page::{Page, escape};

/// A part of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// What it shows, in order.
    pub exhibits: Vec<Exhibit>,
}

/// One thing that is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Exhibit {
    /// A heading below that of the section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// A small paragraph about what stands above it.
    Hint(String),
    /// Names and values.
    Facts(Vec<(String, String)>),
    /// A table.
    Table(Table),
    /// Two figures against each other.
    Scatter(Scatter),
    /// Spots over time.
    Timeline(Timeline),
    /// Counts over time.
    HeatMap(HeatMap),
}

/// Two figures of several things against each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// What it shows.
    pub title: String,
    /// The names of the figures, with their units, as in studies.
    pub figures: [String; 2],
    /// Kinds of spots, each in a color of its own; none needs no legend.
    pub kinds: Vec<String>,
    /// The things.
    pub spots: Vec<ScatterSpot>,
    /// What is drawn besides.
    pub line: ScatterLine,
}

/// One of the things.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScatterSpot {
    /// What it is called.
    pub name: String,
    /// Its figures.
    pub at: (f64, f64),
    /// Index of its kind.
    pub kind: usize,
    /// Larger, and with its name beside it.
    pub is_marked: bool,
}

/// What is drawn besides the spots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScatterLine {
    /// Steps through the marked spots that no other marked one beats: nothing marked is left of and
    /// below them.
    Front,
    /// Where both figures are the same; both axes are the same then.
    Equal,
}

/// When something happened, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// What it shows.
    pub title: String,
    /// What stands beside the axes: time, then place.
    pub axes: [String; 2],
    /// Kinds of spots, each in a color of its own.
    pub kinds: Vec<String>,
    /// What happened.
    pub spots: Vec<TimelineSpot>,
}

/// Something that happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimelineSpot {
    /// When and where, in the units of the axes.
    pub at: (f64, f64),
    /// Index of its kind.
    pub kind: usize,
    /// What is told when it is pointed at.
    pub tip: String,
}

/// How often something happened, by time and place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// What it shows.
    pub title: String,
    /// What stands beside the axes: time, then place.
    pub axes: [String; 2],
    /// Where the axes end; they begin at 0.
    pub ends: (f64, f64),
    /// What is counted, in the plural.
    pub counted: String,
    /// Counts: a row for each range of places, all of the same height, from the lowest; in it a
    /// cell for each range of time.
    pub rows: Vec<Vec<u64>>,
}

/// Writes sections.
pub(super) fn write(page: &mut Page, sections: &[Section]) -> io::Result<()> {
    for (index, section) in sections.iter().enumerate() {
        page.section(&format!("section-{index}"), &section.title);
        for exhibit in &section.exhibits {
            show(page, exhibit)?;
        }
    }
    Ok(())
}

fn show(page: &mut Page, exhibit: &Exhibit) -> io::Result<()> {
    match exhibit {
        Exhibit::Heading(text) => page.element("h3", "", text),
        Exhibit::Text(text) => page.element("p", "", text),
        Exhibit::Hint(text) => page.element("p", "hint", text),
        Exhibit::Facts(facts) => {
            let rows = facts.iter();
            let rows = rows.map(|(name, value)| vec![name.as_str().into(), value.as_str().into()]);
            page.push("<div class=\"facts\">");
            page.table(&[], rows);
            page.push("</div>\n");
        }
        Exhibit::Table(table) => {
            let cells = |row: &Vec<String>| row.clone().into_iter().map(Into::into).collect();
            page.table(&table.columns, table.rows.iter().map(cells));
        }
        Exhibit::Scatter(chart) => {
            page.chart(&chart.title, &scatter(chart)?);
            legend(page, &chart.kinds);
        }
        Exhibit::Timeline(chart) => {
            page.chart(&chart.title, &timeline(chart)?);
            legend(page, &chart.kinds);
        }
        Exhibit::HeatMap(chart) => page.chart(&chart.title, &heat_map(chart)?),
    }
    Ok(())
}

/// Which color is what.
fn legend(page: &mut Page, kinds: &[String]) {
    if kinds.is_empty() {
        return;
    }
    let mut html = String::from("<p class=\"hint\">");
    for (kind, name) in kinds.iter().enumerate() {
        let color = series(kind + 1);
        // Writing to a string does not fail.
        let _ = write!(
            html,
            "<i style=\"background:var({color})\"></i>{} ",
            escape(name)
        );
    }
    page.push(&html);
    page.push("</p>\n");
}
