//! Sums as sentences, on the terminal and on the page.

use coldpress_report::text::{escaped, plural};
use coldpress_report::units::{bytes, count, ratio, seconds};

use super::{Findings, Origin};
use crate::Totals;

/// Names and what they mean for this start.
pub fn facts(findings: &Findings) -> Vec<(&'static str, String)> {
    let totals = &findings.explanation.totals;
    vec![
        ("start", start(findings)),
        ("device", device(findings)),
        ("read", read(totals)),
        ("needed", needed(totals)),
        ("decompressed", decompressed(totals)),
        ("used", used(totals)),
        ("in memory", in_memory(totals)),
        ("time", spent(findings)),
    ]
}

fn start(findings: &Findings) -> String {
    match findings.origin {
        Origin::Start { read_ahead_kib, .. } => format!(
            "{}, device {}, {read_ahead_kib} KiB of readahead",
            time(findings.explanation.totals.wall_us),
            escaped(findings.device.as_bytes()),
        ),
        Origin::Trace {
            name,
            is_calibrated,
        } => format!(
            "{} as predicted of {name}, device {} ({})",
            time(findings.explanation.totals.wall_us),
            escaped(findings.device.as_bytes()),
            if *is_calibrated {
                "as calibrated"
            } else {
                "not calibrated"
            }
        ),
    }
}

fn device(findings: &Findings) -> String {
    let totals = &findings.explanation.totals;
    let counted = format!(
        "{}, {}",
        plural(totals.device_reads, "read", "reads"),
        bytes(totals.device_bytes)
    );
    if let Origin::Trace { .. } = findings.origin {
        return counted;
    }
    let apart = totals.difference().map_or(String::new(), |difference| {
        format!(", {:.2} % apart", difference * 100.0)
    });
    format!(
        "{counted} as the device counted; {}, {} by the events{apart}",
        plural(totals.reads, "read", "reads"),
        bytes(totals.read_bytes),
    )
}

fn read(totals: &Totals) -> String {
    format!(
        "data {}, fragment blocks {}, metadata {}",
        bytes(totals.data_bytes),
        bytes(totals.fragment_bytes),
        bytes(totals.metadata_bytes)
    )
}

fn needed(totals: &Totals) -> String {
    let blocks = bytes(totals.needed_bytes);
    match totals.read_amplification() {
        Some(amplification) => format!(
            "{blocks} of blocks hold what was used; for each byte of them {} were read",
            ratio(amplification)
        ),
        None => "nothing".to_owned(),
    }
}

fn decompressed(totals: &Totals) -> String {
    let all = bytes(totals.decompressed_bytes);
    match totals.decompression_amplification() {
        Some(amplification) => format!(
            "{all}, {} for each byte that was used",
            ratio(amplification)
        ),
        None => all,
    }
}

fn used(totals: &Totals) -> String {
    format!(
        "{}, {} of pages certainly, {} more perhaps",
        plural(totals.files, "file", "files"),
        bytes(totals.used_bytes),
        bytes(totals.perhaps_used_bytes)
    )
}

fn in_memory(totals: &Totals) -> String {
    format!(
        "{} of pages came in, {} of them in vain; of these {} past the ends of files",
        bytes(totals.cached_bytes),
        bytes(totals.unused_bytes),
        bytes(totals.past_end_bytes)
    )
}

fn spent(findings: &Findings) -> String {
    let totals = &findings.explanation.totals;
    let most = match findings.origin {
        Origin::Start { .. } => " at most",
        Origin::Trace { .. } => "",
    };
    let by_rate = match (
        totals.decompressing_by_rate_us,
        totals.decompression_bytes_per_s,
    ) {
        (Some(time_us), Some(rate)) => format!(
            " (a program takes {} for as much, at {} MB/s)",
            time(time_us),
            count(rate / 1_000_000)
        ),
        _ => String::new(),
    };
    format!(
        "{} of waiting for the device, {} of decompressing{most}{by_rate}, over all threads",
        time(totals.waited_us),
        time(totals.decompressing_us)
    )
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown of it")]
fn time(time_us: u64) -> String {
    seconds(time_us as f64 / 1e6)
}
