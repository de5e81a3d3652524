//! How coldpress is told to build what was chosen.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use coldpress_layout::{Group, Tails};
use coldpress_report::text::shell_word;
use coldpress_tune::{Candidate, OrderBy};

/// The command, with names for what is not known: `coldpress build SOURCE IMAGE -c zstd -l 15 -b
/// 128K --plan PLAN`.
pub(super) fn build_line(candidate: &Candidate, source: &Path, plan: Option<&Path>) -> String {
    let mut words = vec![
        "coldpress build".to_owned(),
        path_word(source),
        "IMAGE".to_owned(),
    ];
    match candidate.compression {
        None => words.push("-c none".to_owned()),
        Some(settings) => words.push(format!("-c {} -l {}", settings.compressor, settings.level)),
    }
    if !candidate.filters().is_empty() {
        words.push(format!("--xz-filters {}", candidate.filters()));
    }
    words.push(format!("-b {}", candidate.block_text()));
    match candidate.tails {
        Tails::None => words.push("--tails none".to_owned()),
        Tails::Small => {}
        Tails::All => words.push("--tails all".to_owned()),
    }
    match candidate.group {
        Group::None => {}
        Group::Extension => words.push("--group extension".to_owned()),
        Group::Similar => words.push("--group similar".to_owned()),
    }
    if candidate.order == OrderBy::Plan {
        let plan = plan.map_or_else(|| "PLAN".to_owned(), path_word);
        words.push(format!("--plan {plan}"));
    }
    words.join(" ")
}

fn path_word(path: &Path) -> String {
    shell_word(path.as_os_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use coldpress_codec::Settings;
    use coldpress_format::{BlockSize, Compressor};
    use coldpress_writer::Uncompressed;

    use super::*;

    #[test]
    fn the_command_can_be_typed() {
        let zstd = Candidate {
            compression: Some(Settings::new(Compressor::Zstd, None).unwrap()),
            uncompressed: Uncompressed::default(),
            block_size: BlockSize::DEFAULT,
            tails: Tails::Small,
            group: Group::None,
            order: OrderBy::Plan,
            spends: false,
        };
        let none = Candidate {
            compression: None,
            block_size: BlockSize::MAX,
            tails: Tails::None,
            order: OrderBy::Tree,
            ..zstd
        };
        let grouped = Candidate {
            tails: Tails::All,
            group: Group::Similar,
            order: OrderBy::Tree,
            ..zstd
        };
        let (source, plan) = (Path::new("my root"), Path::new("a.plan"));
        for (candidate, plan, line) in [
            (
                &zstd,
                None,
                "coldpress build 'my root' IMAGE -c zstd -l 15 -b 128K --plan PLAN",
            ),
            (
                &zstd,
                Some(plan),
                "coldpress build 'my root' IMAGE -c zstd -l 15 -b 128K --plan a.plan",
            ),
            (
                &none,
                Some(plan),
                "coldpress build 'my root' IMAGE -c none -b 1M --tails none",
            ),
            (
                &grouped,
                None,
                "coldpress build 'my root' IMAGE -c zstd -l 15 -b 128K --tails all --group similar",
            ),
        ] {
            assert_eq!(build_line(candidate, source, plan), line);
        }
    }
}
