//! Metadata blocks and the tables found through an index.

use coldpress_format::Body;
use coldpress_image::Severity::{Error, Notice};

use super::{Case, WORD, at, case, file, fragment, stored, tail, with_ids, xattr_header};
use crate::defects::{changed, patched};

pub(super) const ALL: &[Case] = &[
    case(
        "size of a metadata block",
        Error,
        "metadata block at byte",
        || patched(stored().inode_at[0] - 2, &[0, 0x80]),
    ),
    case(
        "content of a metadata block",
        Error,
        "do not decode",
        || patched(stored().inode_at[0] - 1, &[0]),
    ),
    case(
        "indexes end where the next table begins",
        Error,
        "the fragment table's index",
        || {
            let start = stored().superblock.fragment_table_start.unwrap();
            let mut image = patched(80, &(start - 1).to_le_bytes());
            let table = image[at(start)..][..8].to_vec();
            image[at(start) - 1..][..8].copy_from_slice(&table);
            image
        },
    ),
    case(
        "positions in an index",
        Error,
        "position of a metadata block",
        || patched(at(stored().superblock.id_table_start), &WORD),
    ),
    case(
        "bytes of a table",
        Notice,
        "nothing refers to 4 bytes at offset 4",
        || {
            let mut bytes = with_ids(&[0, 7]);
            bytes[26] = 1;
            bytes
        },
    ),
    case(
        "place of a fragment block",
        Error,
        "fragment block at byte 80",
        || fragment(16, &[80, 0, 0, 0, 0, 0, 0, 0]),
    ),
    case(
        "size of a fragment block",
        Error,
        "fragment block size",
        || fragment(8, &[0, 0, 0, 0]),
    ),
    case(
        "unused words",
        Notice,
        "unused words that are not zero",
        || fragment(4, &[1]),
    ),
    case("unused words", Notice, "xattr table at byte", || {
        xattr_header(12, &[1])
    }),
    case(
        "every fragment block is used",
        Notice,
        "files with a tail end",
        || {
            changed(|nodes| {
                for node in [2, 7] {
                    nodes[node].inode.body = Body::Fifo;
                }
            })
            .bytes
        },
    ),
    case(
        "tail ends fill their fragment block",
        Notice,
        "nothing refers to 1 bytes",
        || file(7, |file| file.size_bytes -= 1),
    ),
    case(
        "tail ends are the same or apart",
        Notice,
        "belong to another one too",
        || tail(0, 49),
    ),
    case("export table", Error, "exported inode reference", || {
        patched(
            at(stored().superblock.export_table_start.unwrap()) - 8,
            &[1],
        )
    }),
    case(
        "every id is used and there once",
        Notice,
        "number of ids of no inode",
        || {
            // One more id: the table's block says 8 bytes.
            with_ids(&[0, 7])
        },
    ),
    case(
        "every id is used and there once",
        Notice,
        "ids that are there twice",
        || with_ids(&[0, 0]),
    ),
];
