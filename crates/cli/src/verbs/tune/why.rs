//! Why this image and no other, in three sentences.

use coldpress_report::units::{as_f64, bytes, change, seconds};
use coldpress_tune::{Outcome, Row};

use super::{Advice, readahead};

/// Why this compressor, why this block size, what it costs.
pub(super) fn why(advice: &Advice) -> Vec<String> {
    let tuned = advice.tuned;
    let at = |place: Option<usize>| place.and_then(|place| tuned.rows.get(place));
    let Some(chosen) = tuned.chosen() else {
        return Vec::new();
    };
    let action = advice.action();
    let mut sentences = vec![
        compressor(chosen, at(tuned.rivals.other_compressor), action),
        block_size(chosen, at(tuned.rivals.other_block_size), action),
        cost(chosen, at(tuned.rivals.today), action),
    ];
    sentences.extend(readahead::sentence(advice, chosen));
    sentences
}

/// `zstd 15 starts in 840 ms; the best of the others, lz4 12, 128K, planned, in 910 ms, and is
/// +25.1 % in size.`
fn compressor(chosen: &Row, other: Option<&Row>, action: &str) -> String {
    let name = chosen.candidate.compression_text();
    let start = seconds(chosen.outcome.start_s);
    match other {
        None => format!("{name} {action} in {start}; no other compressor was to be tried."),
        Some(other) => format!(
            "{name} {action} in {start}; the best of the others, {}, in {}, with {} in size.",
            other.candidate,
            seconds(other.outcome.start_s),
            size_change(&chosen.outcome, &other.outcome),
        ),
    }
}

/// `Blocks of 128K: with 1M, the next best, it starts +12.0 % later, decompresses +300.0 %, is -1.2
/// % in size.`
fn block_size(chosen: &Row, other: Option<&Row>, action: &str) -> String {
    let block = chosen.candidate.block_text();
    match other {
        None => format!("Blocks of {block}: no other size was to be tried."),
        Some(other) => format!(
            "Blocks of {block}: with {}, the next best, it {action} in {} ({}), with {} in \
            decompressed bytes, {} in size.",
            other.candidate.block_text(),
            seconds(other.outcome.start_s),
            change(other.outcome.start_s / chosen.outcome.start_s),
            change_of(
                chosen.outcome.decompressed_bytes,
                other.outcome.decompressed_bytes
            ),
            size_change(&chosen.outcome, &other.outcome),
        ),
    }
}

/// `It has 311 MiB (±0.8 %), takes 35.1 s and 300 MiB of memory to build, and leaves 120 MiB in the
/// page cache; ...`
fn cost(chosen: &Row, today: Option<&Row>, action: &str) -> String {
    let outcome = &chosen.outcome;
    let cost = format!(
        "It has {}{}, takes {} and {} of memory to build, and leaves {} in the page cache",
        bytes(outcome.size_bytes),
        error(outcome),
        seconds(outcome.build_s),
        bytes(outcome.memory_bytes),
        bytes(outcome.page_cache_bytes),
    );
    match today.and_then(|row| Some((row.tool?, row))) {
        None => format!("{cost}."),
        Some((tool, row)) => format!(
            "{cost}; what {tool} makes by default ({}) {action} in {} and has {}.",
            row.candidate,
            seconds(row.outcome.start_s),
            bytes(row.outcome.size_bytes),
        ),
    }
}

/// By how much the size may be off, by twice its standard error: ` (±0.8 %)`; nothing if all of it
/// was compressed.
fn error(outcome: &Outcome) -> String {
    let percent = 200.0 * as_f64(outcome.size_error_bytes) / as_f64(outcome.size_bytes.max(1));
    if percent < 0.05 {
        return String::new();
    }
    format!(" (±{percent:.1} %)")
}

fn size_change(chosen: &Outcome, other: &Outcome) -> String {
    change_of(chosen.size_bytes, other.size_bytes)
}

/// By how much another number of bytes differs.
fn change_of(chosen_bytes: u64, other_bytes: u64) -> String {
    match chosen_bytes {
        0 => bytes(other_bytes),
        _ => change(as_f64(other_bytes) / as_f64(chosen_bytes)),
    }
}

#[cfg(test)]
mod tests {
    use coldpress_codec::Settings;
    use coldpress_format::{BlockSize, Compressor};
    use coldpress_layout::{Group, Tails};
    use coldpress_tune::{Candidate, OrderBy};
    use coldpress_writer::Uncompressed;

    use super::*;

    fn row(compressor: Compressor, block_size: BlockSize, start_s: f64, size_bytes: u64) -> Row {
        Row {
            tool: None,
            candidate: Candidate {
                compression: Some(Settings::new(compressor, None).unwrap()),
                uncompressed: Uncompressed::default(),
                block_size,
                tails: Tails::Small,
                group: Group::None,
                order: OrderBy::Plan,
                spends: false,
            },
            outcome: Outcome {
                start_s,
                device_starts_s: vec![start_s],
                readahead: 0,
                readahead_starts_s: vec![start_s],
                size_bytes,
                size_error_bytes: size_bytes / 250,
                build_s: 35.0,
                memory_bytes: 300 << 20,
                page_cache_bytes: 120 << 20,
                reads: 100,
                read_bytes: 50 << 20,
                decompressed_bytes: 100 << 20,
            },
        }
    }

    #[test]
    fn a_choice_is_explained_by_what_stands_beside_it() {
        let chosen = row(Compressor::Zstd, BlockSize::DEFAULT, 0.84, 300 << 20);
        let lz4 = row(Compressor::Lz4, BlockSize::MAX, 0.91, 375 << 20);
        assert_eq!(
            compressor(&chosen, Some(&lz4), "starts"),
            "zstd 15 starts in 840 ms; the best of the others, lz4 12, 1M, planned, in 910 ms, with +25.0 % in size."
        );
        let large = row(Compressor::Zstd, BlockSize::MAX, 1.05, 297 << 20);
        assert_eq!(
            block_size(&chosen, Some(&large), "starts"),
            "Blocks of 128K: with 1M, the next best, it starts in 1.05 s (+25.0 %), with 0.0 % in decompressed bytes, \
             -1.0 % in size."
        );
        let today = Row {
            tool: Some("mksquashfs"),
            ..row(Compressor::Gzip, BlockSize::DEFAULT, 2.9, 343 << 20)
        };
        assert_eq!(
            cost(&chosen, Some(&today), "starts"),
            "It has 300 MiB (±0.8 %), takes 35.0 s and 300 MiB of memory to build, and leaves 120 MiB in the page cache; what \
             mksquashfs makes by default (gzip 9, 128K, planned) starts in 2.90 s and has 343 MiB."
        );
        for alone in [
            compressor(&chosen, None, "is read"),
            block_size(&chosen, None, "is read"),
            cost(&chosen, None, "is read"),
        ] {
            assert!(alone.ends_with('.'), "{alone}");
        }
    }
}
