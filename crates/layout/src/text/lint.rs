//! The lines of a plan that do nothing for a tree.

use super::{Reader, Section, check_first_line, read_path};
use crate::error::Error;
use crate::plan::Plan;
use crate::sort::{Finding, Flaw, no_data};
use crate::tree::Tree;

impl Plan {
    /// Reads the text of a plan and tells its lines that name nothing in a tree, or nothing that
    /// fits there.
    ///
    /// # Errors
    ///
    /// [`Error::Plan`] for the first line that breaks a rule of the format.
    pub fn lint(text: &[u8], tree: &Tree) -> Result<Vec<Finding>, Error> {
        let mut reader = Reader::default();
        let mut findings = Vec::new();
        for (text, line) in text.split(|&byte| byte == b'\n').zip(1..) {
            if line == 1 {
                check_first_line(text).map_err(|rule| Error::Plan { line, rule })?;
                continue;
            }
            reader
                .read_line(text)
                .map_err(|rule| Error::Plan { line, rule })?;
            let is_comment = text.trim_ascii_start().starts_with(b"#");
            let slash = text.iter().position(|&byte| byte == b'/');
            // No word before a path has a slash.
            if let (Some(section), Some(slash), false) = (reader.section, slash, is_comment) {
                let path = read_path(&text[slash..]).map_err(|rule| Error::Plan { line, rule })?;
                if let Some(flaw) = flaw(tree, section, &path) {
                    findings.push(Finding { line, path, flaw });
                }
            }
        }
        Ok(findings)
    }
}

/// What is wrong with a path in a section.
fn flaw(tree: &Tree, section: Section, path: &[u8]) -> Option<Flaw> {
    let Some(id) = tree.find(path) else {
        return Some(Flaw::Unmatched);
    };
    match section {
        Section::Inodes => None,
        Section::Directories => (!tree.is_directory(id)).then_some(Flaw::NoDirectory),
        Section::Data | Section::BlockEncoding => {
            (tree.file_size(id).unwrap_or(0) == 0).then(|| no_data(tree, id))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::tree;

    #[test]
    fn lines_are_judged_by_their_section() {
        let tree = tree(&[("/d/", 0), ("/d/x", 1), ("/e", 0)]);
        let text = "coldpress-plan 1\n# /none\n[data]\nblocks /d/x\nblocks /d\nfragment\n /no e\n\
                    [inodes]\n/\n/e\n/none\n[directories]\n/\n/e\n[packing]\n\
                    level 3 0-1 /d/x\nstored /e\n";
        let findings = Plan::lint(text.as_bytes(), &tree).expect("legal");
        let findings: Vec<_> = findings.iter().map(ToString::to_string).collect();
        let expected = [
            "line 5: `/d` is a directory, which has no data to place",
            "line 7: `/no e` matches nothing",
            "line 11: `/none` matches nothing",
            "line 14: `/e` is not a directory, so it has no listing to place",
            "line 17: `/e` is an empty file, which has no data to place",
        ];
        assert_eq!(findings, expected);
        let error = Plan::lint(b"coldpress-plan 1\n[data]\n/x\n", &tree).expect_err("no item");
        assert!(error.to_string().starts_with("plan line 3: "), "{error}");
    }
}
