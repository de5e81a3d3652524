//! What an image is made of.

mod blocks;
mod counts;
mod kinds;
mod parts;
mod sizes;
mod survey;

use std::path::Path;

use coldpress_format::{CompressorOptions, Superblock};
use coldpress_image::{Image, ReadAt};
use coldpress_report::text::{escaped, iso_utc};
use coldpress_report::units::{bytes, count, share, size_and_ratio};
use serde::Serialize;
use serde_json::{Value, json};

use crate::container::Container;
use blocks::Blocks;
use counts::Counts;
use kinds::Kinds;
use parts::Part;
use sizes::Sizes;

pub use survey::Survey;

/// What an image is made of, as `coldpress info` prints it.
#[derive(Debug, Serialize)]
pub struct Contents {
    image: String,
    /// What the image is in, if that is a SIF container.
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<Container>,
    superblock: Value,
    compressor_options: Value,
    ids: Vec<u32>,
    /// `null` if the tree is damaged.
    counts: Option<Counts>,
    /// Data and fragment blocks; `null` if the tree is damaged, as what follows.
    blocks: Option<Blocks>,
    /// Files by their names.
    kinds: Option<Kinds>,
    /// Files by their lengths.
    sizes: Option<Sizes>,
    parts: Vec<Part>,
    /// Image bytes for each byte of content.
    ratio: Option<f64>,
}

impl Contents {
    /// * `path`: of the file that holds the image.
    /// * `bytes`: those of the image.
    /// * `survey`: of its tree, unless that is damaged.
    pub fn new(path: &Path, image: &Image, bytes: &dyn ReadAt, survey: Option<Survey>) -> Self {
        let superblock = image.superblock();
        let (counts, blocks, kinds, sizes) = match survey {
            Some(survey) => (
                Some(survey.counts),
                Some(survey.blocks),
                Some(survey.kinds),
                Some(survey.sizes),
            ),
            None => (None, None, None, None),
        };
        let pack = image.start_pack().ok().flatten();
        let pack = pack.map(|pack| pack.start()..pack.end());
        Self {
            image: path.display().to_string(),
            container: None,
            superblock: superblock_json(superblock),
            compressor_options: image.options().as_ref().map_or(Value::Null, options_json),
            ids: image.ids().to_vec(),
            ratio: counts
                .as_ref()
                .and_then(|counts| share(superblock.bytes_used, counts.content_bytes)),
            counts,
            blocks,
            kinds,
            sizes,
            parts: parts::of(superblock, bytes, pack),
        }
    }

    /// The same of an image inside a container.
    #[must_use]
    pub fn within(self, container: Option<Container>) -> Self {
        Self { container, ..self }
    }

    /// The same for people.
    ///
    /// * `image`: that of which it is.
    pub fn text(&self, image: &Image) -> String {
        table(self, image.superblock(), image.options().as_ref())
    }
}

/// Every field of the superblock, by the names of docs/format.md.
fn superblock_json(superblock: &Superblock) -> Value {
    json!({
        "inode_count": superblock.inode_count,
        "modification_time": superblock.modification_time_s,
        "block_size": superblock.block_size.bytes(),
        "block_log": superblock.block_size.log2(),
        "fragment_count": superblock.fragment_count,
        "compressor": superblock.compressor.name(),
        "flags": superblock.flags.names(),
        "flag_word": superblock.flags.0,
        "id_count": superblock.id_count,
        "version_major": 4,
        "version_minor": 0,
        "root_inode": superblock.root_inode.word(),
        "bytes_used": superblock.bytes_used,
        "id_table_start": superblock.id_table_start,
        "xattr_table_start": superblock.xattr_table_start,
        "inode_table_start": superblock.inode_table_start,
        "directory_table_start": superblock.directory_table_start,
        "fragment_table_start": superblock.fragment_table_start,
        "export_table_start": superblock.export_table_start,
    })
}

fn options_json(options: &CompressorOptions) -> Value {
    match *options {
        CompressorOptions::Gzip {
            level,
            window_size,
            strategies,
        } => {
            json!({ "level": level, "window_size": window_size, "strategies": strategies })
        }
        CompressorOptions::Lzo { algorithm, level } => {
            json!({ "algorithm": algorithm, "level": level })
        }
        CompressorOptions::Xz {
            dictionary_size,
            filters,
        } => {
            json!({ "dictionary_size": dictionary_size, "filters": filters })
        }
        CompressorOptions::Lz4 { high_compression } => {
            json!({ "high_compression": high_compression })
        }
        CompressorOptions::Zstd { level } => json!({ "level": level }),
    }
}

fn table(info: &Contents, superblock: &Superblock, options: Option<&CompressorOptions>) -> String {
    let mut rows: Vec<(&str, String)> = vec![
        ("image", escaped(info.image.as_bytes())),
        ("format", "SquashFS 4.0".to_owned()),
        ("size", size_text(info, superblock)),
        ("modified", iso_utc(superblock.modification_time_s)),
        ("compressor", compressor_text(superblock, options)),
        ("block size", bytes(superblock.block_size.bytes().into())),
        ("flags", superblock.flags.names().join(" ")),
        ("inodes", count(superblock.inode_count.into())),
    ];
    if let Some(counts) = &info.counts {
        rows.extend(counts.rows());
    }
    match &info.blocks {
        Some(blocks) => rows.extend(blocks.rows(superblock.block_size.bytes())),
        None => rows.push(("fragment blocks", count(superblock.fragment_count.into()))),
    }
    rows.push(("owners and groups", ids_text(&info.ids)));
    rows.extend(info.container.as_ref().map(Container::row));
    let rows = rows
        .into_iter()
        .map(|(name, value)| format!("{name:<18} {value}\n"));
    let title = "\npart                    start byte         bytes   share\n".to_owned();
    rows.chain([title])
        .chain(info.parts.iter().map(part_line))
        .chain(info.kinds.iter().flat_map(Kinds::lines))
        .chain(info.sizes.iter().flat_map(Sizes::lines))
        .chain(info.container.iter().flat_map(Container::lines))
        .collect()
}

fn part_line(part: &Part) -> String {
    let Part {
        name,
        start,
        size_bytes,
        ..
    } = part;
    let share = part
        .share
        .map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0));
    format!("{name:<18} {start:>15} {size_bytes:>13} {share:>7}\n")
}

fn size_text(info: &Contents, superblock: &Superblock) -> String {
    match &info.counts {
        Some(counts) => size_and_ratio(superblock.bytes_used, counts.content_bytes),
        None => bytes(superblock.bytes_used),
    }
}

/// `zstd, level 19`; without recorded options the compressor's defaults hold.
fn compressor_text(superblock: &Superblock, options: Option<&CompressorOptions>) -> String {
    let name = superblock.compressor.name();
    let Some(options) = options else {
        return format!("{name}, default options");
    };
    let Value::Object(fields) = options_json(options) else {
        return name.to_owned();
    };
    let fields: Vec<String> = fields
        .iter()
        .map(|(key, value)| format!("{} {value}", key.replace('_', " ")))
        .collect();
    format!("{name}, {}", fields.join(", "))
}

/// The first ids; an image may have 65535.
fn ids_text(ids: &[u32]) -> String {
    const SHOWN: usize = 12;
    let mut text: Vec<String> = ids.iter().take(SHOWN).map(u32::to_string).collect();
    if ids.len() > SHOWN {
        text.push(format!("and {} more", ids.len() - SHOWN));
    }
    text.join(" ")
}
