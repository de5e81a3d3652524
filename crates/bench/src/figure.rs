//! Figures by name: what they are called, where they stand in tables, and in which unit a chart has
//! them.
//!
//! The name of a figure ends with its unit ([`coldpress_history::Figures`]), so one that is not in
//! the list here is shown as well, under its own name.

use coldpress_history::{Unit, stem};
use coldpress_report::units::{bytes, count, ratio, seconds, whole};

/// Titles, in the order of the columns of tables.
const TITLES: [(&str, &str); 22] = [
    ("size_bytes", "size"),
    ("size_percent", "size, of the content"),
    ("cold_s", "cold start"),
    ("warm_s", "warm start"),
    ("predicted_s", "predicted cold start"),
    ("walk_s", "read of the whole tree"),
    ("boot_s", "boot"),
    ("kernel_s", "kernel's part of the boot"),
    ("build_s", "build"),
    ("unpack_s", "unpacking"),
    ("used_cores", "cores used"),
    ("peak_memory_bytes", "peak memory"),
    ("reads", "reads"),
    ("predicted_reads", "predicted reads"),
    ("read_bytes", "bytes read"),
    ("predicted_read_bytes", "predicted bytes read"),
    ("page_cache_bytes", "page cache"),
    ("readahead_bytes", "readahead"),
    ("cpu_s", "processor time"),
    ("resident_pages", "resident pages before"),
    ("mount_reads", "reads of the mount"),
    ("mount_read_bytes", "bytes read by the mount"),
];

/// Figures that say what a contestant is; all others are measured.
const SETTINGS: [&str; 2] = ["block_size_bytes", "readahead_bytes"];

/// Whether a figure was chosen and not measured.
pub(crate) fn is_setting(name: &str) -> bool {
    SETTINGS.contains(&name)
}

/// What a figure is called in tables and charts.
pub(crate) fn title(name: &str) -> String {
    let known = TITLES.iter().find(|(known, _)| *known == name);
    known.map_or_else(
        || stem(name).replace('_', " "),
        |(_, title)| (*title).to_owned(),
    )
}

/// Where a figure stands among the columns of a table.
pub(crate) fn place(name: &str) -> usize {
    let place = TITLES.iter().position(|(known, _)| *known == name);
    place.unwrap_or(TITLES.len())
}

/// Formats a figure with the unit that its name ends with: `1.23 s` for `cold_s`.
pub fn formatted(name: &str, value: f64) -> String {
    match Unit::of(name) {
        Unit::Seconds => seconds(value),
        Unit::Bytes => bytes(whole(value)),
        Unit::Percent => format!("{value:.1} %"),
        Unit::Cores => format!("{value:.1}"),
        Unit::Count if value.fract() == 0.0 || value >= 100.0 => count(whole(value)),
        Unit::Count => ratio(value),
    }
}

/// The unit in which values up to `max` read well, and what to multiply them by.
pub(crate) fn scale(name: &str, max: f64) -> (f64, &'static str) {
    match Unit::of(name) {
        Unit::Seconds if max < 0.999_5 => (1e3, "milliseconds"),
        Unit::Seconds => (1.0, "seconds"),
        Unit::Bytes => byte_scale(max),
        Unit::Percent => (1.0, "%"),
        Unit::Cores => (1.0, "cores"),
        Unit::Count => (1.0, "count"),
    }
}

/// The binary unit in which `max` has one to four digits, and its inverse.
fn byte_scale(max: f64) -> (f64, &'static str) {
    let mut scale = 1.0;
    let mut name = "bytes";
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if max * scale < 1024.0 {
            break;
        }
        scale /= 1024.0;
        name = larger;
    }
    (scale, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_called_by_its_name() {
        assert_eq!(title("cold_s"), "cold start");
        assert_eq!(title("first_frame_s"), "first frame");
        assert_eq!(title("zsync_blocks"), "zsync blocks");
    }

    #[test]
    fn scales_leave_few_digits() {
        assert_eq!(scale("cold_s", 0.9), (1e3, "milliseconds"));
        assert_eq!(scale("cold_s", 1.0), (1.0, "seconds"));
        assert_eq!(scale("size_bytes", 1000.0), (1.0, "bytes"));
        let mebi = 1024.0 * 1024.0;
        assert_eq!(scale("size_bytes", 311.0 * mebi), (1.0 / mebi, "MiB"));
    }

    #[test]
    fn what_is_not_known_stands_last() {
        assert!(place("size_bytes") < place("cold_s"));
        assert!(place("mount_read_bytes") < place("first_frame_s"));
    }

    #[test]
    fn figures_have_the_unit_in_their_name() {
        for (name, value, expected) in [
            ("cold_s", 1.234, "1.23 s"),
            ("size_bytes", 326_107_136.0, "311 MiB"),
            ("size_percent", 47.06, "47.1 %"),
            ("used_cores", 7.94, "7.9"),
            ("reads", 3330.0, "3,330"),
            ("reads", 3330.5, "3,331"),
            ("reads", 2.5, "2.50"),
            ("read_bytes", -1.0, "0 B"),
        ] {
            assert_eq!(formatted(name, value), expected);
        }
    }
}
