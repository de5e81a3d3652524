//! A calibration as people read it.

use coldpress_host::{Calibration, Decompression, MediumFigures, MemoryFigures, ReaderFigures};
use coldpress_report::text::{escaped, fields, iso_utc};
use coldpress_report::units::{bytes, bytes_per_s, count, ratio, whole};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// The whole text.
pub fn text(calibration: &Calibration) -> String {
    let machine = &calibration.machine;
    let cores = coldpress_report::text::plural(machine.cores.into(), "core", "cores");
    let mut rows = vec![
        ("machine", format!("{}, {cores}", machine.cpu_model)),
        (
            "kernel",
            format!(
                "{} ({}), decompressor: {}",
                machine.kernel, machine.architecture, machine.squashfs_decompressor
            ),
        ),
    ];
    for (name, medium) in &calibration.media {
        rows.push(("medium", escaped(name.as_bytes())));
        rows.extend(medium_rows(medium));
    }
    rows.extend(calibration.memory.iter().map(memory_row));
    let mut text = fields(&rows);
    if let Some(reader) = &calibration.reader {
        text += &fields(&reader_rows(reader));
        text += "\n";
        text += &table(&reader.decompression);
        text += "\n";
    }
    text
}

fn medium_rows(medium: &MediumFigures) -> Vec<(&'static str, String)> {
    let ahead = medium.read_ahead_bytes.map(bytes);
    vec![
        ("  measured", measured(&medium.path, medium.made_unix_ms)),
        (
            "  one read",
            format!(
                "4 KiB in {}, 128 KiB in {}, 1 MiB in {}",
                short(medium.request_s),
                short(medium.large_request_s),
                short(medium.huge_request_s)
            ),
        ),
        (
            "  in order",
            bytes_per_s(whole(medium.bandwidth_bytes_per_s)),
        ),
        (
            "  at a time",
            format!(
                "{} reads of 4 KiB per second by {} threads",
                count(whole(medium.reads_per_s)),
                medium.reads_in_flight
            ),
        ),
        ("  readahead", ahead.unwrap_or_else(|| "unknown".to_owned())),
    ]
}

fn memory_row(memory: &MemoryFigures) -> (&'static str, String) {
    let copy = bytes_per_s(whole(memory.copy_bytes_per_s));
    let fault = short(memory.fault_s);
    let pages = memory.pages_per_fault;
    let text = format!("{copy} out of the page cache; {fault} a fault, of {pages:.1} pages");
    ("memory", text)
}

fn reader_rows(reader: &ReaderFigures) -> Vec<(&'static str, String)> {
    let who = if reader.is_kernel {
        "the kernel"
    } else {
        "this program in user space, NOT the kernel, whose speeds are others"
    };
    let mut rows = vec![
        ("reader", measured(who, reader.made_unix_ms)),
        (
            "  a page",
            format!(
                "{} to fill, and {} for each block",
                short(reader.fill_page_s),
                short(reader.stored_block_s)
            ),
        ),
        (
            "  threads",
            format!(
                "{} are {:.2} times as fast as one",
                reader.threads, reader.threads_gain
            ),
        ),
    ];
    if let Some(lookup_s) = reader.lookup_s {
        rows.push(("  a lookup", short(lookup_s)));
    }
    rows
}

/// What was measured, and when.
fn measured(what: &str, made_unix_ms: u64) -> String {
    let time = u32::try_from(made_unix_ms / 1000).map_or_else(|_| "later".to_owned(), iso_utc);
    format!("{}, {time}", escaped(what.as_bytes()))
}

/// Speeds by block size, as uncompressed bytes per second, and what each block takes besides.
fn table(decompression: &[Decompression]) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    let sizes: Vec<u32> = decompression.first().map_or_else(Vec::new, |first| {
        first.blocks.iter().map(|it| it.block_bytes).collect()
    });
    let mut header = vec!["decompression".to_owned()];
    header.extend(sizes.iter().map(|size| bytes((*size).into())));
    header.extend(["a block".to_owned(), "ratio".to_owned()]);
    table.set_header(header);
    for of in decompression {
        let mut row = vec![escaped(of.compressor.as_bytes())];
        row.extend(sizes.iter().map(|size| {
            let block = of.blocks.iter().find(|block| block.block_bytes == *size);
            let speed = block.map(|block| f64::from(*size) / block.time_s);
            speed.map_or_else(String::new, |speed| bytes_per_s(whole(speed)))
        }));
        let ratio = of.blocks.last().map(|block| format!("{:.3}", block.ratio));
        row.extend([short(of.block_s), ratio.unwrap_or_default()]);
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// Three digits of a time: `95.0 us`, `2.51 ms`, `1.20 s`.
fn short(time_s: f64) -> String {
    let (value, unit) = match time_s {
        0.0 => return "0 ns".to_owned(),
        ..0.999_5e-6 => (time_s * 1e9, "ns"),
        ..0.999_5e-3 => (time_s * 1e6, "us"),
        ..0.999_5 => (time_s * 1e3, "ms"),
        _ => (time_s, "s"),
    };
    format!("{} {unit}", ratio(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (time_s, text) in [
            (0.0, "0 ns"),
            (4.2e-9, "4.20 ns"),
            (95e-6, "95.0 us"),
            (2.512e-3, "2.51 ms"),
            (0.9999, "1.00 s"),
            (12.0, "12.0 s"),
        ] {
            assert_eq!(short(time_s), text);
        }
    }
}
