//! The order in which a start needed the functions of a program, for linkers.

use coldpress_report::text::quoted_bytes;

use super::Findings;
use crate::ElfCost;

/// Who reads an order of symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linker {
    /// `--symbol-ordering-file` of lld: names.
    Lld,
    /// `--section-ordering-file` of gold: names of sections.
    Gold,
}

impl Findings<'_> {
    /// The one program or library that is meant.
    ///
    /// * `file`: as for [`is_meant`].
    ///
    /// # Errors
    ///
    /// A clause that says why it is not one, or what cannot be told of it.
    pub fn program(&self, file: &[u8]) -> Result<&ElfCost, String> {
        let path = |file: usize| self.map.files().get(file).map(|file| &*file.path);
        let is_meant =
            |file_index: usize| path(file_index).is_some_and(|path| is_meant(file, path));
        let mut found = self.programs.iter().filter(|found| is_meant(found.file));
        let Some(only) = found.next() else {
            let mut files = self.explanation.files.iter();
            return Err(if files.any(|cost| is_meant(cost.file)) {
                "it is no ELF file".to_owned()
            } else {
                "the start did not use such a file".to_owned()
            });
        };
        if let Some(other) = found.next() {
            let name = |file| quoted_bytes(path(file).unwrap_or_default());
            let (one, other) = (name(only.file), name(other.file));
            return Err(format!("it may be {one} or {other}; state which"));
        }
        let cost = only.cost.as_ref().map_err(ToString::to_string)?;
        if cost.functions == 0 {
            return Err("it names no functions, not even exported ones".to_owned());
        }
        Ok(cost)
    }
}

/// Whether a path is the one that was typed, or, where no path was, ends with the names that were.
pub fn is_meant(typed: &[u8], path: &[u8]) -> bool {
    let before = path.strip_suffix(typed);
    before.is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
}

/// One name on each line; those that no linker could read back are left out.
pub fn symbol_order(order: &[Vec<u8>], linker: Linker) -> Vec<u8> {
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
        assert_eq!(symbol_order(&order, Linker::Lld), b"main\n_ZN1xE\n");
        assert_eq!(
            symbol_order(&order, Linker::Gold),
            b".text.main\n.text._ZN1xE\n"
        );
    }
}
