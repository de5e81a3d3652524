//! Tables of options.
//!
//! A table is what the parser obeys, what `-help` prints and what the document of a program is
//! compared with.

use std::fmt;

use super::{Tool, Value};

/// Options of one theme. `R` is what a command line asks for.
#[derive(Debug)]
pub(crate) struct Section<R: 'static> {
    pub(crate) title: &'static str,
    pub(crate) rows: &'static [Row<R>],
}

/// One option.
#[derive(Debug)]
pub(crate) struct Row<R> {
    /// Its names and what follows it: `-offset|-o BYTES`.
    spec: &'static str,
    pub(crate) treatment: Treatment<R>,
    /// The only tool that has it, if not both.
    only: Option<Tool>,
    /// What it does, or why it does nothing, or why it is refused.
    pub(crate) remark: &'static str,
}

/// What becomes of an option.
#[derive(Debug)]
pub(crate) enum Treatment<R> {
    /// It means what it means to the tool.
    Flag(fn(&mut R)),
    /// The same, for an option with a value.
    Value(fn(&mut R, Value<'_>) -> anyhow::Result<()>),
    /// The same, for one with several values, the last of which is followed by `;`.
    List(fn(&mut R, Value<'_>) -> anyhow::Result<()>),
    /// It is accepted, and there is nothing to do for it.
    NoEffect,
    /// It is refused by name.
    Refused,
}

impl<R> fmt::Display for Treatment<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Flag(_) | Self::Value(_) | Self::List(_) => "supported",
            Self::NoEffect => "no effect",
            Self::Refused => "refused",
        })
    }
}

impl<R> Row<R> {
    pub(crate) const fn flag(spec: &'static str, set: fn(&mut R), remark: &'static str) -> Self {
        Self::new(spec, Treatment::Flag(set), remark)
    }

    pub(crate) const fn value(
        spec: &'static str,
        set: fn(&mut R, Value<'_>) -> anyhow::Result<()>,
        remark: &'static str,
    ) -> Self {
        Self::new(spec, Treatment::Value(set), remark)
    }

    pub(crate) const fn list(
        spec: &'static str,
        add: fn(&mut R, Value<'_>) -> anyhow::Result<()>,
        remark: &'static str,
    ) -> Self {
        Self::new(spec, Treatment::List(add), remark)
    }

    pub(crate) const fn no_effect(spec: &'static str, remark: &'static str) -> Self {
        Self::new(spec, Treatment::NoEffect, remark)
    }

    pub(crate) const fn refused(spec: &'static str, remark: &'static str) -> Self {
        Self::new(spec, Treatment::Refused, remark)
    }

    const fn new(spec: &'static str, treatment: Treatment<R>, remark: &'static str) -> Self {
        Self {
            spec,
            treatment,
            only: None,
            remark,
        }
    }

    /// An option that the other tool of the table does not have.
    pub(crate) const fn only(self, tool: Tool) -> Self {
        Self {
            only: Some(tool),
            ..self
        }
    }

    /// Its names; the first is the usual one.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let names = self.spec.split(' ').next();
        names.unwrap_or_default().split('|')
    }

    /// What follows it, as help calls it; `None` if nothing does.
    pub(crate) fn operand(&self) -> Option<&'static str> {
        self.spec.split_once(' ').map(|(_, operand)| operand)
    }

    /// Whether a tool has it.
    pub(crate) fn is_of(&self, tool: Tool) -> bool {
        self.only.is_none_or(|only| only == tool)
    }
}

/// Finds an option of a tool by its name, with its dash. Names are never abbreviated.
pub(crate) fn find<R>(
    sections: &'static [Section<R>],
    name: &str,
    tool: Tool,
) -> Option<&'static Row<R>> {
    let mut rows = sections.iter().flat_map(|section| section.rows);
    rows.find(|row| row.is_of(tool) && row.names().any(|other| other == name))
}

#[cfg(test)]
pub(crate) mod checks {
    //! What holds for every table.

    use std::collections::BTreeSet;

    use super::*;

    /// Checks a table by itself and compares it with its document.
    pub(crate) fn check<R>(sections: &'static [Section<R>], tools: [Tool; 2], document: &str) {
        let mut seen = BTreeSet::new();
        for row in sections.iter().flat_map(|section| section.rows) {
            check_row(row);
            for name in row.names() {
                assert!(name.len() > 1 && name.starts_with('-'), "{name}");
                for tool in tools.into_iter().filter(|tool| row.is_of(*tool)) {
                    assert!(seen.insert((name, tool.name())), "{name} stands twice");
                }
            }
        }
        for section in sections {
            let text = markdown(section);
            assert!(document.contains(&text), "the document lacks:\n{text}");
        }
        let options = document.split("\n## Options\n").nth(1).unwrap();
        let lines = options.lines().filter(|line| line.starts_with("| `"));
        let rows: usize = sections.iter().map(|section| section.rows.len()).sum();
        assert_eq!(lines.count(), rows);
    }

    fn check_row<R>(row: &Row<R>) {
        assert!(!row.remark.is_empty(), "{}", row.spec);
        let has_operand = row.operand().is_some();
        let fits = match row.treatment {
            Treatment::Flag(_) => !has_operand,
            Treatment::Value(_) | Treatment::List(_) => has_operand,
            Treatment::NoEffect | Treatment::Refused => true,
        };
        assert!(fits, "{}", row.spec);
    }

    /// A section as documents have it.
    fn markdown<R>(section: &Section<R>) -> String {
        let head = "| option | treatment | of | remark |\n|---|---|---|---|";
        let mut text = format!("### {}\n\n{head}\n", section.title);
        for row in section.rows {
            let names: Vec<&str> = row.names().collect();
            let operand = row.operand().map(|operand| format!(" {operand}"));
            let (names, operand) = (names.join(", "), operand.unwrap_or_default());
            let tool = row.only.map_or("both", Tool::name);
            let (treatment, remark) = (&row.treatment, row.remark);
            text.extend([
                format!("| `{names}{operand}` | {treatment} | {tool} | {remark} |"),
                "\n".to_owned(),
            ]);
        }
        text
    }
}
