//! The instructions of LZO1X as the kernel describes them (Documentation/staging/lzo.rst), and what
//! our streams of them cost.

use coldpress_codec::{Decoder, Encoder};
use coldpress_format::Compressor;
use proptest::prelude::*;

use crate::samples::{block_size_for, compressed, every_level, random, text};

fn decompressed(stream: &[u8], len: usize) -> Vec<u8> {
    let mut output = vec![0; len];
    let mut decoder = Decoder::new(Compressor::Lzo, block_size_for(len)).unwrap();
    assert_eq!(decoder.decompress(stream, &mut output), Ok(len));
    output
}

#[test]
fn first_literals_are_read() {
    for (instruction, len) in [
        (&[18][..], 1),
        (&[20], 3),
        (&[21], 4),
        (&[255], 238),
        (&[1], 4),
        (&[15], 18),
        (&[0, 1], 19),
        (&[0, 255], 273),
        (&[0, 0, 0, 1], 529),
    ] {
        let literals = random(len, 40);
        let stream = [instruction, &literals, &[17, 0, 0]].concat();
        assert!(decompressed(&stream, len) == literals, "{instruction:?}");
    }
}

#[test]
#[expect(
    clippy::unusual_byte_groupings,
    reason = "these are the fields of the format"
)]
fn each_instruction_is_read() {
    // Literals before it, instruction, length and distance of its match. Each ends in two literals.
    #[rustfmt::skip]
    let cases: [(u8, &[u8], usize, usize); 14] = [
        (1, &[0b0000_00_10, 0], 2, 1),
        (3, &[0b0000_01_10, 255], 2, 1022),
        (4, &[0b0000_00_10, 0], 3, 2049),
        (18, &[0b0000_11_10, 255], 3, 3072),
        (0, &[0b010_000_10, 0], 3, 1),
        (1, &[0b011_111_10, 255], 4, 2048),
        (4, &[0b100_001_10, 1], 5, 10),
        (3, &[0b111_000_10, 2], 8, 17),
        (0, &[0b001_00001, 2, 0], 3, 1),
        (5, &[0b001_11111, 0xFE, 0xFF], 33, 16384),
        (2, &[0b001_00000, 0, 7, 0x06, 0], 33 + 255 + 7, 2),
        (0, &[0b0001_0_001, 6, 0], 3, 16385),
        (4, &[0b0001_1_111, 0xFE, 0xFF], 9, 49151),
        (1, &[0b0001_1_000, 0, 0, 9, 2, 0], 9 + 510 + 9, 32768),
    ];
    let first = random(50_000, 41);
    for (literal_count, instruction, len, distance) in cases {
        let literals = random(literal_count.into(), 42);
        // 50000 literals are 18 + 196 * 255 + 2. Three bytes from a distance of five lead on.
        let mut stream = [&[0; 197][..], &[2], &first].concat();
        match literal_count {
            ..=3 => stream.extend([0b010_100_00 | literal_count, 0]),
            _ => stream.extend([0b010_100_00, 0, literal_count - 3]),
        }
        stream.extend([&literals, instruction, b"so", &[17, 0, 0]].concat());

        let mut block = [&first, &first[49_995..49_998], &literals].concat();
        for _ in 0..len {
            block.push(block[block.len() - distance]);
        }
        block.extend(b"so");
        assert!(
            decompressed(&stream, block.len()) == block,
            "{instruction:?}"
        );
    }
}

#[test]
fn streams_are_as_small_as_they_were() {
    // LZO1X-999 level 8 gives 49509 and 58762 bytes.
    let words = text(128 << 10, 43);
    let mixed = [&words[..30_000], &random(9000, 44), &[0; 9000], &words].concat();
    for (block, limit_bytes) in [(words, 46_450), (mixed, 55_650)] {
        let size_bytes = compressed(Compressor::Lzo, &block).len();
        assert!(size_bytes <= limit_bytes, "{size_bytes} of {limit_bytes}");
    }
}

/// A block of pieces that come again from anywhere before, and bytes of an alphabet of any size.
fn blocks() -> impl Strategy<Value = Vec<u8>> {
    let piece = (any::<u16>(), 0_usize..2000, 0_u32..8, any::<bool>());
    prop::collection::vec(piece, 1..80).prop_map(|pieces| {
        let mut block: Vec<u8> = vec![1];
        for (number, len, bits, repeats) in pieces {
            if repeats {
                let distance = 1 + usize::from(number >> bits) % block.len();
                for _ in 0..len >> (bits / 2) {
                    block.push(block[block.len() - distance]);
                }
            } else {
                let fresh = random(len >> bits, number.into());
                block.extend(fresh.iter().map(|byte| byte >> bits));
            }
        }
        block.truncate(70_000);
        block
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_of_repetitions_round_trip_at_every_level(block in blocks()) {
        for settings in every_level(Compressor::Lzo) {
            let mut encoder = Encoder::new(&settings, block_size_for(block.len())).unwrap();
            let mut stream = Vec::new();
            if encoder.compress(&block, &mut stream).unwrap() {
                prop_assert_ne!(stream[0], 17, "announces LZO-RLE");
                prop_assert!(decompressed(&stream, block.len()) == block);
            }
        }
    }
}
