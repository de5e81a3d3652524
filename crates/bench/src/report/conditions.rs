//! What the figures rest on: excluded runs, conditions, method, raw samples.

use super::html::Page;
use crate::comparison::{Comparison, DeviceFacts, ViaFacts};
use crate::format_units::{bytes, bytes_per_s, count, date, seconds};
use crate::run::Run;
use crate::stats::{RESAMPLES, TURNS_FOR_VERDICT};

/// The list of runs that do not count.
pub(super) fn excluded(page: &mut Page, comparison: &Comparison) {
    page.section("Excluded runs");
    let name = |run: &Run| {
        comparison
            .contestants
            .get(run.contestant)
            .map(|found| found.name.as_str())
    };
    let mut lines = Vec::new();
    for run in comparison.excluded() {
        let Some(reason) = run.excluded else { continue };
        let cold = run.cold_s.map_or(String::new(), |cold_s| {
            format!(" (cold {})", seconds(cold_s))
        });
        let name = name(run).unwrap_or("?");
        lines.push(format!("Turn {}, {name}{cold}: {reason}.", run.turn + 1));
    }
    if lines.is_empty() {
        page.element(
            "p",
            "",
            &format!("None: all {} runs count.", comparison.runs.len()),
        );
        return;
    }
    page.push("<ul>\n");
    for line in &lines {
        page.element("li", "", line);
    }
    page.push("</ul>\n");
}

/// Facts beside the measurement.
pub(super) fn notes(page: &mut Page, notes: &[(String, String)]) {
    if notes.is_empty() {
        return;
    }
    page.section("Facts");
    let rows: Vec<_> = notes
        .iter()
        .map(|(name, value)| vec![name.clone(), value.clone()])
        .collect();
    page.push("<div class=\"facts\">");
    page.table(&[], &rows);
    page.push("</div>");
}

/// Everything that changes results.
pub(super) fn conditions(page: &mut Page, comparison: &Comparison) {
    page.section("Conditions");
    let machine = &comparison.machine;
    let virtual_machine = if machine.virtual_machine {
        ", virtual machine"
    } else {
        ""
    };
    let memory = machine.memory_bytes.map_or("unknown".to_owned(), bytes);
    let fragments = machine
        .squashfs_cached_fragments
        .map_or(String::new(), |fragments| {
            format!(", {fragments} cached fragments")
        });
    let page_cache = match machine.squashfs_file_direct {
        Some(true) => ", directly into the page cache",
        Some(false) => ", through a buffer",
        None => "",
    };
    let chroot = if comparison.command.chroot {
        "the image"
    } else {
        "that of the machine"
    };
    let facts = [
        ("measured", date(comparison.began_unix_s)),
        ("command", comparison.command.line()),
        ("root directory", chroot.to_owned()),
        ("time limit", format!("{} s", comparison.command.timeout_s)),
        ("turns", comparison.turns.to_string()),
        ("device", device(&comparison.device)),
        ("readahead", format!("{} KiB", comparison.read_ahead_kib)),
        (
            "processor",
            format!(
                "{}, {} cores{virtual_machine}",
                machine.cpu_model, machine.cores
            ),
        ),
        ("memory", memory),
        ("kernel", format!("Linux {}", machine.kernel)),
        (
            "SquashFS of the kernel",
            format!(
                "decompressor {}{fragments}{page_cache}",
                machine.squashfs_decompressor
            ),
        ),
        (
            "measured with",
            concat!("coldpress ", env!("CARGO_PKG_VERSION")).to_owned(),
        ),
        ("proof of coldness", coldness(comparison)),
    ];
    let rows: Vec<_> = facts
        .map(|(name, value)| vec![name.to_owned(), value])
        .to_vec();
    page.push("<div class=\"facts\">");
    page.table(&[], &rows);
    page.push("</div>");
}

fn device(device: &DeviceFacts) -> String {
    let via = match device.via {
        ViaFacts::Partition => "the image as a partition (direct I/O, the loop device throttled)",
        ViaFacts::File => "the image as a file (buffered, the disk below throttled)",
    };
    let mut limits = Vec::new();
    if let Some(rate) = device.read_bytes_per_s {
        limits.push(bytes_per_s(rate));
    }
    if let Some(rate) = device.read_iops {
        limits.push(format!("{} reads/s", count(rate)));
    }
    let limits = if limits.is_empty() {
        "not throttled".to_owned()
    } else {
        limits.join(", ")
    };
    format!("{}: {limits}; {via}", device.name)
}

/// Counted from the runs, not asserted.
fn coldness(comparison: &Comparison) -> String {
    let counted: Vec<&Run> = (0..comparison.contestants.len())
        .flat_map(|index| comparison.counted(index))
        .collect();
    let count_of = |holds: fn(&Run) -> bool| counted.iter().filter(|run| holds(run)).count();
    let absent = count_of(|run| run.coldness.image_resident_pages == 0);
    let fresh = count_of(|run| run.coldness.fresh_superblock == Some(true));
    let again = count_of(|run| run.coldness.attempts > 1);
    format!(
        "of {} counted runs, {absent} began without a page of the image in the page cache \
         (cachestat), and {fresh} with a fresh mount of a fresh loop device; in {again} the caches \
         had to be dropped more than once",
        counted.len()
    )
}

/// How the figures are computed.
pub(super) fn method(page: &mut Page) {
    page.section("Method");
    page.element(
        "p",
        "",
        &format!(
            "Images run in turn, and every second turn runs backwards. Before each run the caches \
             are dropped and the image is mounted anew; mounting is not part of the time, and what \
             the command uses outside the image is cold too. The warm start follows in the same \
             mount. Intervals come from {} resamples (expanded percentile bootstrap, fixed seed); \
             for ratios whole turns are drawn, since both starts of a turn met the same \
             disturbances. \"Faster\" and \"slower\" need an interval wholly on one side of 1 \
             and at least {TURNS_FOR_VERDICT} turns. Outliers are kept. Reads and bytes are those \
             of the loop device.",
            count(RESAMPLES as u64)
        ),
    );
}

/// Every run, at full precision.
pub(super) fn samples(page: &mut Page, comparison: &Comparison) {
    const COLUMNS: [&str; 12] = [
        "turn",
        "image",
        "cold s",
        "warm s",
        "processor s",
        "reads",
        "bytes read",
        "mount reads",
        "mount bytes",
        "page cache bytes",
        "resident pages before",
        "counts",
    ];
    let time = |time_s: Option<f64>| time_s.map_or("-".to_owned(), |time_s| format!("{time_s:.6}"));
    let number = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let row = |run: &Run| {
        let name = comparison
            .contestants
            .get(run.contestant)
            .map(|found| found.name.clone());
        vec![
            (run.turn + 1).to_string(),
            name.unwrap_or_default(),
            time(run.cold_s),
            time(run.warm_s),
            time(run.cpu_s),
            number(run.reads),
            number(run.read_bytes),
            number(run.mount_reads),
            number(run.mount_read_bytes),
            number(run.page_cache_bytes),
            run.coldness.image_resident_pages.to_string(),
            run.excluded
                .map_or("yes".to_owned(), |reason| format!("no: {reason}")),
        ]
    };
    let rows: Vec<_> = comparison.runs.iter().map(row).collect();
    page.section("Samples");
    page.push("<details><summary>All runs</summary>\n");
    page.table(&COLUMNS, &rows);
    page.push("</details>\n");
}
