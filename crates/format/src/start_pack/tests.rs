use super::*;
use crate::inode::InodeRef;

/// A digest that depends on every byte.
fn sum(bytes: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    for (at, byte) in bytes.iter().enumerate() {
        digest[at % 32] ^= byte.rotate_left(u32::try_from(at % 8).unwrap());
    }
    digest
}

fn header() -> PackHeader {
    PackHeader {
        compressor: Compressor::Zstd,
        piece_count: 3,
        index_piece_count: 1,
        size_bytes: 5000,
        superblock_digest: [1; 32],
        table_digest: [2; 32],
    }
}

fn index() -> PackIndex {
    let file = |path: &str, size_bytes| PackFile {
        path: path.as_bytes().to_vec(),
        inode: InodeRef {
            block_start: 7,
            offset: 9,
        },
        size_bytes,
        digest: [3; 16],
    };
    let run = |file, first_page, page_count| PackRun {
        file,
        page_count,
        first_page,
    };
    PackIndex {
        files: vec![file("/bin/app", 10_000), file("/lib/one two", 4096)],
        runs: vec![run(0, 1, 2), run(1, 0, 1), run(0, 0, 1)],
    }
}

fn pieces(lens: &[u32]) -> Vec<PackPiece> {
    let piece = |len_bytes: &u32| PackPiece {
        size: BlockWord::new(*len_bytes, false),
        len_bytes: *len_bytes,
        digest: [4; 16],
    };
    lens.iter().map(piece).collect()
}

#[test]
fn records_are_read_as_they_were_written() {
    let bytes = header().write(sum);
    assert_eq!(PackHeader::parse(&bytes, sum, 8192), Ok(header()));
    assert_eq!(header().pieces_offset(), 128 + 3 * 24);
    assert_eq!(stated_pack_bytes(&bytes), Some(5000));
    assert_eq!(stated_pack_bytes(&bytes[..31]), None);
    assert_eq!(stated_pack_bytes(&bytes[1..]), None);
    for piece in pieces(&[1, 4096, 1 << 20]) {
        assert_eq!(PackPiece::parse(&piece.write(), 0), Ok(piece));
    }
    assert_eq!(PackIndex::parse(&index().write(), 0), Ok(index()));
}

#[test]
fn every_changed_byte_of_a_header_is_noticed() {
    let bytes = header().write(sum);
    for at in 0..bytes.len() {
        let mut changed = bytes;
        changed[at] ^= 1;
        assert!(PackHeader::parse(&changed, sum, 0).is_err(), "byte {at}");
        assert!(
            PackHeader::parse(&bytes[..at], sum, 0).is_err(),
            "{at} bytes"
        );
    }
}

#[test]
fn numbers_of_a_header_have_bounds() {
    let with = |change: fn(&mut PackHeader)| {
        let mut header = header();
        change(&mut header);
        PackHeader::parse(&header.write(sum), sum, 0).map_err(|corrupt| corrupt.to_string())
    };
    assert!(with(|_| ()).is_ok());
    let refused = [
        with(|header| header.piece_count = 0),
        with(|header| header.piece_count = 65537),
        with(|header| header.index_piece_count = 0),
        with(|header| header.index_piece_count = 4),
        with(|header| header.size_bytes = 199),
    ];
    let expected = [
        "number of pieces is 0, must be 1 to 65536",
        "number of pieces is 65537, must be 1 to 65536",
        "pieces of the index is 0, must be 1 to 3",
        "pieces of the index is 4, must be 1 to 3",
        "size of the start pack is 199, must be 200 to 1099511627776",
    ];
    for (refused, expected) in refused.into_iter().zip(expected) {
        assert_eq!(refused, Err(format!("start pack at byte 0: {expected}")));
    }
}

#[test]
fn runs_fill_the_pieces_in_order() {
    let index = index();
    // The last page of the first file has 1808 bytes.
    let places = |lens: &[u32]| index.places(&pieces(lens), 0).ok();
    assert_eq!(places(&[5904, 8192]), Some(vec![(0, 0), (1, 0), (1, 4096)]));
    assert_eq!(places(&[14096]), Some(vec![(0, 0), (0, 5904), (0, 10000)]));
    for wrong in [&[][..], &[5904], &[5000, 9096], &[5904, 8192, 1], &[14097]] {
        assert_eq!(places(wrong), None, "{wrong:?}");
    }
}

#[test]
fn an_index_names_only_what_its_files_have() {
    let good = index();
    let mut wrong = vec![good.clone(); 5];
    wrong[0].runs[0].file = 2;
    wrong[1].runs[0].page_count = 0;
    wrong[2].runs[0].page_count = 3;
    wrong[3].runs[0].first_page = u64::MAX;
    wrong[4].files[0].path.clear();
    for index in wrong {
        assert!(PackIndex::parse(&index.write(), 0).is_err(), "{index:?}");
    }
    let bytes = good.write();
    for len in 0..bytes.len() {
        assert!(PackIndex::parse(&bytes[..len], 0).is_err(), "{len}");
    }
    assert!(PackIndex::parse(&[&bytes[..], b"\0"].concat(), 0).is_err());
}

#[test]
fn a_pack_begins_at_a_page() {
    for (used, start) in [(0, 0), (1, 4096), (4096, 4096), (u64::MAX, u64::MAX)] {
        assert_eq!(pack_start(used), start);
    }
}
