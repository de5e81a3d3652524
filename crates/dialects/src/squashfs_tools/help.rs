//! What the options that only print print of a table.

use std::fmt::Write as _;

use anyhow::bail;
use coldpress_report::text;

use super::table::{Row, Section, Treatment};
use super::{Tool, UNDERSTOOD};

/// Columns of a remark, indented by six.
const WIDTH: usize = 74;

/// The first line begins as that of squashfs-tools, whose version scripts compare.
pub(crate) fn version(tool: Tool) -> String {
    let (name, ours) = (tool.name(), env!("CARGO_PKG_VERSION"));
    format!(
        "{name} version {UNDERSTOOD} (coldpress {ours})\n\
         coldpress {ours}, which understands the command line of {name} {UNDERSTOOD}\n"
    )
}

/// All options of a tool.
pub(crate) fn all<R>(sections: &'static [Section<R>], tool: Tool) -> String {
    let mut text = format!("usage: {}\n", tool.usage());
    for section in sections {
        write_section(&mut text, section, tool, |_| true);
    }
    text
}

/// The titles of all sections.
pub(crate) fn titles<R>(sections: &'static [Section<R>]) -> String {
    let titles = sections.iter().map(|section| section.title);
    titles.fold(String::new(), |text, title| text + title + "\n")
}

/// The sections with `part` in their titles; `list` for all titles.
///
/// # Errors
///
/// If there is none.
pub(crate) fn sections<R>(
    sections: &'static [Section<R>],
    tool: Tool,
    part: &str,
) -> anyhow::Result<String> {
    if part == "list" {
        return Ok(titles(sections));
    }
    let part = part.to_lowercase();
    some(sections, tool, |section, _| {
        section.title.to_lowercase().contains(&part)
    })
}

/// The options that are wanted.
///
/// # Errors
///
/// If there is none.
pub(crate) fn some<R>(
    sections: &'static [Section<R>],
    tool: Tool,
    is_wanted: impl Fn(&Section<R>, &Row<R>) -> bool,
) -> anyhow::Result<String> {
    let mut text = String::new();
    for section in sections {
        write_section(&mut text, section, tool, |row| is_wanted(section, row));
    }
    if text.is_empty() {
        bail!("there is no such option or section");
    }
    Ok(text)
}

fn write_section<R>(
    text: &mut String,
    section: &Section<R>,
    tool: Tool,
    is_wanted: impl Fn(&Row<R>) -> bool,
) {
    let rows = section.rows.iter();
    let mut rows = rows
        .filter(|row| row.is_of(tool) && is_wanted(row))
        .peekable();
    if rows.peek().is_none() {
        return;
    }
    // Writing to a string does not fail.
    let _ = writeln!(text, "\n{}", section.title);
    for row in rows {
        let names: Vec<&str> = row.names().collect();
        let operand = row
            .operand()
            .map_or(String::new(), |operand| format!(" {operand}"));
        let remark = match row.treatment {
            Treatment::Flag(_) | Treatment::Value(_) | Treatment::List(_) => row.remark.to_owned(),
            Treatment::NoEffect | Treatment::Refused => {
                format!("{}: {}", row.treatment, row.remark)
            }
        };
        let _ = writeln!(text, "  {}{operand}", names.join(", "));
        for line in text::wrapped(&remark, Some(WIDTH)).lines() {
            let _ = writeln!(text, "      {line}");
        }
    }
}
