//! What the parts of an image say about each other.

use coldpress_format::{BlockWord, Body, Part};

use crate::defects::{changed, corrupt, open, patched, problems, walk_all};
use crate::handmade::{self, Node, directory};

#[test]
fn inode_numbers_are_checked() {
    let handmade = handmade::image(false);
    let image = open(&patched(handmade.inode_at[4] + 12, &[0, 0])).unwrap();
    assert_eq!(corrupt(walk_all(&image).unwrap_err()).part, Part::Inode);
    for (number, text) in [
        (100, "must be 1 to 8"),
        (6, "another inode has the same number"),
    ] {
        let handmade = changed(|nodes| nodes[4].inode.number = number);
        let image = open(&handmade.bytes).unwrap();
        let texts = problems(&image).join("\n");
        assert!(texts.contains(text), "{texts}");
    }
}

#[test]
fn what_inodes_and_entries_say_about_each_other_is_checked() {
    type Change = fn(&mut Vec<Node>);
    let cases: [(Change, &str); 7] = [
        (
            |nodes| nodes[3].inode.link_count = 9,
            "`/dir/sub`: inode at byte",
        ),
        (
            |nodes| nodes[4].inode.link_count = 2,
            "link count is 2, must be 1",
        ),
        (
            |nodes| nodes[4].inode.uid_index = 1,
            "owner index is 1, must be 0 to 0",
        ),
        (
            |nodes| nodes[4].inode.xattr = Some(1),
            "xattr index is 1, must be 0 to 0",
        ),
        (
            |nodes| nodes[3] = directory(4, 5, &[]),
            "parent's inode number is 5, must be 2",
        ),
        (
            |nodes| drop(nodes[0].entries.pop()),
            "no directory names inode 7",
        ),
        (
            |nodes| {
                if let Body::File(file) = &mut nodes[6].inode.body {
                    file.start = 100;
                    file.blocks[3] = BlockWord::new(4096, false);
                }
            },
            "another block is there",
        ),
    ];
    for (change, text) in cases {
        let image = open(&changed(change).bytes).unwrap();
        let texts = problems(&image).join("\n");
        assert!(texts.contains(text), "{text}: {texts}");
    }
}

#[test]
fn unused_fragments_and_wrong_exports_are_reported() {
    let handmade = changed(|nodes| {
        nodes[0].entries.pop();
        nodes[1].entries.remove(0);
    });
    let texts = problems(&open(&handmade.bytes).unwrap()).join("\n");
    for number in [3, 7] {
        let text = format!("notice: inode at byte 8388: no directory names inode {number}");
        assert!(texts.contains(&text), "{texts}");
    }
    let handmade = changed(|nodes| {
        for node in [2, 7] {
            nodes[node].inode.body = Body::Fifo;
        }
    });
    let texts = problems(&open(&handmade.bytes).unwrap()).join("\n");
    assert!(texts.contains("number of files with a tail end"), "{texts}");

    let handmade = handmade::image(false);
    let index = usize::try_from(handmade.superblock.export_table_start.unwrap()).unwrap();
    // The last entry of the export table ends where its index starts.
    let texts = problems(&open(&patched(index - 8, &[1])).unwrap()).join("\n");
    assert!(texts.contains("exported inode reference"), "{texts}");
}

#[test]
fn xattrs_that_are_too_large_or_lead_nowhere_are_refused() {
    let handmade = handmade::image(false);
    let header = usize::try_from(handmade.superblock.xattr_table_start.unwrap()).unwrap();
    let pairs = handmade.bytes[header..header + 8].try_into().unwrap();
    let pairs = usize::try_from(u64::from_le_bytes(pairs)).unwrap() + 2;
    for (offset, bytes) in [
        (0, &[9][..]),
        (2, &[0, 0]),
        (2, &[0xff, 0xff]),
        (7, &[0xff, 0xff, 0xff, 0xff]),
        (23, &[9]),
        (27, &[0xff, 0xff]),
        // Behind the reference: it leads to a value whose size is not one.
        (27, &[8]),
    ] {
        let image = open(&patched(pairs + offset, bytes)).unwrap();
        let (_, inode) = image.find(b"/tail").unwrap().unwrap();
        let error = corrupt(image.xattrs(&inode).unwrap_err());
        assert!(
            matches!(error.part, Part::XattrTable | Part::MetadataBlock),
            "{offset} {error}"
        );
        assert!(!problems(&image).is_empty());
    }
}

#[test]
fn thirty_thousand_nested_directories_are_walked_and_checked() {
    let depth = 30_000;
    let nodes: Vec<_> = (0..depth)
        .map(|index| {
            let number = u32::try_from(index).unwrap() + 1;
            let mut made = directory(number, number - 1, &[]);
            if index + 1 < depth {
                made.entries = vec![(b"d".to_vec(), index + 1)];
                made.inode.link_count = 3;
            }
            made
        })
        .collect();
    let image = open(&handmade::write(&nodes, false).bytes).unwrap();
    assert_eq!(walk_all(&image).unwrap(), u32::try_from(depth).unwrap());
    // Nothing uses the data and the xattrs that every handmade image has.
    let texts = problems(&image);
    let are_notices = texts.iter().all(|text| text.starts_with("notice: "));
    assert!(texts.len() == 3 && are_notices, "{texts:?}");
}

#[test]
fn a_hard_link_may_lead_to_anything_but_a_directory() {
    let handmade = changed(|nodes| {
        nodes[5].inode.link_count = 2;
        nodes[0].entries.push((b"zink".to_vec(), 5));
    });
    let image = open(&handmade.bytes).unwrap();
    assert_eq!(problems(&image), [""; 0]);
    assert_eq!(walk_all(&image).unwrap(), 9);
}
