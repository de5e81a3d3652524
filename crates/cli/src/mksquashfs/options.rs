//! The options of mksquashfs and sqfstar 4.7, each with its treatment.
//!
//! The table is what the parser obeys, what `-help` prints and what docs/mksquashfs.md is compared
//! with. Facts: USAGE-MKSQUASHFS and USAGE-SQFSTAR of squashfs-tools 4.7.6, and the behavior of
//! its programs.

mod compression;
mod image;
mod others;
mod owners;
mod running;
mod selection;
mod time;
mod xattrs;

use std::fmt;

use super::request::Request;
use super::tool::Tool;
use super::value::Value;

/// All options, in the order in which help shows them.
pub(crate) static SECTIONS: [Section; 13] = [
    compression::WHAT,
    compression::HOW,
    image::BUILD,
    time::TIME,
    owners::OWNERS,
    owners::PSEUDO,
    selection::SELECTION,
    xattrs::XATTRS,
    owners::TAR,
    running::RUNNING,
    others::EXISTING,
    others::ACTIONS,
    others::OTHERS,
];

/// Options of one theme.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) rows: &'static [Row],
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Its names and what follows it: `-offset|-o BYTES`.
    spec: &'static str,
    pub(crate) treatment: Treatment,
    /// The only tool that has it, if not both.
    pub(crate) only: Option<Tool>,
    /// What it does, or why it does nothing, or why it is refused.
    pub(crate) remark: &'static str,
}

/// What becomes of an option.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Treatment {
    /// It means what it means to mksquashfs.
    Flag(fn(&mut Request)),
    /// The same, for an option with a value.
    Value(fn(&mut Request, Value<'_>) -> anyhow::Result<()>),
    /// It is accepted, and there is nothing to do for it.
    NoEffect,
    /// It is refused by name.
    Refused,
}

impl fmt::Display for Treatment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Flag(_) | Self::Value(_) => "supported",
            Self::NoEffect => "no effect",
            Self::Refused => "refused",
        })
    }
}

const fn flag(spec: &'static str, set: fn(&mut Request), remark: &'static str) -> Row {
    row(spec, Treatment::Flag(set), remark)
}

const fn value(
    spec: &'static str,
    set: fn(&mut Request, Value<'_>) -> anyhow::Result<()>,
    remark: &'static str,
) -> Row {
    row(spec, Treatment::Value(set), remark)
}

const fn no_effect(spec: &'static str, remark: &'static str) -> Row {
    row(spec, Treatment::NoEffect, remark)
}

const fn refused(spec: &'static str, remark: &'static str) -> Row {
    row(spec, Treatment::Refused, remark)
}

const fn row(spec: &'static str, treatment: Treatment, remark: &'static str) -> Row {
    Row {
        spec,
        treatment,
        only: None,
        remark,
    }
}

impl Row {
    /// An option that sqfstar does not have.
    const fn mksquashfs_only(self) -> Self {
        Self {
            only: Some(Tool::Mksquashfs),
            ..self
        }
    }

    /// An option that mksquashfs does not have.
    const fn sqfstar_only(self) -> Self {
        Self {
            only: Some(Tool::Sqfstar),
            ..self
        }
    }

    /// Its names; the first is the usual one.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let names = self.spec.split(' ').next();
        names.unwrap_or_default().split('|')
    }

    /// What follows it, as help calls it; `None` if nothing does.
    pub(crate) fn value(&self) -> Option<&'static str> {
        self.spec.split_once(' ').map(|(_, value)| value)
    }

    /// Whether a tool has it.
    pub(crate) fn is_of(&self, tool: Tool) -> bool {
        self.only.is_none_or(|only| only == tool)
    }
}

/// Finds an option of a tool by its name, with its dash. Names are never abbreviated.
pub(crate) fn find(name: &str, tool: Tool) -> Option<&'static Row> {
    rows().find(|row| row.is_of(tool) && row.names().any(|other| other == name))
}

/// All options of both tools.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    SECTIONS.iter().flat_map(|section| section.rows)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_stands_once_for_each_tool() {
        let mut seen = BTreeSet::new();
        for row in rows() {
            assert!(!row.remark.is_empty(), "{}", row.spec);
            let has_value = matches!(row.treatment, Treatment::Value(_));
            let is_flag = matches!(row.treatment, Treatment::Flag(_));
            assert!(!has_value || row.value().is_some(), "{}", row.spec);
            assert!(!is_flag || row.value().is_none(), "{}", row.spec);
            for name in row.names() {
                assert!(name.len() > 1 && name.starts_with('-'), "{name}");
                for tool in [Tool::Mksquashfs, Tool::Sqfstar] {
                    let first = !row.is_of(tool) || seen.insert((name, tool.name()));
                    assert!(first, "{name}");
                }
            }
        }
    }

    /// A section as docs/mksquashfs.md has it.
    fn markdown(section: &Section) -> String {
        let head = "| option | treatment | of | remark |\n|---|---|---|---|";
        let mut text = format!("### {}\n\n{head}\n", section.title);
        for row in section.rows {
            let names: Vec<&str> = row.names().collect();
            let value = row.value().map(|value| format!(" {value}"));
            let (names, value) = (names.join(", "), value.unwrap_or_default());
            let tool = row.only.map_or("both", Tool::name);
            let (treatment, remark) = (row.treatment, row.remark);
            text.extend([
                format!("| `{names}{value}` | {treatment} | {tool} | {remark} |"),
                "\n".to_owned(),
            ]);
        }
        text
    }

    #[test]
    fn the_document_lists_every_option_with_its_treatment() {
        let document = include_str!("../../../../docs/mksquashfs.md");
        for section in &SECTIONS {
            let text = markdown(section);
            assert!(
                document.contains(&text),
                "docs/mksquashfs.md lacks:\n{text}"
            );
        }
        let options = document.split("\n## Options\n").nth(1).unwrap();
        let lines = options.lines().filter(|line| line.starts_with("| `"));
        assert_eq!(lines.count(), rows().count());
    }

    #[test]
    fn names_and_values_are_read_from_the_table() {
        let offset = find("-o", Tool::Mksquashfs).unwrap();
        assert_eq!(offset.names().collect::<Vec<_>>(), ["-offset", "-o"]);
        assert_eq!(offset.value(), Some("BYTES"));
        assert_eq!(find("-noI", Tool::Sqfstar).unwrap().value(), None);
        assert!(find("-sort", Tool::Mksquashfs).is_some());
        assert!(find("-sort", Tool::Sqfstar).is_none());
        assert!(find("-force", Tool::Sqfstar).is_some());
        assert!(find("-no-prog", Tool::Mksquashfs).is_none());
    }
}
