//! Boot charts as files.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use coldpress_bench::{BootChart, boot_chart_svg};
use coldpress_report::text::quoted;
use coldpress_writer::Output;

use crate::steps;

/// The directory for the charts, which may be there.
///
/// # Errors
///
/// If it cannot be made.
pub(super) fn make_directory(directory: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", quoted(directory)))
}

/// Writes an SVG and a JSON file for each chart.
///
/// # Errors
///
/// If one cannot be written.
pub(super) fn write(directory: &Path, charts: &[BootChart]) -> anyhow::Result<()> {
    for (number, chart) in (1..).zip(charts) {
        let path = |suffix| directory.join(format!("{}.{suffix}", file_stem(number, &chart.name)));
        let svg = Output::create(&path("svg"))?;
        steps::write_small(svg, boot_chart_svg(chart)?.as_bytes())?;
        let json = Output::create(&path("json"))?;
        steps::write_small(json, &serde_json::to_vec_pretty(chart)?)?;
    }
    Ok(())
}

/// `1-xz`: letters that every file system and every shell takes, and a number, so that no two are
/// the same.
fn file_stem(number: u32, name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name: String = name
        .chars()
        .take(100)
        .map(|c| if plain(c) { c } else { '_' })
        .collect();
    format!("{number}-{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_charts_are_plain() {
        assert_eq!(file_stem(1, "xz.sqfs"), "1-xz.sqfs");
        assert_eq!(file_stem(2, "../a b\n"), "2-.._a_b_");
        assert_eq!(file_stem(3, &"x".repeat(999)).len(), 102);
    }
}
