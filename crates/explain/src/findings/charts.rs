//! What is told of a start, drawn.

use coldpress_bench::{HeatMap, Timeline, TimelineSpot};
use coldpress_report::units::{as_f64, bytes};

use super::Findings;
use super::tables::{self, ms};
use crate::{ReadKind, ReadMark};

/// Cells of the heat map.
const TIMES: usize = 48;
const PLACES: usize = 32;

/// Every read, by time and position.
pub(super) fn timeline(findings: &Findings) -> Timeline {
    let spot = |read: &ReadMark| {
        let what = match (read.kind, read.file) {
            (ReadKind::Metadata, _) => "metadata".to_owned(),
            (ReadKind::Fragment, Some(file)) => {
                format!("fragment block for {}", tables::path(findings.map, file))
            }
            (ReadKind::Fragment, None) => "fragment block".to_owned(),
            (ReadKind::Data, Some(file)) => tables::path(findings.map, file),
            (ReadKind::Data, None) => "data".to_owned(),
        };
        TimelineSpot {
            at: (as_f64(read.time_us) / 1e3, mebibytes(read.start_byte)),
            kind: kind(read.kind),
            tip: format!(
                "{what}: {} at {} ms, waited {} ms",
                bytes(read.len_bytes),
                ms(read.time_us),
                ms(read.waited_us)
            ),
        }
    };
    Timeline {
        title: "Position in the image of each read".to_owned(),
        axes: axes(),
        kinds: ["data blocks", "fragment blocks", "metadata"]
            .map(str::to_owned)
            .to_vec(),
        spots: findings.explanation.reads.iter().map(spot).collect(),
    }
}

fn kind(kind: ReadKind) -> usize {
    match kind {
        ReadKind::Data => 0,
        ReadKind::Fragment => 1,
        ReadKind::Metadata => 2,
    }
}

/// How many reads each part of the image had, and when.
pub(super) fn heat_map(findings: &Findings) -> HeatMap {
    let reads = &findings.explanation.reads;
    let last_us = reads.iter().map(|read| read.time_us).max().unwrap_or(0);
    let end_us = last_us
        .max(findings.explanation.totals.wall_us)
        .saturating_add(1);
    let image_bytes = findings.map.image_bytes().max(1);
    let mut rows = vec![vec![0_u64; TIMES]; PLACES];
    for read in reads {
        let column = cell(read.time_us, end_us, TIMES);
        let last_byte = read
            .start_byte
            .saturating_add(read.len_bytes.saturating_sub(1));
        let first = cell(read.start_byte, image_bytes, PLACES);
        for row in first..=cell(last_byte, image_bytes, PLACES) {
            if let Some(count) = rows.get_mut(row).and_then(|row| row.get_mut(column)) {
                *count += 1;
            }
        }
    }
    HeatMap {
        title: "Reads of each part of the image".to_owned(),
        axes: axes(),
        ends: (as_f64(end_us) / 1e3, mebibytes(image_bytes)),
        counted: "reads".to_owned(),
        rows,
    }
}

/// Which of `count` equal parts of `whole` a value is in.
fn cell(value: u64, whole: u64, count: usize) -> usize {
    let cell = u128::from(value) * count as u128 / u128::from(whole.max(1));
    usize::try_from(cell).map_or(count - 1, |cell| cell.min(count - 1))
}

fn axes() -> [String; 2] {
    ["ms".to_owned(), "MiB".to_owned()]
}

fn mebibytes(count_bytes: u64) -> f64 {
    as_f64(count_bytes) / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_a_cell() {
        for (value, whole, expected) in [
            (0, 100, 0),
            (99, 100, 3),
            (50, 100, 2),
            (100, 100, 3),
            (7, 0, 3),
        ] {
            assert_eq!(cell(value, whole, 4), expected, "{value} of {whole}");
        }
        assert_eq!(cell(u64::MAX, 1, 4), 3);
    }
}
