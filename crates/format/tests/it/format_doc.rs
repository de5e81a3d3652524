//! The tables of docs/format.md and docs/start-pack.md state the same layout as the wire structures.

use std::collections::BTreeMap;
use std::mem::offset_of;

use coldpress_format::{
    RawDevice, RawDirectory, RawDirectoryEntry, RawDirectoryHeader, RawExtendedDevice,
    RawExtendedDirectory, RawExtendedFile, RawExtendedIpc, RawFile, RawFragment, RawGzipOptions,
    RawIndexEntry, RawInodeHeader, RawIpc, RawOptionPair, RawPackFile, RawPackHeader, RawPackIndex,
    RawPackPiece, RawPackRun, RawSuperblock, RawSymlink, RawXattrId, RawXattrKey, RawXattrTable,
    RawXattrValue, RawZstdOptions,
};

const DOCUMENT: &str = include_str!("../../../../docs/format.md");
const START_PACK: &str = include_str!("../../../../docs/start-pack.md");
const TABLE_HEAD: &str = "| Byte | Size | Field | Meaning |";

/// A record: its size in bytes, and offset, size and name of each field.
#[derive(Debug, PartialEq)]
struct Record {
    size: usize,
    fields: Vec<(usize, usize, String)>,
}

/// The size of the field that `get` borrows from a record.
fn size_of_field<R, F>(_get: impl Fn(&R) -> &F) -> usize {
    size_of::<F>()
}

/// Names every field, so that one more in the structure does not compile.
macro_rules! records {
    ($($record:ident { $($field:ident),* $(,)? })*) => {
        BTreeMap::from([$({
            #[expect(dead_code, reason = "only its pattern matters: it must name every field")]
            fn exhaustive($record { $($field: _),* }: &$record) {}
            let fields = vec![$((
                offset_of!($record, $field),
                size_of_field(|raw: &$record| &raw.$field),
                stringify!($field).to_owned(),
            )),*];
            (stringify!($record).to_owned(), Record { size: size_of::<$record>(), fields })
        }),*])
    };
}

fn records_in_code() -> BTreeMap<String, Record> {
    records! {
        RawSuperblock {
            magic, inode_count, modification_time, block_size, fragment_count, compressor,
            block_log, flags, id_count, version_major, version_minor, root_inode, bytes_used,
            id_table_start, xattr_table_start, inode_table_start, directory_table_start,
            fragment_table_start, export_table_start,
        }
        RawGzipOptions { level, window_size, strategies }
        RawOptionPair { first, second }
        RawZstdOptions { level }
        RawInodeHeader { kind, mode, uid_index, gid_index, mtime, number }
        RawDirectory { block_start, link_count, size, offset, parent }
        RawExtendedDirectory {
            link_count, size, block_start, parent, index_count, offset, xattr,
        }
        RawFile { start, fragment, tail_offset, size }
        RawExtendedFile { start, size, sparse, link_count, fragment, tail_offset, xattr }
        RawSymlink { link_count, target_size }
        RawDevice { link_count, number }
        RawExtendedDevice { link_count, number, xattr }
        RawIpc { link_count }
        RawExtendedIpc { link_count, xattr }
        RawDirectoryHeader { count, inode_block_start, base_number }
        RawDirectoryEntry { inode_offset, number_delta, kind, name_size }
        RawIndexEntry { listing_offset, block_start, name_size }
        RawFragment { start, size, unused }
        RawXattrKey { kind, name_size }
        RawXattrValue { value_size }
        RawXattrId { pairs, count, size }
        RawXattrTable { pairs_start, count, unused }
        RawPackHeader {
            magic, version, compressor, piece_count, index_piece_count, unused, size_bytes,
            superblock_digest, table_digest, header_digest,
        }
        RawPackPiece { size, len_bytes, digest }
        RawPackIndex { file_count, run_count }
        RawPackFile { inode, size_bytes, digest, path_bytes }
        RawPackRun { file, page_count, first_page }
    }
}

/// Reads each table that stands below a line such as "`RawFile`, 16 bytes:".
fn records_in(document: &str) -> BTreeMap<String, Record> {
    let mut records = BTreeMap::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        assert_ne!(
            line, TABLE_HEAD,
            "a table of fields without a record's name above"
        );
        let Some((name, size)) = record_line(line) else {
            continue;
        };
        assert_eq!(lines.next(), Some(""), "behind the line of {name}");
        assert_eq!(lines.next(), Some(TABLE_HEAD), "the table of {name}");
        assert_eq!(
            lines.next(),
            Some("|---|---|---|---|"),
            "the table of {name}"
        );
        let rows = lines.by_ref().take_while(|line| !line.is_empty());
        let fields = rows.map(|row| field(name, row)).collect();
        let before = records.insert(name.to_owned(), Record { size, fields });
        assert!(before.is_none(), "{name} has two tables");
    }
    records
}

/// The name and size in "`RawFile`, 16 bytes:".
fn record_line(line: &str) -> Option<(&str, usize)> {
    let (name, rest) = line.strip_prefix('`')?.split_once("`, ")?;
    let size = rest.strip_suffix(" bytes:")?;
    Some((
        name,
        size.parse().expect("the size of a record is a number"),
    ))
}

/// The offset, size and name in "| 0 | 4 | `start` | meaning |".
fn field(record: &str, row: &str) -> (usize, usize, String) {
    let cells: Vec<_> = row.split('|').map(str::trim).collect();
    let ["", byte, size, name, meaning, ""] = cells[..] else {
        panic!("{record}: a row has four cells: {row}");
    };
    assert!(!meaning.is_empty(), "{record}: {name} has no meaning");
    let name = name
        .strip_prefix('`')
        .and_then(|name| name.strip_suffix('`'));
    let number = |cell: &str| cell.parse().expect("offsets and sizes are numbers");
    (
        number(byte),
        number(size),
        name.expect("names are in backticks").to_owned(),
    )
}

#[test]
fn every_table_states_the_layout_of_its_structure() {
    let (code, mut document) = (records_in_code(), records_in(DOCUMENT));
    document.extend(records_in(START_PACK));
    for (name, record) in &code {
        assert_eq!(Some(record), document.get(name), "{name}");
    }
    for name in document.keys() {
        assert!(code.contains_key(name), "{name} is not a structure");
    }
}

#[test]
fn every_public_wire_structure_is_compared() {
    let source = include_str!("../../src/lib.rs");
    let mut exported: Vec<_> = source
        .split(|byte: char| !byte.is_ascii_alphanumeric())
        .filter(|word| word.len() > 3 && word.starts_with("Raw"))
        .collect();
    exported.sort_unstable();
    let compared = records_in_code();
    assert_eq!(exported, compared.keys().collect::<Vec<_>>());
}

#[test]
fn fields_fill_their_record_without_a_gap() {
    let records = [DOCUMENT, START_PACK].map(records_in);
    for (name, record) in records.into_iter().flatten() {
        let end = record.fields.iter().fold(0, |end, (offset, size, field)| {
            assert_eq!(*offset, end, "{name}: {field}");
            end + size
        });
        assert_eq!(end, record.size, "{name}");
    }
}

#[test]
fn sections_that_docstrings_name_exist() {
    let sources = [
        include_str!("../../src/block.rs"),
        include_str!("../../src/compressor.rs"),
        include_str!("../../src/directory.rs"),
        include_str!("../../src/fragment.rs"),
        include_str!("../../src/inode.rs"),
        include_str!("../../src/metadata.rs"),
        include_str!("../../src/superblock.rs"),
        include_str!("../../src/xattr.rs"),
    ];
    for source in sources {
        let named = source
            .lines()
            .filter_map(|line| line.split_once("docs/format.md, "));
        let mut count = 0;
        for section in named.flat_map(|(_, rest)| rest.split('"').skip(1).step_by(2)) {
            let heading = DOCUMENT.lines().any(|line| {
                line.starts_with("##") && line.trim_start_matches(['#', ' ']) == section
            });
            assert!(heading, "docs/format.md has no section {section:?}");
            count += 1;
        }
        assert!(count > 0, "each of these modules names its section");
    }
}

#[test]
fn a_wrong_table_is_noticed() {
    let right = "`RawIpc`, 4 bytes:\n\n| Byte | Size | Field | Meaning |\n|---|---|---|---|\n\
                 | 0 | 4 | `link_count` | links |\n";
    let code = records_in_code();
    let same = |text: &str| records_in(text).get("RawIpc") == code.get("RawIpc");
    assert!(same(right));
    let row = "| 0 | 4 | `link_count` | links |\n";
    for (found, wrong) in [
        ("| 0 |", "| 4 |"),
        ("| 4 |", "| 2 |"),
        ("link_count", "links"),
        (", 4 bytes", ", 8 bytes"),
        (row, ""),
        (
            row,
            "| 0 | 4 | `link_count` | links |\n| 4 | 4 | `xattr` | index |\n",
        ),
    ] {
        assert!(!same(&right.replace(found, wrong)), "{wrong:?}");
    }
}
