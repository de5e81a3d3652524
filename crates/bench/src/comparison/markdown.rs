//! A comparison in GitHub's Markdown.

use std::fmt::Write as _;

use coldpress_report::text::escaped;

use super::{COMPARISON_COLUMNS, Comparison};

/// Judgements first, then the table, then the conditions that were not the same.
pub(super) fn document(comparison: &Comparison<'_>) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "**{}**, beside **{}**\n",
        inline(comparison.new.title),
        inline(comparison.base.title)
    );
    for judgement in &comparison.judgements {
        let mark = match judgement.holds {
            Some(true) => ":x:",
            Some(false) => ":white_check_mark:",
            None => ":grey_question:",
        };
        let _ = writeln!(text, "- {mark} {}", markup(&judgement.sentence()));
    }
    if !comparison.judgements.is_empty() {
        text.push('\n');
    }
    row(
        &mut text,
        COMPARISON_COLUMNS.iter().map(|&title| title.to_owned()),
    );
    let _ = writeln!(text, "|---|---|--:|--:|--:|--:|---|");
    for difference in comparison.differences {
        row(&mut text, difference.cells().into_iter());
    }
    if !comparison.conditions.is_empty() {
        let _ = writeln!(text, "\nMade under other conditions:\n");
        for (name, base, new) in &comparison.conditions {
            let [name, base, new] =
                [*name, base.unwrap_or("none"), new.unwrap_or("none")].map(inline);
            let _ = writeln!(text, "- {name}: {base}, then {new}");
        }
    }
    text
}

fn row(text: &mut String, cells: impl Iterator<Item = String>) {
    for cell in cells {
        let _ = write!(text, "| {} ", markup(&cell));
    }
    text.push_str("|\n");
}

/// A name of anybody's choice as text in its line.
fn inline(name: &str) -> String {
    markup(&escaped(name.as_bytes()))
}

/// A line of text that is no markup, and stays in its cell.
fn markup(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for character in line.chars() {
        if "\\`*_[]<>|~&".contains(character) {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        for (name, expected) in [
            ("zstd 15, 128K", "zstd 15, 128K"),
            ("a|b", r"a\|b"),
            ("<b>*x*", r"\<b\>\*x\*"),
            ("two\nlines", r"two\\x0alines"),
        ] {
            assert_eq!(inline(name), expected);
        }
    }
}
