//! How large the files of a tree are, and how many there are of each size.

use std::collections::BTreeMap;
use std::io;

use coldpress_report::units::{as_f64, bytes, count};

use super::charts::{Step, curve, series};
use super::page::Page;
use super::view::View;

/// Numbers and bytes of files, in classes that end at powers of two.
///
/// A study holds it as the fact [`FileSizes::FACT`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSizes {
    /// By the exponent of the largest size of the class: files, bytes.
    classes: BTreeMap<u32, (u64, u64)>,
}

impl FileSizes {
    /// The name of the fact: a JSON list of exponent, files and bytes for each class.
    pub const FACT: &'static str = "file_sizes";

    /// Counts a file.
    pub fn add(&mut self, size_bytes: u64) {
        let exponent = u64::BITS - size_bytes.saturating_sub(1).leading_zeros();
        let class = self.classes.entry(exponent).or_default();
        class.0 = class.0.saturating_add(1);
        class.1 = class.1.saturating_add(size_bytes);
    }

    /// The fact's value.
    pub fn to_fact(&self) -> String {
        let classes = self.classes.iter();
        let lists: Vec<String> = classes
            .map(|(exponent, (files, bytes))| format!("[{exponent},{files},{bytes}]"))
            .collect();
        format!("[{}]", lists.join(","))
    }

    /// Reads the fact's value; `None` if it is none.
    pub fn from_fact(fact: &str) -> Option<FileSizes> {
        let lists: Vec<(u32, u64, u64)> = serde_json::from_str(fact).ok()?;
        let is_valid = lists.iter().all(|(exponent, ..)| *exponent <= u64::BITS);
        let classes = lists
            .into_iter()
            .map(|(exponent, files, bytes)| (exponent, (files, bytes)));
        is_valid.then(|| FileSizes {
            classes: classes.collect(),
        })
    }

    /// Files and bytes of all classes.
    fn totals(&self) -> (u64, u64) {
        self.classes
            .values()
            .fold((0, 0), |sum: (u64, u64), class| {
                (sum.0.saturating_add(class.0), sum.1.saturating_add(class.1))
            })
    }

    /// What lies in files up to each size, in percent.
    fn steps(&self) -> Vec<Step> {
        let (all_files, all_bytes) = self.totals();
        let percent = |part: u64, all: u64| as_f64(part) * 100.0 / as_f64(all.max(1));
        let (mut files, mut bytes) = (0_u64, 0_u64);
        let classes = self.classes.iter();
        classes
            .map(|(exponent, class)| {
                files = files.saturating_add(class.0);
                bytes = bytes.saturating_add(class.1);
                Step {
                    exponent: *exponent,
                    files_percent: percent(files, all_files),
                    bytes_percent: percent(bytes, all_bytes),
                }
            })
            .collect()
    }
}

/// Writes the curve of a study that knows its files.
pub(super) fn write(page: &mut Page, view: &View) -> io::Result<()> {
    let fact = view.study.facts.get(FileSizes::FACT);
    let Some(sizes) = fact.and_then(|fact| FileSizes::from_fact(fact)) else {
        return Ok(());
    };
    let title = "File sizes";
    page.chart(title, &curve(title, &sizes.steps())?);
    let (files, all_bytes) = sizes.totals();
    let (files_color, bytes_color) = (series(1), series(2));
    page.push(&format!(
        "<p class=\"hint\"><i style=\"background:var({files_color})\"></i>files and \
        <i style=\"background:var({bytes_color})\"></i>bytes in files up to a size, of {} files \
        with {}.</p>\n",
        count(files),
        bytes(all_bytes)
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_up_to_powers_of_two() {
        let mut sizes = FileSizes::default();
        for size_bytes in [0, 1, 2, 3, 4, 4096, 4097, u64::MAX] {
            sizes.add(size_bytes);
        }
        let fact = sizes.to_fact();
        let expected =
            "[[0,2,1],[1,1,2],[2,2,7],[12,1,4096],[13,1,4097],[64,1,18446744073709551615]]";
        assert_eq!(fact, expected);
        assert_eq!(FileSizes::from_fact(&fact), Some(sizes));
    }

    #[test]
    fn a_curve_ends_at_all_files_and_bytes() {
        let mut sizes = FileSizes::default();
        for size_bytes in [100, 100, 100, 700] {
            sizes.add(size_bytes);
        }
        let step = |exponent, files_percent, bytes_percent| Step {
            exponent,
            files_percent,
            bytes_percent,
        };
        assert_eq!(sizes.steps(), [step(7, 75.0, 30.0), step(10, 100.0, 100.0)]);
        assert_eq!(FileSizes::default().steps(), []);
    }

    #[test]
    fn a_fact_that_is_no_list_of_classes_is_passed_over() {
        for fact in ["", "[", "{}", "[[65,1,1]]", "[[1,-1,1]]", "[[1,1]]"] {
            assert_eq!(FileSizes::from_fact(fact), None, "{fact}");
        }
    }
}
