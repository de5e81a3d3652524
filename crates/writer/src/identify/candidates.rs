//! The recipes that an image may have been made with, the likeliest first.

use coldpress_codec::{
    Choice, Choices, Dictionary, GzipTuning, Recipe, Settings, Tuning, XzTuning,
};
use coldpress_format::{Compressor, CompressorOptions};
use coldpress_image::Image;

/// The levels of libdeflate.
const LIBDEFLATE_LEVELS: std::ops::RangeInclusive<i32> = 1..=12;

/// The level that an image records, or leaves unrecorded as the default of mksquashfs and
/// squashfs-tools-ng.
pub(super) fn recorded_level(image: &Image) -> Option<i32> {
    let level = match image.options() {
        Some(CompressorOptions::Gzip { level, .. } | CompressorOptions::Zstd { level }) => level,
        // LZO1X-999 alone has levels; the others are as fast as our 0.
        Some(CompressorOptions::Lzo { level, algorithm }) => {
            if algorithm == 4 {
                level
            } else {
                0
            }
        }
        Some(CompressorOptions::Lz4 { high_compression }) => 12 * u32::from(high_compression),
        Some(CompressorOptions::Xz { .. }) => return None,
        None => {
            let compressor = image.superblock().compressor;
            let settings = Settings::new(compressor, None).ok()?;
            return (compressor != Compressor::Xz).then_some(settings.level);
        }
    };
    i32::try_from(level).ok()
}

/// What the compressor and its recorded options allow; none for lzma.
///
/// The level that is recorded, or that is the default of all tools where none is recorded, comes
/// first, then the others from the highest down: who picks one mostly wants a small image.
pub(super) fn of(image: &Image) -> Vec<Recipe> {
    let options = image.options();
    let compressor = image.superblock().compressor;
    let default = Settings::new(compressor, None).map_or(0, |settings| settings.level);
    let first = recorded_level(image).unwrap_or(default);
    let levels = |levels: std::ops::RangeInclusive<i32>| {
        std::iter::once(first)
            .filter(|first| levels.contains(first))
            .chain(levels.clone().rev().filter(|level| *level != first))
            .collect::<Vec<_>>()
    };
    match compressor {
        Compressor::Gzip => gzip(gzip_tuning(options), &levels),
        Compressor::Xz => xz(xz_tuning(options), &levels),
        Compressor::Lzo => plain(compressor, levels(0..=9)),
        Compressor::Lz4 => plain(compressor, levels(0..=12)),
        // The fastest levels of zstd are below 0, there is no 0.
        Compressor::Zstd => plain(compressor, levels(1..=22))
            .into_iter()
            .chain(plain(compressor, levels(-7..=-1)))
            .collect(),
        Compressor::Lzma => Vec::new(),
    }
}

fn plain(compressor: Compressor, levels: Vec<i32>) -> Vec<Recipe> {
    let settings = levels
        .into_iter()
        .filter_map(|level| Settings::new(compressor, Some(level)).ok());
    settings.map(Recipe::Encoder).collect()
}

fn encoder(compressor: Compressor, level: i32, tuning: Tuning) -> Option<Recipe> {
    let settings = Settings::new(compressor, Some(level)).ok()?;
    Some(Recipe::Encoder(Settings { tuning, ..settings }))
}

fn gzip(
    tuning: GzipTuning,
    levels: &dyn Fn(std::ops::RangeInclusive<i32>) -> Vec<i32>,
) -> Vec<Recipe> {
    let zlib = levels(1..=9).into_iter();
    let zlib = zlib.map(|level| Recipe::Zlib { level, tuning });
    let is_default = tuning == GzipTuning::default();
    // With a window or strategies, zlib-rs compresses in place of libdeflate, which has no other.
    let ours = levels(if is_default { LIBDEFLATE_LEVELS } else { 1..=9 }).into_iter();
    let ours = ours.filter_map(|level| {
        let tuning = if is_default {
            Tuning::Default
        } else {
            Tuning::Gzip(tuning)
        };
        encoder(Compressor::Gzip, level, tuning)
    });
    zlib.chain(ours).collect()
}

fn gzip_tuning(options: Option<CompressorOptions>) -> GzipTuning {
    match options {
        Some(CompressorOptions::Gzip {
            window_size,
            strategies,
            ..
        }) => GzipTuning {
            window_bits: u8::try_from(window_size).unwrap_or(u8::MAX),
            strategies: choices(strategies.into()),
        },
        _ => GzipTuning::default(),
    }
}

/// Ours come first: their streams are told by all their bytes, the others by what is inside.
fn xz(tuning: XzTuning, levels: &dyn Fn(std::ops::RangeInclusive<i32>) -> Vec<i32>) -> Vec<Recipe> {
    let mut recipes = Vec::new();
    for extreme in [false, true] {
        let tuning = XzTuning { extreme, ..tuning };
        // mksquashfs before 4.7 coded alike whatever the filter.
        let literal_context_bits = Some(3);
        let alike = XzTuning {
            literal_context_bits,
            ..tuning
        };
        for level in levels(0..=9) {
            recipes.extend(encoder(Compressor::Xz, level, Tuning::Xz(tuning)));
            recipes.push(Recipe::Liblzma { level, tuning });
            if !tuning.filters.is_empty() {
                let tuning = alike;
                recipes.push(Recipe::Liblzma { level, tuning });
            }
        }
    }
    recipes
}

fn xz_tuning(options: Option<CompressorOptions>) -> XzTuning {
    match options {
        Some(CompressorOptions::Xz {
            dictionary_size,
            filters,
        }) => XzTuning {
            dictionary: Dictionary::Bytes(dictionary_size),
            filters: choices(filters),
            ..XzTuning::default()
        },
        _ => XzTuning::default(),
    }
}

/// The choices that bits stand for; those that are not known are left out.
fn choices<T: Choice>(bits: u32) -> Choices<T> {
    let all = T::ALL.iter().copied().enumerate();
    all.filter(|(bit, _)| bits >> bit & 1 == 1)
        .map(|(_, choice)| choice)
        .collect()
}
