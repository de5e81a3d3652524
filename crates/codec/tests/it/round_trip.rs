//! What an encoder writes, a decoder reads; and what it wrote before does not matter.

use coldpress_codec::Strategy as Search;
use coldpress_codec::{
    Choice, Decoder, Encoder, Filter, GzipTuning, Lz4Tuning, Settings, Tuning, XzTuning,
};
use coldpress_format::{BlockSize, Compressor};
use proptest::prelude::*;

use crate::samples::{
    WRITABLE, block_size_for, compressed, every_level, every_tuning, random, text,
};

/// Compresses and decompresses a block; returns whether it shrank.
fn check(encoder: &mut Encoder, decoder: &mut Decoder, block: &[u8], what: &str) -> bool {
    let mut stream = vec![0xAA; 7];
    if !encoder.compress(block, &mut stream).unwrap() {
        return false;
    }
    assert!(stream.len() < block.len(), "{what}");
    let mut output = vec![0xAA; block.len()];
    assert_eq!(
        decoder.decompress(&stream, &mut output),
        Ok(block.len()),
        "{what}"
    );
    assert!(output == block, "{what}");
    true
}

fn every_size_and_content(compressor: Compressor) {
    for settings in every_level(compressor) {
        for len in [0, 1, 2, 4095, 8192, 128 << 10, 1 << 20] {
            let block_size = block_size_for(len);
            let mut encoder = Encoder::new(&settings, block_size).unwrap();
            let mut decoder = Decoder::new(compressor, block_size).unwrap();
            for (content, block, shrinks) in [
                ("zeros", vec![0; len], true),
                ("text", text(len, 1), true),
                ("random", random(len, 2), false),
            ] {
                let what = format!("{settings:?}, {len} bytes of {content}");
                let shrank = check(&mut encoder, &mut decoder, &block, &what);
                assert_eq!(shrank, shrinks && len > 2, "{what}");
            }
        }
    }
}

#[test]
fn gzip_round_trips_at_every_level() {
    every_size_and_content(Compressor::Gzip);
}

#[test]
fn lzo_round_trips_at_every_level() {
    every_size_and_content(Compressor::Lzo);
}

#[test]
fn xz_round_trips_at_every_level() {
    every_size_and_content(Compressor::Xz);
}

#[test]
fn lz4_round_trips_at_every_level() {
    every_size_and_content(Compressor::Lz4);
}

#[test]
fn zstd_round_trips_at_every_level() {
    every_size_and_content(Compressor::Zstd);
}

#[test]
fn every_tuning_round_trips() {
    for settings in every_tuning() {
        for len in [2, 5000, 40_000] {
            let block_size = BlockSize::DEFAULT;
            let mut encoder = Encoder::new(&settings, block_size).unwrap();
            let mut decoder = Decoder::new(settings.compressor, block_size).unwrap();
            let mixed = [text(len / 2, 13), random(len - len / 2, 14)].concat();
            for block in [text(len, 15), mixed, vec![0; len], random(len, 16)] {
                let what = format!("{settings:?}, {len} bytes");
                check(&mut encoder, &mut decoder, &block, &what);
            }
        }
    }
}

#[test]
fn a_block_at_another_level_has_the_bytes_of_an_encoder_of_that_level() {
    let blocks = [text(20_000, 17), text(8192, 18)];
    let tuned = every_tuning();
    for settings in WRITABLE.into_iter().map(default).chain(tuned) {
        let block_size = BlockSize::DEFAULT;
        let mut encoder = Encoder::new(&settings, block_size).unwrap();
        for level in [1, 0, -3, 9, 1, 12] {
            for block in &blocks {
                let (mut output, mut expected) = (Vec::new(), Vec::new());
                let shrank = encoder.compress_at_level(level, block, &mut output);
                let Ok(other) = settings.at_level(level) else {
                    assert_eq!(shrank, settings.at_level(level).map(|_| true));
                    continue;
                };
                let mut fresh = Encoder::new(&other, block_size).unwrap();
                assert_eq!(shrank, fresh.compress(block, &mut expected));
                assert!(output == expected, "{settings:?} at {level}");
            }
        }
    }
}

fn default(compressor: Compressor) -> Settings {
    Settings::new(compressor, None).unwrap()
}

#[test]
fn a_reused_encoder_gives_the_bytes_of_a_fresh_one() {
    let mixed = [
        text(50_000, 3),
        random(20_000, 4),
        vec![0; 9_000],
        text(50_000, 3),
    ]
    .concat();
    let blocks = [
        text(128 << 10, 6),
        random(60_000, 5),
        mixed.clone(),
        text(8192, 7),
        vec![0; 128 << 10],
        mixed,
        text(3, 8),
        text(70_000, 9),
    ];
    let settings = WRITABLE.into_iter().flat_map(every_level);
    for settings in settings.chain(every_tuning()) {
        let block_size = BlockSize::DEFAULT;
        let mut reused = Encoder::new(&settings, block_size).unwrap();
        let mut reused_output = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            let mut fresh = Encoder::new(&settings, block_size).unwrap();
            let mut fresh_output = Vec::new();
            let shrank = reused.compress(block, &mut reused_output).unwrap();
            assert_eq!(shrank, fresh.compress(block, &mut fresh_output).unwrap());
            if shrank {
                assert!(reused_output == fresh_output, "{settings:?}, block {index}");
            }
        }
    }
}

#[test]
fn the_highest_level_compresses_no_worse_than_the_lowest() {
    let block = text(128 << 10, 10);
    for compressor in WRITABLE {
        let settings = every_level(compressor);
        let sizes = [settings[settings.len() - 1], settings[0]].map(|settings| {
            let mut output = Vec::new();
            let mut encoder = Encoder::new(&settings, BlockSize::DEFAULT).unwrap();
            assert!(encoder.compress(&block, &mut output).unwrap());
            output.len()
        });
        assert!(sizes.is_sorted(), "{compressor}: {sizes:?}");
    }
}

#[test]
fn gzip_streams_are_read_by_another_zlib() {
    use std::io::Read;

    let block = text(128 << 10, 11);
    let stream = compressed(Compressor::Gzip, &block);
    let mut output = Vec::new();
    flate2::read::ZlibDecoder::new(&stream[..])
        .read_to_end(&mut output)
        .unwrap();
    assert!(output == block);
}

#[test]
#[should_panic(expected = "block of 131073 bytes in an image of blocks of 131072 bytes")]
fn a_block_larger_than_the_image_allows_is_a_bug() {
    let settings = Settings::new(Compressor::Zstd, None).unwrap();
    let mut encoder = Encoder::new(&settings, BlockSize::DEFAULT).unwrap();
    let _ = encoder.compress(&vec![0; (128 << 10) + 1], &mut Vec::new());
}

#[test]
fn metadata_blocks_may_be_larger_than_data_blocks() {
    for settings in WRITABLE.into_iter().flat_map(every_level) {
        let mut encoder = Encoder::new(&settings, BlockSize::MIN).unwrap();
        let mut decoder = Decoder::new(settings.compressor, BlockSize::MIN).unwrap();
        assert!(check(
            &mut encoder,
            &mut decoder,
            &text(8192, 12),
            "metadata"
        ));
    }
}

/// Blocks of runs, repetitions at a distance and noise, as files have them.
fn blocks() -> impl Strategy<Value = Vec<u8>> {
    let piece = (any::<u64>(), 0_usize..6000, 0..4).prop_map(|(seed, len, kind)| match kind {
        0 => vec![seed.to_le_bytes()[0]; len],
        1 => text(len, seed % 4),
        2 => random(len / 8, seed),
        _ => random(1 + len % 13, seed).repeat(1 + len / 40),
    });
    prop::collection::vec(piece, 1..24).prop_map(|pieces| {
        let mut block = pieces.concat();
        block.truncate(128 << 10);
        block
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_blocks_round_trips_as_if_each_were_alone(sequence in prop::collection::vec(blocks(), 1..4)) {
        for compressor in WRITABLE {
            let settings = Settings::new(compressor, None).unwrap();
            let mut encoder = Encoder::new(&settings, BlockSize::DEFAULT).unwrap();
            let mut decoder = Decoder::new(compressor, BlockSize::DEFAULT).unwrap();
            for block in &sequence {
                check(&mut encoder, &mut decoder, block, compressor.name());
                let (mut reused_output, mut fresh_output) = (Vec::new(), Vec::new());
                let mut fresh = Encoder::new(&settings, BlockSize::DEFAULT).unwrap();
                let shrank = encoder.compress(block, &mut reused_output).unwrap();
                prop_assert_eq!(shrank, fresh.compress(block, &mut fresh_output).unwrap());
                prop_assert!(!shrank || reused_output == fresh_output);
            }
        }
    }
}

/// Machine code as compilers emit it: calls of few functions from many places, by distance.
fn x86_code(len: usize) -> Vec<u8> {
    let mut code = Vec::with_capacity(len + 16);
    for number in crate::samples::numbers(40) {
        if code.len() >= len {
            break;
        }
        let [register, constant, function, ..] = number.to_le_bytes();
        code.extend([0x48, 0x8B, 0x40 | register & 0x3F, constant]);
        let target = 0x10_0000 + i32::from(function % 64) * 0x130;
        let next = i32::try_from(code.len()).unwrap() + 5;
        code.push(0xE8);
        code.extend((target - next).to_le_bytes());
    }
    code.truncate(len);
    code
}

#[test]
fn each_block_gets_the_filter_that_makes_it_smallest_and_text_none() {
    // Two filters, x86 first: the block header has size, flags, then the filter's number.
    let filter_of = |stream: &[u8]| (stream[13] & 3 == 1).then(|| stream[14]);
    let [x86, arm64] = [Filter::X86, Filter::Arm64];
    let (code, text) = (x86_code(128 << 10), text(128 << 10, 41));
    for (filters, of_code) in [
        (vec![], None),
        (vec![x86], Some(4)),
        (vec![arm64, x86], Some(4)),
    ] {
        let settings = Settings {
            tuning: Tuning::Xz(XzTuning {
                filters: filters.iter().copied().collect(),
                ..XzTuning::default()
            }),
            ..default(Compressor::Xz)
        };
        let mut encoder = Encoder::new(&settings, BlockSize::DEFAULT).unwrap();
        let mut sizes = [&code, &text].map(|block| {
            let mut stream = Vec::new();
            assert!(encoder.compress(block, &mut stream).unwrap());
            let expected = if block == &code { of_code } else { None };
            assert_eq!(filter_of(&stream), expected, "{filters:?}");
            stream.len()
        });
        let plain = [&code, &text].map(|block| compressed(Compressor::Xz, block).len());
        if of_code.is_some() {
            assert!(sizes[0] < plain[0] * 9 / 10, "{sizes:?} {plain:?}");
            sizes[0] = plain[0];
        }
        assert_eq!(sizes, plain);
    }
}

#[test]
fn of_several_strategies_the_smallest_stream_is_kept() {
    let stream = |strategies: &[Search], block: &[u8]| {
        let settings = Settings {
            tuning: Tuning::Gzip(GzipTuning {
                window_bits: 14,
                strategies: strategies.iter().copied().collect(),
            }),
            ..default(Compressor::Gzip)
        };
        let mut encoder = Encoder::new(&settings, BlockSize::DEFAULT).unwrap();
        let mut output = Vec::new();
        assert!(encoder.compress(block, &mut output).unwrap());
        output
    };
    // Nibbles at random: matches gain less than they cost.
    let nibbles: Vec<u8> = random(64 << 10, 42).iter().map(|byte| byte & 15).collect();
    for block in [text(64 << 10, 43), nibbles, vec![0; 64 << 10]] {
        let each = Search::ALL
            .iter()
            .map(|strategy| stream(&[*strategy], &block));
        let smallest = each.min_by_key(Vec::len).unwrap();
        assert!(stream(Search::ALL, &block) == smallest);
    }
}

#[test]
fn an_acceleration_of_lz4_makes_larger_blocks() {
    let block = text(128 << 10, 44);
    let sizes = [1, 8, 64].map(|acceleration| {
        let settings = Settings {
            level: 0,
            tuning: Tuning::Lz4(Lz4Tuning { acceleration }),
            ..default(Compressor::Lz4)
        };
        let mut encoder = Encoder::new(&settings, BlockSize::DEFAULT).unwrap();
        let mut output = Vec::new();
        assert!(encoder.compress(&block, &mut output).unwrap());
        output.len()
    });
    assert!(sizes.is_sorted_by(|left, right| left < right), "{sizes:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_block_round_trips_with_any_tuning(
        block in blocks(),
        settings in prop::sample::select(every_tuning()),
        level in 0..10,
    ) {
        let settings = settings.at_level(level).unwrap_or(settings);
        let mut encoder = Encoder::new(&settings, BlockSize::DEFAULT).unwrap();
        let mut decoder = Decoder::new(settings.compressor, BlockSize::DEFAULT).unwrap();
        check(&mut encoder, &mut decoder, &block, &format!("{settings:?}"));
    }
}
