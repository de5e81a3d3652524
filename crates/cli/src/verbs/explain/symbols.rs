//! Orders of symbols, for linkers.

use std::path::Path;

use coldpress_explain::{ElfCost, Findings, ImageMap};
use coldpress_report::text::{plural, quoted, quoted_bytes};
use coldpress_session::ui::Ui;
use coldpress_writer::Output;

use crate::steps;
use crate::verbs::explain::args::{Linker, SymbolOrder};

/// The orders that are asked for, with the files that they are written to.
pub(super) struct Orders<'a>(Vec<(&'a SymbolOrder, Output)>);

impl<'a> Orders<'a> {
    /// # Errors
    ///
    /// If a file cannot be created.
    pub(super) fn create(orders: &'a [SymbolOrder]) -> anyhow::Result<Self> {
        let outputs = orders
            .iter()
            .map(|order| Ok((order, Output::create(&order.output)?)));
        outputs.collect::<anyhow::Result<_>>().map(Self)
    }

    /// Whether the order of this file is asked for.
    pub(super) fn want(&self, path: &[u8]) -> bool {
        self.0.iter().any(|(order, _)| is_meant(&order.file, path))
    }

    /// Writes them; returns whether one of them could not be told.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub(super) fn write(
        self,
        findings: &Findings,
        linker: Linker,
        ui: &Ui,
    ) -> anyhow::Result<bool> {
        let mut is_one_missing = false;
        for (order, output) in self.0 {
            match find(findings, &order.file) {
                Ok(cost) => {
                    let text = lines(&cost.order, linker);
                    steps::write_small(output, &text)?;
                    say(&order.output, cost, ui);
                }
                Err(why) => {
                    ui.error(&format!("no order of {}: {why}", quoted_bytes(&order.file)));
                    is_one_missing = true;
                }
            }
        }
        Ok(is_one_missing)
    }
}

fn say(output: &Path, cost: &ElfCost, ui: &Ui) {
    ui.say(&format!(
        "{}: {} in the order of their first use, of {}",
        quoted(output),
        plural(cost.order.len() as u64, "function", "functions"),
        plural(cost.functions, "function", "functions"),
    ));
}

/// The one file that is meant.
fn find<'a>(findings: &'a Findings, file: &[u8]) -> Result<&'a ElfCost, String> {
    let path = |map: &'a ImageMap, file: usize| map.files().get(file).map(|file| &*file.path);
    let is_meant =
        |file_index: usize| path(findings.map, file_index).is_some_and(|path| is_meant(file, path));
    let mut found = findings
        .programs
        .iter()
        .filter(|found| is_meant(found.file));
    let Some(only) = found.next() else {
        let mut files = findings.explanation.files.iter();
        return Err(if files.any(|cost| is_meant(cost.file)) {
            "it is no ELF file".to_owned()
        } else {
            "the start did not use such a file".to_owned()
        });
    };
    if let Some(other) = found.next() {
        let name = |file| quoted_bytes(path(findings.map, file).unwrap_or_default());
        let (one, other) = (name(only.file), name(other.file));
        return Err(format!("it may be {one} or {other}; state which"));
    }
    let cost = only.cost.as_ref().map_err(ToString::to_string)?;
    if cost.functions == 0 {
        return Err("it names no functions, not even exported ones".to_owned());
    }
    Ok(cost)
}

/// Whether a path is the one that was typed, or, where no path was, ends with the names that were.
fn is_meant(typed: &[u8], path: &[u8]) -> bool {
    let before = path.strip_suffix(typed);
    before.is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
}

/// One name on each line; those that no linker could read back are left out.
fn lines(order: &[Vec<u8>], linker: Linker) -> Vec<u8> {
    let section = match linker {
        Linker::Lld => &b""[..],
        Linker::Gold => b".text.",
    };
    let is_plain = |name: &&Vec<u8>| name.iter().all(u8::is_ascii_graphic);
    let names = order.iter().filter(is_plain);
    names
        .flat_map(|name| [section, name, b"\n"].concat())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_path_or_the_end_of_it() {
        for (typed, path, expected) in [
            ("/usr/lib/libx.so", "/usr/lib/libx.so", true),
            ("libx.so", "/usr/lib/libx.so", true),
            ("lib/libx.so", "/usr/lib/libx.so", true),
            ("x.so", "/usr/lib/libx.so", false),
            ("libx.so", "/usr/lib/libx.so.1", false),
            ("/lib/libx.so", "/usr/lib/libx.so", false),
            ("/lib/libx.so", "/lib/libx.so", true),
        ] {
            let is_it = is_meant(typed.as_bytes(), path.as_bytes());
            assert_eq!(is_it, expected, "{typed} {path}");
        }
    }

    #[test]
    fn linkers_read_names_or_sections() {
        let order = [&b"main"[..], b"two words", b"_ZN1xE", b"line\nend"].map(<[u8]>::to_vec);
        assert_eq!(lines(&order, Linker::Lld), b"main\n_ZN1xE\n");
        assert_eq!(lines(&order, Linker::Gold), b".text.main\n.text._ZN1xE\n");
    }
}
