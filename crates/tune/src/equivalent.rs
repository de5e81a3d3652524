//! The same image in the words of other tools.

mod distribution;
mod package;
mod packer;

use coldpress_codec::{Dictionary, Settings, Tuning};
use coldpress_format::Compressor;
use coldpress_layout::{Group, Tails};

use crate::candidate::{Candidate, OrderBy};

pub(crate) use distribution::{buildroot, live_build, nixos};
pub(crate) use package::{appimagetool, enroot, snapcraft};
pub(crate) use packer::{gensquashfs, mksquashfs};

/// How a tool is told to build an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Equivalent {
    /// The tool.
    pub tool: &'static str,
    /// What to type, or to write into its configuration, line by line; nothing if it cannot build
    /// it.
    pub lines: Vec<String>,
    /// What of the image it cannot be told.
    pub lacks: Vec<String>,
}

/// How each tool is told to build an image like a candidate.
pub fn equivalents(candidate: &Candidate) -> Vec<Equivalent> {
    let tools = [
        mksquashfs,
        gensquashfs,
        appimagetool,
        snapcraft,
        enroot,
        live_build,
        buildroot,
        nixos,
    ];
    tools.iter().map(|tool| tool(candidate)).collect()
}

/// The level and the tuning of a compressor in the words of mksquashfs, each word an argument.
///
/// It has no levels of xz, one of LZ4 HC, and none above gzip's 9; nor xz's lc, lp and pb, nor the
/// acceleration of lz4.
pub fn mksquashfs_words(settings: &Settings) -> Vec<String> {
    let mut words = Vec::new();
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    match settings.compressor {
        // Its levels end at 9; ours above that are libdeflate's.
        Compressor::Gzip => option("-Xcompression-level", settings.level.min(9).to_string()),
        Compressor::Lzo if settings.level == 0 => option("-Xalgorithm", "lzo1x_1".to_owned()),
        Compressor::Lzo | Compressor::Zstd => {
            option("-Xcompression-level", settings.level.to_string());
        }
        _ => {}
    }
    match settings.tuning {
        Tuning::Gzip(tuning) => {
            option("-Xwindow-size", tuning.window_bits.to_string());
            if !tuning.strategies.is_empty() {
                option("-Xstrategy", tuning.strategies.to_string());
            }
        }
        Tuning::Xz(tuning) => {
            if !tuning.filters.is_empty() {
                option("-Xbcj", tuning.filters.to_string());
            }
            match tuning.dictionary {
                Dictionary::Block => {}
                Dictionary::Bytes(bytes) => option("-Xdict-size", bytes.to_string()),
                Dictionary::Millionths(share) => {
                    option("-Xdict-size", format!("{}%", f64::from(share) / 10_000.0));
                }
            }
        }
        // Its releases up to 4.7.5 have no acceleration.
        Tuning::Lz4(_) | Tuning::Default => {}
    }
    if settings.compressor == Compressor::Lz4 && settings.level > 0 {
        words.push("-Xhc".to_owned());
    }
    words
}

/// What mksquashfs is told of compression: `-comp zstd -Xcompression-level 15`.
fn compression_words(candidate: &Candidate) -> Vec<String> {
    let Some(settings) = &candidate.compression else {
        return ["-noI", "-noId", "-noD", "-noF", "-noX"]
            .map(str::to_owned)
            .to_vec();
    };
    let mut words = vec!["-comp".to_owned(), settings.compressor.to_string()];
    words.extend(mksquashfs_words(settings));
    words.extend(candidate.uncompressed.data.then(|| "-noD".to_owned()));
    words
}

/// What mksquashfs is told of tail ends.
fn tail_words(candidate: &Candidate) -> Vec<String> {
    match candidate.tails {
        Tails::None => vec!["-no-fragments".to_owned()],
        Tails::Small => Vec::new(),
        Tails::All => vec!["-always-use-fragments".to_owned()],
    }
}

/// What mksquashfs is told in all: compression, block size, tail ends.
fn all_words(candidate: &Candidate) -> Vec<String> {
    let mut words = compression_words(candidate);
    words.extend(["-b".to_owned(), candidate.block_text()]);
    words.extend(tail_words(candidate));
    words
}

/// What no option of mksquashfs says of a level.
fn level_lacks(candidate: &Candidate) -> Option<String> {
    let settings = candidate.compression?;
    let Settings {
        compressor, level, ..
    } = settings;
    let text = match compressor {
        Compressor::Gzip if level > 9 => "gzip ends at level 9".to_owned(),
        Compressor::Xz if level != 6 => "xz has no levels".to_owned(),
        Compressor::Lz4 if level != 0 && level != 12 => "lz4 has one level, -Xhc".to_owned(),
        Compressor::Zstd if level < 1 => "zstd begins at level 1".to_owned(),
        _ => return None,
    };
    Some(text)
}

/// That no tool stores single blocks.
fn encoding_lacks(candidate: &Candidate) -> Option<String> {
    let why = "single blocks that are stored as they are";
    candidate.spends.then(|| why.to_owned())
}

/// What of the order is lost with a tool that takes a sort file, or takes none.
fn order_lacks(candidate: &Candidate, takes_sort_file: bool) -> Option<String> {
    let text = match (candidate.order, takes_sort_file) {
        (OrderBy::Tree, _) if candidate.group != Group::None => "the order of tail ends",
        (OrderBy::Tree, _) | (OrderBy::SortFile, true) => return None,
        (OrderBy::Plan, true) => "the order of tail ends, inodes and listings",
        (_, false) => "the order",
    };
    Some(text.to_owned())
}

fn texts<const N: usize>(lacks: [Option<String>; N]) -> Vec<String> {
    lacks.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
