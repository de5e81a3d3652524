//! One damage for each rule.

use coldpress_format::{BlockWord, Body, File, TailEnd};
use coldpress_image::Severity::{Error, Notice};

use super::Case;
use crate::defects::{changed, patched};
use crate::handmade::{self, Handmade, directory};

const fn case(
    rule: &'static str,
    severity: coldpress_image::Severity,
    text: &'static str,
    image: fn() -> Vec<u8>,
) -> Case {
    Case {
        rule,
        severity,
        text,
        image,
    }
}

fn stored() -> Handmade {
    handmade::image(false)
}

fn at(start: u64) -> usize {
    usize::try_from(start).unwrap()
}

/// The image with bytes put into the inode of a node.
fn inode(node: usize, offset: usize, bytes: &[u8]) -> Vec<u8> {
    patched(stored().inode_at[node] + offset, bytes)
}

/// The image with bytes put into the first listing, that of the root.
fn listing(offset: usize, bytes: &[u8]) -> Vec<u8> {
    patched(stored().listing_at + offset, bytes)
}

/// The image with a file changed.
fn file(node: usize, change: fn(&mut File)) -> Vec<u8> {
    changed(|nodes| match &mut nodes[node].inode.body {
        Body::File(file) => change(file),
        _ => panic!("it is a file"),
    })
    .bytes
}

/// The image with the tail end of `/tail` elsewhere.
fn tail(fragment: u32, offset: u32) -> Vec<u8> {
    changed(|nodes| {
        if let Body::File(file) = &mut nodes[7].inode.body {
            file.tail = Some(TailEnd { fragment, offset });
        }
    })
    .bytes
}

/// The image with bytes put before the index of the fragment table, whose entry ends there.
fn fragment(back: usize, bytes: &[u8]) -> Vec<u8> {
    let index = at(stored().superblock.fragment_table_start.unwrap());
    patched(index - back, bytes)
}

/// The image with bytes put behind the start of the xattr id table's header.
fn xattr_header(offset: usize, bytes: &[u8]) -> Vec<u8> {
    patched(
        at(stored().superblock.xattr_table_start.unwrap()) + offset,
        bytes,
    )
}

/// The image with bytes put before the xattr id table's header, where its entry ends.
fn xattr_id(back: usize, bytes: &[u8]) -> Vec<u8> {
    patched(
        at(stored().superblock.xattr_table_start.unwrap()) - back,
        bytes,
    )
}

/// The image with bytes put behind the start of the first pair.
fn pair(offset: usize, bytes: &[u8]) -> Vec<u8> {
    let header = at(stored().superblock.xattr_table_start.unwrap());
    // Pairs of 35 bytes, an entry of 16, and a header of 2 bytes before each.
    patched(header - 18 - 35 + offset, bytes)
}

/// The image with bytes at its end.
fn end(bytes: &[u8]) -> Vec<u8> {
    let mut image = stored().bytes;
    let padded = image.len();
    image[padded - bytes.len()..].copy_from_slice(bytes);
    image
}

const WORD: [u8; 4] = [0xff; 4];

pub(super) const ALL: &[Case] = &[
    // Superblock.
    case("magic and version", Error, "magic is", || patched(0, b"x")),
    case("magic and version", Error, "major version is", || {
        patched(28, &[3])
    }),
    case("magic and version", Error, "minor version is", || {
        patched(30, &[1])
    }),
    case("block size and its logarithm", Error, "block size", || {
        patched(12, &[1])
    }),
    case(
        "block size and its logarithm",
        Error,
        "block log is",
        || patched(22, &[13]),
    ),
    case("number of the compressor", Error, "compressor 7", || {
        patched(20, &[7])
    }),
    case(
        "order of the tables",
        Error,
        "directory table start",
        || patched(72, &[96, 0]),
    ),
    case(
        "counts of inodes, ids, fragment blocks",
        Error,
        "inode count",
        || patched(4, &[0]),
    ),
    case(
        "counts of inodes, ids, fragment blocks",
        Error,
        "id count",
        || patched(26, &[0]),
    ),
    case(
        "counts of inodes, ids, fragment blocks",
        Error,
        "fragment count",
        || patched(16, &[9]),
    ),
    case(
        "counts of inodes, ids, fragment blocks",
        Error,
        "inode count is 9, must be 8",
        || patched(4, &[9]),
    ),
    case(
        "reference of the root",
        Error,
        "type of the root inode",
        || {
            let at = stored().inode_at;
            let offset = u16::try_from(at[4] - at[0]).unwrap();
            patched(32, &offset.to_le_bytes())
        },
    ),
    case(
        "the file holds the image",
        Error,
        "bytes, 9000 are there",
        || stored().bytes[..9000].to_vec(),
    ),
    case(
        "whole sectors",
        Error,
        "a loop device would hide the end",
        || {
            let Handmade {
                bytes, superblock, ..
            } = stored();
            bytes[..at(superblock.bytes_used)].to_vec()
        },
    ),
    case(
        "zeros behind the image",
        Notice,
        "bytes that are not zero",
        || end(b"x"),
    ),
    case(
        "nothing behind the zeros",
        Notice,
        "padding at byte 12288: nothing refers to 5",
        || [stored().bytes, b"12345".to_vec()].concat(),
    ),
    case("flags", Notice, "flags without a meaning is 4", || {
        patched(24, &[0x84])
    }),
    case("flags", Notice, "flag exportable", || patched(24, &[0])),
    case("flags", Notice, "flag no-fragments", || {
        patched(24, &[0x90])
    }),
    case("flag no-xattrs", Error, "flag no-xattrs", || {
        patched(25, &[2])
    }),
    // Compressor options.
    case(
        "options are stored and legal",
        Error,
        "metadata block at byte 96",
        || options(1, &[8, 0]),
    ),
    case(
        "options are stored and legal",
        Error,
        "gzip level is 99",
        || options(1, &[8, 0x80, 99, 0, 0, 0, 15, 0, 0, 0]),
    ),
    case(
        "lz4 has options",
        Error,
        "the kernel wants them for lz4",
        || patched(20, &[5]),
    ),
    case(
        "options that mean something",
        Notice,
        "without a meaning",
        || options(5, &[8, 0x80, 1, 0, 0, 0, 2, 0, 0, 0]),
    ),
    case(
        "options that mean something",
        Notice,
        "bytes of options is 12",
        || options(5, &[12, 0x80, 1, 0, 0, 0, 1, 0, 0, 0, 7, 7, 7, 7]),
    ),
    case(
        "options that mean something",
        Notice,
        "xz dictionary size",
        || options(4, &[8, 0x80, 0, 0, 16, 0, 0, 0, 0, 0]),
    ),
    case(
        "options that mean something",
        Notice,
        "unknown filters is 256",
        || options(4, &[8, 0x80, 0, 32, 0, 0, 0, 1, 0, 0]),
    ),
    case(
        "options that mean something",
        Notice,
        "unknown strategies is 32",
        || options(1, &[8, 0x80, 9, 0, 0, 0, 15, 0, 32, 0]),
    ),
    case(
        "options that mean something",
        Notice,
        "without levels is 3",
        || options(3, &[8, 0x80, 1, 0, 0, 0, 3, 0, 0, 0]),
    ),
    // Metadata blocks.
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
    // Tables found through an index.
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
    // Inode table.
    case("type of an inode", Error, "inode type", || {
        inode(4, 0, &[15])
    }),
    case(
        "mode",
        Error,
        "mode (the kernel ors the type into it)",
        || inode(4, 3, &[0x81]),
    ),
    case("owners", Error, "owner index is 1", || inode(4, 4, &[1])),
    case("owners", Error, "group index is 1", || inode(4, 6, &[1])),
    case("inode number", Error, "inode number is 0", || {
        inode(4, 12, &[0])
    }),
    case("inode number", Error, "must be 1 to 8", || {
        changed(|nodes| nodes[4].inode.number = 100).bytes
    }),
    case(
        "inode number",
        Error,
        "another inode has the same number",
        || changed(|nodes| nodes[4].inode.number = 6).bytes,
    ),
    case(
        "extended form",
        Notice,
        "which needs the extended form",
        || {
            // The last index that there is means none.
            changed(|nodes| nodes[7].inode.xattr = Some(u32::MAX)).bytes
        },
    ),
    case("link count", Error, "link count is 2, must be 1", || {
        changed(|nodes| nodes[4].inode.link_count = 2).bytes
    }),
    case(
        "link count of a directory",
        Error,
        "link count is 9",
        || changed(|nodes| nodes[3].inode.link_count = 9).bytes,
    ),
    case(
        "parent of a directory",
        Error,
        "parent's inode number is 5",
        || changed(|nodes| nodes[3] = directory(4, 5, &[])).bytes,
    ),
    case(
        "one parent, no loops",
        Error,
        "the directory is reached twice",
        || changed(|nodes| nodes[3].entries = vec![(b"x".to_vec(), 1)]).bytes,
    ),
    case("size of a directory", Error, "directory size", || {
        inode(1, 24, &[2, 0])
    }),
    case("place of a listing", Error, "listing offset", || {
        inode(1, 26, &[0, 0x20])
    }),
    case("place of a listing", Error, "position in the image", || {
        inode(1, 16, &[0xff, 0xff])
    }),
    case("length of a file", Error, "file size", || {
        changed(|nodes| {
            nodes[6].inode.link_count = 2;
            if let Body::File(file) = &mut nodes[6].inode.body {
                file.size_bytes = 1 << 63;
            }
        })
        .bytes
    }),
    case("words of a block list", Error, "block size on disk", || {
        inode(2, 35, &[2])
    }),
    case(
        "sparse bytes",
        Error,
        "sparse bytes is 90000, must be",
        || file(6, |file| file.sparse_bytes = 90_000),
    ),
    case(
        "sparse bytes as sparse blocks say",
        Notice,
        "sparse bytes is 10000, usually",
        || file(6, |file| file.sparse_bytes = 10_000),
    ),
    case(
        "data in the data area",
        Error,
        "data block at byte 95",
        || file(2, |file| file.start = 95),
    ),
    case(
        "index of a fragment block",
        Error,
        "fragment index is 1",
        || tail(1, 50),
    ),
    case(
        "no tail end of no bytes",
        Error,
        "length of the tail end is 0",
        || file(7, |file| file.size_bytes = 0),
    ),
    case(
        "tail ends lie in their fragment block",
        Error,
        "needs 101 bytes, 100 are there",
        || tail(0, 51),
    ),
    case("target of a symlink", Error, "symlink target size", || {
        inode(5, 20, &[0])
    }),
    case(
        "target of a symlink",
        Error,
        "a symlink target holds a zero byte",
        || inode(5, 24, &[0]),
    ),
    case(
        "target of a symlink",
        Error,
        "the kernel follows no more",
        || changed(|nodes| nodes[5].inode.body = Body::Symlink(vec![b'x'; 4096])).bytes,
    ),
    case(
        "index of a set of xattrs",
        Error,
        "xattr index is 1",
        || changed(|nodes| nodes[7].inode.xattr = Some(1)).bytes,
    ),
    case(
        "every inode has a name",
        Notice,
        "no directory names inode 5",
        || changed(|nodes| drop(nodes[0].entries.remove(1))).bytes,
    ),
    case(
        "every byte belongs to an inode",
        Notice,
        "nothing refers to",
        || {
            // A target that became shorter.
            inode(5, 20, &[4])
        },
    ),
    // Directories.
    case("count of a run", Error, "entry count less 1", || {
        listing(0, &[0, 1])
    }),
    case(
        "entries end with the listing",
        Error,
        "directory entry at byte",
        || listing(0, &[9]),
    ),
    case("names", Error, "a name is empty, over 256 bytes", || {
        listing(12 + 8, b"/")
    }),
    case("order of names", Error, "does not sort after", || {
        listing(12 + 8, b"z")
    }),
    case(
        "names that Linux looks up",
        Notice,
        "bytes of a name (Linux",
        || changed(|nodes| nodes[1].entries[0].0 = vec![b'n'; 256]).bytes,
    ),
    case("type of an entry", Error, "type is 8", || {
        listing(12 + 4, &[8])
    }),
    case(
        "type of an entry",
        Error,
        "inode type (an entry says another) is 1",
        || listing(12 + 4, &[2]),
    ),
    case(
        "number of an entry",
        Error,
        "inode number (an entry says another)",
        || listing(12 + 2, &[2]),
    ),
    case(
        "place of an entry's inode",
        Error,
        "offset in the metadata block",
        || listing(12, &[0xff, 0x1f]),
    ),
    case(
        "every byte belongs to a listing",
        Notice,
        "metadata block at byte",
        || {
            // `/dir/sub` had an entry, and is empty again.
            let handmade = changed(|nodes| nodes[3].entries = vec![(b"x".to_vec(), 4)]);
            let mut bytes = handmade.bytes;
            bytes[handmade.inode_at[3] + 24] = 3;
            bytes
        },
    ),
    // Fragment table.
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
    // Export table.
    case("export table", Error, "exported inode reference", || {
        patched(
            at(stored().superblock.export_table_start.unwrap()) - 8,
            &[1],
        )
    }),
    // Id table.
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
    // Xattrs.
    case("prefix of an xattr", Error, "xattr prefix 9", || {
        pair(0, &[9])
    }),
    case("name of an xattr", Error, "a name is empty", || {
        pair(2, &[0])
    }),
    case("size of a value", Error, "xattr value size", || {
        pair(7, &WORD)
    }),
    case(
        "value elsewhere",
        Error,
        "size of a value's reference",
        || pair(23, &[9]),
    ),
    case("count of a set", Error, "xattr count", || {
        xattr_id(8, &[0, 0, 0, 0])
    }),
    case(
        "size of a set",
        Notice,
        "size of a set of xattrs is 99",
        || xattr_id(4, &[99]),
    ),
    case(
        "names of a set",
        Notice,
        "names that a set of xattrs has twice",
        || pair(20, b"one"),
    ),
    case("every set is used", Notice, "inodes with this set", || {
        changed(|nodes| nodes[7].inode.xattr = None).bytes
    }),
    // Data area.
    case(
        "a block decompresses to its length",
        Error,
        "data block at byte",
        || {
            file(2, |file| {
                file.blocks = vec![BlockWord::new(4095, false); 2];
                file.tail = None;
                file.size_bytes = 8192;
            })
        },
    ),
    case(
        "a block decompresses to its length",
        Error,
        "do not decode",
        || file(2, |file| file.blocks[0] = BlockWord::new(4096, true)),
    ),
    case(
        "blocks are the same or apart",
        Notice,
        "another block is there",
        || {
            file(6, |file| {
                file.start = 100;
                file.blocks[3] = BlockWord::new(4096, false);
            })
        },
    ),
    case(
        "every byte belongs to a block",
        Notice,
        "data area at byte 4192: nothing refers",
        || {
            file(2, |file| {
                file.blocks.truncate(1);
                file.size_bytes -= 4096;
            })
        },
    ),
];

/// The image of another compressor, which it does not use, with a block of options over its data.
fn options(compressor: u8, block: &[u8]) -> Vec<u8> {
    let mut bytes = patched(96, block);
    bytes[20] = compressor;
    bytes[25] |= 0x04;
    bytes
}

/// The image with other ids.
fn with_ids(ids: &[u32]) -> Vec<u8> {
    let handmade = stored();
    let index = at(handmade.superblock.id_table_start);
    let mut bytes = handmade.bytes;
    let more = (ids.len() - 1) * 4;
    let entries: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    let added = vec![0; more];
    bytes.splice(index..index, added);
    bytes[index - 4..index + more].copy_from_slice(&entries);
    bytes[index - 6] = u8::try_from(entries.len()).unwrap();
    bytes[26] = u8::try_from(ids.len()).unwrap();
    // What lies behind moves: the id table's index, the xattrs, the end.
    for field in [40, 48, 56] {
        add(&mut bytes, field, more);
    }
    let header = at(handmade.superblock.xattr_table_start.unwrap()) + more;
    add(&mut bytes, header, more);
    add(&mut bytes, header + 16, more);
    bytes.truncate(bytes.len() / 4096 * 4096);
    bytes
}

/// Adds to a 64-bit word.
fn add(bytes: &mut [u8], field: usize, more: usize) {
    let word = u64::from_le_bytes(bytes[field..field + 8].try_into().unwrap());
    bytes[field..field + 8].copy_from_slice(&(word + more as u64).to_le_bytes());
}
