//! What the options that only print print.

use std::fmt::Write as _;

use anyhow::{anyhow, bail};
use coldpress_format::Compressor;

use super::compression::options_of;
use super::options::{Row, SECTIONS, Section, Treatment};
use super::request::{Print, Request};
use super::tool::Tool;
use crate::failure::hint;
use crate::{memory, text};

/// The squashfs-tools whose command line is understood.
const UNDERSTOOD: &str = "4.7";
/// Columns of a remark, indented by six.
const WIDTH: usize = 74;

/// What an option asks to be printed.
///
/// # Errors
///
/// If it names something that is not there.
pub(crate) fn text(request: &Request, print: &Print) -> anyhow::Result<String> {
    let tool = request.tool;
    match print {
        Print::Help => Ok(help(tool)),
        Print::Options(part) => some(tool, |_, row| row.names().any(|name| name.contains(part))),
        Print::Sections(part) if part == "list" => {
            let titles = SECTIONS.iter().map(|section| section.title);
            Ok(titles.fold(String::new(), |text, title| text + title + "\n"))
        }
        Print::Sections(part) => {
            let part = part.to_lowercase();
            some(tool, |section, _| {
                section.title.to_lowercase().contains(&part)
            })
        }
        Print::CompressorInUse => compressor(tool, request.compression.compressor()),
        Print::Compressor(name) => compressors(tool, name),
        Print::Version => Ok(version(tool)),
        Print::MemoryDefault => Ok(format!("{}\n", memory::default_bytes() >> 20)),
    }
}

/// The first line begins as that of squashfs-tools, whose version scripts compare.
fn version(tool: Tool) -> String {
    let (name, ours) = (tool.name(), env!("CARGO_PKG_VERSION"));
    format!(
        "{name} version {UNDERSTOOD} (coldpress {ours})\n\
         coldpress {ours}, which understands the command line of {name} {UNDERSTOOD}\n"
    )
}

fn help(tool: Tool) -> String {
    let mut text = format!("usage: {}\n", tool.usage());
    for section in &SECTIONS {
        write_section(&mut text, section, tool, |_| true);
    }
    text
}

fn some(tool: Tool, is_wanted: impl Fn(&Section, &Row) -> bool) -> anyhow::Result<String> {
    let mut text = String::new();
    for section in &SECTIONS {
        write_section(&mut text, section, tool, |row| is_wanted(section, row));
    }
    if text.is_empty() {
        bail!("there is no such option or section");
    }
    Ok(text)
}

fn compressors(tool: Tool, name: &str) -> anyhow::Result<String> {
    let writable = Compressor::ALL
        .into_iter()
        .filter(|compressor| *compressor != Compressor::Lzma);
    match name {
        "list" => Ok(writable.fold(String::new(), |text, one| text + one.name() + "\n")),
        "all" => writable.map(|one| compressor(tool, one)).collect(),
        name => {
            let found = writable.into_iter().find(|one| one.name() == name);
            let found = found.ok_or_else(|| {
                let error = anyhow!("there is no compressor `{name}`");
                hint(error, "`-help-comp list` names all")
            })?;
            compressor(tool, found)
        }
    }
}

fn compressor(tool: Tool, compressor: Compressor) -> anyhow::Result<String> {
    let text = some(tool, |_, row| {
        row.names()
            .any(|name| options_of(compressor).any(|other| other == name))
    })?;
    Ok(format!("{compressor}:\n{text}"))
}

fn write_section(
    text: &mut String,
    section: &Section,
    tool: Tool,
    is_wanted: impl Fn(&Row) -> bool,
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
        let value = row
            .value()
            .map_or(String::new(), |value| format!(" {value}"));
        let remark = match row.treatment {
            Treatment::Flag(_) | Treatment::Value(_) => row.remark.to_owned(),
            Treatment::NoEffect | Treatment::Refused => {
                format!("{}: {}", row.treatment, row.remark)
            }
        };
        let _ = writeln!(text, "  {}{value}", names.join(", "));
        for line in text::wrapped(&remark, Some(WIDTH)).lines() {
            let _ = writeln!(text, "      {line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: Tool, print: &Print) -> anyhow::Result<String> {
        text(&Request::new(tool), print)
    }

    #[test]
    fn help_names_the_options_of_its_tool() {
        let help = of(Tool::Mksquashfs, &Print::Help).unwrap();
        assert!(help.starts_with("usage: mksquashfs SOURCE... "), "{help}");
        assert!(
            help.contains("\n  -all-root, -root-owned\n      everything"),
            "{help}"
        );
        assert!(help.contains("\n      refused: "), "{help}");
        let help = of(Tool::Sqfstar, &Print::Help).unwrap();
        assert!(help.contains("\n  -force\n"), "{help}");
        assert!(
            !help.contains("-noappend") && !help.contains("-sort"),
            "{help}"
        );
        assert!(help.lines().all(|line| line.len() <= 80), "{help}");
    }

    #[test]
    fn parts_of_help_are_found_by_name() {
        let tool = Tool::Mksquashfs;
        let times = of(tool, &Print::Options("-time".to_owned())).unwrap();
        assert!(
            times.contains("-root-time TIME") && !times.contains("-comp"),
            "{times}"
        );
        let section = of(tool, &Print::Sections("times".to_owned())).unwrap();
        assert!(section.starts_with("\nTimes\n  -mkfs-time, "), "{section}");
        let list = of(tool, &Print::Sections("list".to_owned())).unwrap();
        assert_eq!(list.lines().count(), SECTIONS.len());
        let lz4 = of(tool, &Print::Compressor("lz4".to_owned())).unwrap();
        assert!(lz4.contains("-Xhc") && !lz4.contains("-Xbcj"), "{lz4}");
        let all = of(tool, &Print::Compressor("all".to_owned())).unwrap();
        assert!(all.contains("-Xhc") && all.contains("-Xbcj"), "{all}");
        for print in [
            Print::Options("-zzz".to_owned()),
            Print::Compressor("lzma".to_owned()),
        ] {
            assert!(of(tool, &print).is_err(), "{print:?}");
        }
    }

    #[test]
    fn the_version_is_read_by_scripts() {
        let version = of(Tool::Mksquashfs, &Print::Version).unwrap();
        assert!(
            version.starts_with("mksquashfs version 4.7 (coldpress "),
            "{version}"
        );
    }
}
