//! Those of gensquashfs and tar2sqfs, which have most options in common.

use coldpress_codec::{Filter, Recipe};
use coldpress_format::{BlockSize, CompressorOptions};
use coldpress_image::Image;
use coldpress_writer::Identity;

use super::{lzo_algorithm, names};

/// The level of xz that they take unless another is given. It is not recorded.
const XZ_LEVEL: i32 = 6;
/// Their names of the strategies of zlib, by the bits that stand for them.
const STRATEGIES: [&str; 5] = ["default", "filtered", "huffman", "rle", "fixed"];

/// The options that both have, for an image like this.
pub fn options(image: &Image, identity: &Identity) -> Vec<String> {
    let superblock = image.superblock();
    let mut words = vec!["-c".to_owned(), superblock.compressor.to_string()];
    let mut add = |these: &[&str]| words.extend(these.iter().map(|word| (*word).to_owned()));
    if superblock.block_size != BlockSize::DEFAULT {
        add(&["-b", &superblock.block_size.bytes().to_string()]);
    }
    let extra = compressor_options(image, identity);
    if !extra.is_empty() {
        add(&["-X", &extra.join(",")]);
    }
    if superblock.modification_time_s != 0 {
        let time_s = superblock.modification_time_s;
        add(&["-d", &format!("mtime={time_s}")]);
    }
    if superblock.export_table_start.is_some() {
        add(&["-e"]);
    }
    if identity.habits.large_files_lack_tails {
        add(&["-T"]);
    }
    words
}

fn compressor_options(image: &Image, identity: &Identity) -> Vec<String> {
    let mut extra = Vec::new();
    match image.options() {
        Some(CompressorOptions::Gzip {
            level,
            window_size,
            strategies,
        }) => {
            extra.extend([format!("level={level}"), format!("window={window_size}")]);
            let chosen = STRATEGIES.iter().enumerate();
            let chosen = chosen.filter(|(bit, _)| strategies >> bit & 1 == 1);
            extra.extend(chosen.map(|(_, name)| (*name).to_owned()));
        }
        Some(CompressorOptions::Lzo { algorithm, level }) => {
            extra.extend(lzo_algorithm(algorithm).map(|name| format!("algorithm={name}")));
            extra.push(format!("level={level}"));
        }
        Some(CompressorOptions::Xz {
            dictionary_size,
            filters,
        }) => {
            extra.push(format!("dictsize={dictionary_size}"));
            if filters != 0 {
                extra.push(names::<Filter>(filters));
            }
        }
        Some(CompressorOptions::Lz4 { high_compression }) => {
            extra.extend(high_compression.then(|| "hc".to_owned()));
        }
        Some(CompressorOptions::Zstd { level }) => extra.push(format!("level={level}")),
        None => {}
    }
    if let Some(encoding) = identity.encoding
        && let Recipe::Liblzma { level, tuning } = encoding.recipe
    {
        extra.extend((level != XZ_LEVEL).then(|| format!("level={level}")));
        extra.extend(tuning.extreme.then(|| "extreme".to_owned()));
    }
    extra
}
