//! What is told in columns, on the terminal and on the page.

use coldpress_report::Table;
use coldpress_report::text::escaped;
use coldpress_report::units::{bytes, count, ratio};

use super::Findings;
use crate::{BlockKind, ElfCost, EntryCost, FileCost, ImageMap, RepeatedBlock, SectionCost};

/// Nothing to say.
const NONE: &str = "-";

/// Files, those that cost most first.
pub fn files(findings: &Findings, max: usize) -> Table {
    let row = |cost: &FileCost| {
        vec![
            path(findings.map, cost.file),
            count(cost.device_reads),
            bytes(cost.read_bytes),
            bytes(cost.used_bytes),
            bytes(cost.perhaps_used_bytes),
            bytes(cost.unused_bytes),
            cost.amplification().map_or(NONE.to_owned(), ratio),
            ms(cost.first_access_us),
            ms(cost.waited_us),
            ms(cost.decompressing_us),
        ]
    };
    Table {
        columns: columns(&[
            "file",
            "reads",
            "read",
            "used",
            "perhaps",
            "in vain",
            "made/used",
            "first ms",
            "waited ms",
            "decompressing ms",
        ]),
        rows: findings
            .explanation
            .files
            .iter()
            .take(max)
            .map(row)
            .collect(),
    }
}

/// The parts of the metadata.
pub fn metadata(findings: &Findings) -> Table {
    let rows = findings.explanation.metadata.iter().map(|area| {
        vec![
            area.area.name().replace('-', " "),
            count(area.blocks),
            bytes(area.unique_bytes),
            count(area.readings),
            count(area.device_reads),
            bytes(area.read_bytes),
            ms(area.waited_us),
            ms(area.decompressing_us),
        ]
    });
    Table {
        columns: columns(&[
            "metadata",
            "blocks",
            "of",
            "times read",
            "reads",
            "read",
            "waited ms",
            "decompressing ms",
        ]),
        rows: rows.collect(),
    }
}

/// Why blocks were read again.
pub fn reasons(findings: &Findings) -> Table {
    let rows = findings.explanation.repeats.by_reason.iter().map(|sum| {
        vec![
            sum.reason.text().to_owned(),
            count(sum.readings),
            bytes(sum.again_bytes),
        ]
    });
    Table {
        columns: columns(&["read again because", "times", "read again"]),
        rows: rows.collect(),
    }
}

/// The blocks that were read again, those that cost most first.
pub fn repeated(findings: &Findings, max: usize) -> Table {
    let row = |found: &RepeatedBlock| {
        vec![
            block_name(findings.map, found.block),
            count(found.times),
            bytes(found.again_bytes),
            found.reason.text().to_owned(),
        ]
    };
    let blocks = &findings.explanation.repeats.blocks;
    Table {
        columns: columns(&["block", "times", "read again", "most often because"]),
        rows: blocks.iter().take(max).map(row).collect(),
    }
}

/// Entries of archives, those that were waited for longest first.
pub fn archives(findings: &Findings, max: usize) -> Table {
    let row = |cost: &EntryCost| {
        vec![
            format!("{}: {}", path(findings.map, cost.file), escaped(&cost.name)),
            count(cost.device_reads),
            bytes(cost.read_bytes),
            bytes(cost.size_bytes),
            if cost.accesses == 0 {
                NONE.to_owned()
            } else {
                ms(cost.first_us)
            },
            ms(cost.waited_us),
        ]
    };
    let rows = findings.archives.iter().take(max).map(row);
    Table {
        columns: columns(&[
            "entry of an archive",
            "reads",
            "read",
            "its size",
            "first ms",
            "waited ms",
        ]),
        rows: rows.collect(),
    }
}

/// Programs and libraries, those that cost most first.
pub fn programs(findings: &Findings, max: usize) -> Table {
    let rows = findings.known_programs().take(max).map(|(file, cost)| {
        vec![
            path(findings.map, file),
            count(cost.faults),
            backward(cost),
            format!(
                "{} of {}",
                count(cost.touched_relocated_pages),
                count(cost.relocated_pages)
            ),
            count(cost.initializers.len() as u64),
            count(cost.touched_initializer_pages),
            sections(cost),
        ]
    });
    Table {
        columns: columns(&[
            "program or library",
            "faults",
            "backward",
            "relocated pages",
            "initializers",
            "their pages",
            "touched pages of sections",
        ]),
        rows: rows.collect(),
    }
}

/// Share of the faults that went back in the file.
fn backward(cost: &ElfCost) -> String {
    match (cost.backward_faults * 100).checked_div(cost.faults.saturating_sub(1)) {
        Some(percent) => format!("{percent} %"),
        None => NONE.to_owned(),
    }
}

/// How many sections of a program are named on a line.
const SECTIONS_MAX: usize = 4;

/// `.text 120 (+31) of 900, .rodata 4 of 61`: those with most touched pages, certainly and perhaps.
fn sections(cost: &ElfCost) -> String {
    let touched = |section: &&SectionCost| section.touched_pages + section.perhaps_touched_pages;
    let mut sections: Vec<&SectionCost> = cost.sections.iter().collect();
    sections.sort_by_key(|section| std::cmp::Reverse(touched(section)));
    let texts = sections.iter().filter(|section| touched(section) > 0);
    let texts = texts.take(SECTIONS_MAX).map(|section| {
        let perhaps = match section.perhaps_touched_pages {
            0 => String::new(),
            pages => format!(" (+{})", count(pages)),
        };
        format!(
            "{} {}{perhaps} of {}",
            escaped(&section.name),
            count(section.touched_pages),
            count(section.pages)
        )
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// `block 12 of /usr/lib/libx.so`, `fragment block 3`, `inode table at byte 4096`.
fn block_name(map: &ImageMap, block: usize) -> String {
    let Some(block) = map.blocks().get(block) else {
        return NONE.to_owned();
    };
    match block.kind {
        BlockKind::Data { file, index } => format!("block {index} of {}", path(map, file)),
        BlockKind::Fragment(index) => format!("fragment block {index}"),
        BlockKind::Metadata(area) => {
            format!("{} at byte {}", area.name().replace('-', " "), block.start)
        }
    }
}

/// The path of a file, in printable characters.
pub fn path(map: &ImageMap, file: usize) -> String {
    let file = map.files().get(file);
    file.map_or(NONE.to_owned(), |file| escaped(&file.path))
}

/// Milliseconds: `12.3`.
pub fn ms(time_us: u64) -> String {
    format!("{}.{}", count(time_us / 1000), time_us % 1000 / 100)
}

fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_name_the_sections_with_most_touched_pages() {
        let section = |name: &str, touched_pages, perhaps_touched_pages| SectionCost {
            name: name.as_bytes().to_vec(),
            pages: 900,
            touched_pages,
            perhaps_touched_pages,
            ..SectionCost::default()
        };
        let cost = ElfCost {
            sections: vec![
                section(".rodata", 4, 0),
                section(".text", 120, 31),
                section(".data", 0, 0),
            ],
            faults: 5,
            backward_faults: 1,
            ..ElfCost::default()
        };
        assert_eq!(sections(&cost), ".text 120 (+31) of 900, .rodata 4 of 900");
        assert_eq!(backward(&cost), "25 %");
        assert_eq!(backward(&ElfCost::default()), NONE);
        assert_eq!([ms(0), ms(999), ms(1_234_567)], ["0.0", "0.9", "1,234.5"]);
    }
}
