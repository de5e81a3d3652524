use std::io::Write as _;

use super::super::paged::Paged;
use super::*;

fn member(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Bytes that tell where they are, in members of these lengths.
fn stream(members: &[usize]) -> (Vec<u8>, Vec<u8>) {
    let len: usize = members.iter().sum();
    let words = u32::try_from(len.div_ceil(4)).unwrap();
    let plain: Vec<u8> = (0..words).flat_map(u32::to_le_bytes).take(len).collect();
    let (mut packed, mut at) = (Vec::new(), 0);
    for len in members {
        packed.extend(member(&plain[at..at + len]));
        at += len;
    }
    (plain, packed)
}

fn indexed(packed: &[u8], plain: &[u8], span_bytes: u64) -> Paged<Places> {
    let mut indexing = Indexing::new(packed, span_bytes).unwrap();
    let mut read = Vec::new();
    indexing.read_to_end(&mut read).unwrap();
    assert!(read == plain);
    let copies = indexing.finish();
    paged(packed, plain, copies)
}

/// A layer of which nothing was read.
fn unread(packed: &[u8], plain: &[u8], span_bytes: u64) -> Paged<Places> {
    paged(packed, plain, Copies::new(span_bytes))
}

fn paged(packed: &[u8], plain: &[u8], copies: Copies) -> Paged<Places> {
    let compressed: Arc<dyn ReadAt> = Arc::new(packed.to_vec());
    let len_bytes = plain.len() as u64;
    let places = Places::new(compressed, copies);
    Paged::new(places, len_bytes, 0, Arc::default())
}

fn starts(copies: &Copies) -> Vec<u64> {
    let places = copies.places.iter();
    places.map(|copy| copy.plain_bytes).collect()
}

#[test]
fn a_layer_is_read_at_any_position() {
    let page = PAGE_BYTES;
    for members in [
        &[9 * page + 5][..],
        &[page, page, page],
        &[1, 0, 3 * page, 17, page - 18, 1],
        &[100],
    ] {
        let (plain, mut packed) = stream(members);
        packed.extend([0; 700]);
        let last = plain.len() - 1;
        // Backwards, forwards, and again.
        let order = [
            last,
            0,
            page / 2,
            5 * page + 1,
            page,
            last,
            7 * page,
            3 * page,
        ];
        let span_bytes = 2 * page as u64;
        let whole = indexed(&packed, &plain, span_bytes);
        for (gzip, order) in [
            (unread(&packed, &plain, span_bytes), &order[..]),
            (unread(&packed, &plain, span_bytes), &order[1..]),
            (indexed(&packed, &plain, span_bytes), &order[..]),
        ] {
            for start in order {
                let start = *start.min(&last);
                let mut buf = [0; 50];
                let len = gzip.read_at(&mut buf, start as u64).unwrap();
                assert!(len > 0);
                assert_eq!(buf[..len], plain[start..start + len], "{members:?} {start}");
            }
            assert_eq!(gzip.read_at(&mut [0], plain.len() as u64).unwrap(), 0);
            // Contents in any order leave the copies that a first reading leaves.
            let copies = |gzip: &Paged<Places>| starts(&gzip.decoder.lock().unwrap().copies);
            assert_eq!(copies(&gzip), copies(&whole), "{members:?}");
        }
    }
}

#[test]
fn copies_are_bounded_and_still_lead_everywhere() {
    let page = PAGE_BYTES as u64;
    let (plain, packed) = stream(&[6 * PAGE_BYTES]);
    let mut indexing = Indexing::new(&packed[..], page).unwrap();
    while indexing.copies.places.len() < 4 {
        indexing.read_exact(&mut [0; 4096]).unwrap();
    }
    assert_eq!(starts(&indexing.copies), [0, page, 2 * page, 3 * page]);
    let gzip = indexed(&packed, &plain, page);
    let mut buf = [0; 4];
    gzip.read_at(&mut buf, 4 * page + 8).unwrap();
    assert_eq!(
        gzip.decoder
            .lock()
            .unwrap()
            .last
            .as_ref()
            .unwrap()
            .plain_bytes,
        5 * page
    );
}

#[test]
fn a_stream_that_ends_early_is_an_error() {
    let (_, packed) = stream(&[100_000]);
    for len in [0, 5, packed.len() / 2, packed.len() - 1] {
        let mut indexing = Indexing::new(&packed[..len], SPAN_BYTES).unwrap();
        let error = indexing.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{len}");
    }
    let (_, mut packed) = stream(&[10]);
    packed.extend(b"\0\0x");
    let mut indexing = Indexing::new(&packed[..], SPAN_BYTES).unwrap();
    let error = indexing.read_to_end(&mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}
