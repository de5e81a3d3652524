//! Blocks that are compressed again: a recipe knows its own streams, and no other.

use coldpress_codec::{Encoder, GzipTuning, Recipe, Recompressor, Settings, Tuning, XzTuning};
use coldpress_format::{BlockSize, Compressor};

use crate::samples::WRITABLE;

fn text() -> Vec<u8> {
    let lines =
        (0..40_u32).flat_map(|i| format!("line {} of {}\n", i * i % 97, i % 7).into_bytes());
    lines.collect()
}

/// A text in which words come back at many distances, so that levels differ.
fn long_text() -> Vec<u8> {
    let mut state = 7_u32;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        format!("{} ", (state >> 16) % 3000).into_bytes()
    });
    words.flatten().take(100_000).collect()
}

fn is_made(recipe: Recipe, content: &[u8], stored: &[u8]) -> bool {
    let mut recompressor = Recompressor::new(recipe, BlockSize::DEFAULT).unwrap();
    recompressor.is_made(content, stored).unwrap()
}

fn compressed(settings: &Settings, content: &[u8]) -> Vec<u8> {
    let mut stored = Vec::new();
    let mut encoder = Encoder::new(settings, BlockSize::DEFAULT).unwrap();
    assert!(encoder.compress(content, &mut stored).unwrap());
    stored
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().as_chunks::<2>().0.iter();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}

#[test]
fn zlib_makes_the_bytes_of_zlib() {
    // What zlib 1.2.13 makes of `text()`, by Python's zlib.compress(text, level).
    let streams = [
        (
            1,
            "780155914b0a03310c43f73d458e30f939c9815a280cedfd77c52f0ab83b89789e65cdfdfe3cd395beaf743d6ed7d975debab92e5b2fd75533e6a66d53ba9bbe4de5c5b6697c23ae011378b245e41ac8852991db08e451dc888c16b8c6c4c6cb894c3265aeac117970b132e748ee8c09bdb8e694f1d7064b856e11bd1813bab347a1a71f70da209ac8853b157a3226728f7514728a3ce9566423cde923a2732c7a728ed0a67ff803641d8b01",
        ),
        (
            9,
            "78da55d14b0a43211044d17956e112ecafed8212083c5ef63f0b460737b36ad443535eeffbd97afbbc5a7f5c2bcbcab2b3afac3bcf95eddcc935f81e34d6107bb0df499ee7136e3ae012c806591db20fc843212b60e3c6a95c39209b411e1db2500e033d9365fcb521a09df474d0d14117db08c83a2057410ed6a10ab926e414f6415a587425e83c7ff805641d8b01",
        ),
    ];
    for (made_at, stream) in streams {
        let stream = hex(stream);
        for level in [1, 9] {
            let tuning = GzipTuning::default();
            let recipe = Recipe::Zlib { level, tuning };
            let found = is_made(recipe, &text(), &stream);
            assert_eq!(found, level == made_at, "{made_at} {level}");
        }
        let ours = Settings::new(Compressor::Gzip, Some(made_at)).unwrap();
        assert!(!is_made(Recipe::Encoder(ours), &text(), &stream));
    }
}

#[test]
fn an_encoder_knows_its_streams_and_not_those_of_other_levels() {
    let content = long_text();
    for compressor in WRITABLE {
        let levels = [1, 5];
        for made_at in levels {
            let settings = Settings::new(compressor, Some(made_at)).unwrap();
            let stored = compressed(&settings, &content);
            for level in levels {
                let settings = Settings::new(compressor, Some(level)).unwrap();
                let found = is_made(Recipe::Encoder(settings), &content, &stored);
                assert_eq!(found, level == made_at, "{compressor} {made_at} {level}");
            }
        }
    }
}

#[test]
fn what_lies_around_xz_data_does_not_matter_and_may_be_cut_short() {
    let settings = Settings::new(Compressor::Xz, Some(1)).unwrap();
    let content = long_text();
    let stored = compressed(&settings, &content);
    let tuning = XzTuning::default();
    let whole = Recipe::Liblzma { level: 1, tuning };
    assert!(is_made(whole, &content, &stored));
    let mut headed = stored.clone();
    headed[8] ^= 1;
    assert!(is_made(whole, &content, &headed));
    assert!(!is_made(Recipe::Encoder(settings), &content, &headed));
    let mut recompressor = Recompressor::new(whole, BlockSize::DEFAULT).unwrap();
    for len in (0..40).chain(stored.len() - 40..stored.len()) {
        assert!(
            !recompressor.is_made(&content, &stored[..len]).unwrap(),
            "{len}"
        );
    }
}

#[test]
fn recipes_name_their_library() {
    let tuned = |compressor, tuning| {
        let settings = Settings::new(compressor, None).unwrap();
        Recipe::Encoder(Settings { tuning, ..settings })
    };
    let window = GzipTuning {
        window_bits: 10,
        ..GzipTuning::default()
    };
    for (recipe, library) in [
        (tuned(Compressor::Gzip, Tuning::Default), "libdeflate"),
        (tuned(Compressor::Gzip, Tuning::Gzip(window)), "zlib-rs"),
        (tuned(Compressor::Zstd, Tuning::Default), "libzstd"),
        (tuned(Compressor::Lz4, Tuning::Default), "lz4 HC"),
    ] {
        assert_eq!(recipe.library(), library);
        assert_eq!(
            recipe.level(),
            Settings::new(recipe.compressor(), None).unwrap().level
        );
    }
}
