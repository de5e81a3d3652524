//! Superblocks side by side.

use coldpress_format::{CompressorOptions, Superblock};
use coldpress_image::Image;
use coldpress_report::text::{hex, iso_utc};

use super::DifferenceLine;

/// The fields that differ, and the start packs, but for the positions of tables, which follow from the rest.
pub fn rows(left: &Image, right: &Image) -> Vec<DifferenceLine> {
    let fields = fields(left).into_iter().zip(fields(right));
    fields
        .filter(|((_, first), (_, second))| first != second)
        .map(|((name, first), (_, second))| {
            DifferenceLine::both(name.to_owned(), "", first, second)
        })
        .collect()
}

fn fields(image: &Image) -> Vec<(&'static str, String)> {
    let superblock = image.superblock();
    let ids: Vec<String> = image.ids().iter().map(u32::to_string).collect();
    vec![
        ("modification time", iso_utc(superblock.modification_time_s)),
        ("compressor", superblock.compressor.to_string()),
        ("compressor options", options(image.options())),
        ("block size", superblock.block_size.bytes().to_string()),
        ("flags", flags(superblock)),
        ("inodes", superblock.inode_count.to_string()),
        ("fragment blocks", superblock.fragment_count.to_string()),
        ("owners and groups", ids.join(" ")),
        ("tables", tables(superblock)),
        ("bytes used", superblock.bytes_used.to_string()),
        ("start pack", start_pack(image)),
    ]
}

/// What a start pack holds, with the beginning of the digest that tells it from others.
fn start_pack(image: &Image) -> String {
    match image.start_pack() {
        Ok(None) => "none".to_owned(),
        Ok(Some(pack)) => {
            let pages: u64 = pack.runs().map(|(run, _)| u64::from(run.page_count)).sum();
            let header = pack.header();
            format!(
                "{pages} pages of {} files, {} bytes of {}, {}",
                pack.files().len(),
                header.size_bytes,
                header.compressor,
                hex(&header.table_digest[..4]),
            )
        }
        Err(error) => format!("cannot be used: {error}"),
    }
}

fn options(options: Option<CompressorOptions>) -> String {
    match options {
        None => "default".to_owned(),
        Some(CompressorOptions::Gzip {
            level,
            window_size,
            strategies,
        }) => format!("level {level}, window {window_size}, strategies {strategies}"),
        Some(CompressorOptions::Lzo { algorithm, level }) => {
            format!("algorithm {algorithm}, level {level}")
        }
        Some(CompressorOptions::Xz {
            dictionary_size,
            filters,
        }) => format!("dictionary {dictionary_size}, filters {filters}"),
        Some(CompressorOptions::Lz4 { high_compression }) => {
            format!("high compression {high_compression}")
        }
        Some(CompressorOptions::Zstd { level }) => format!("level {level}"),
    }
}

fn flags(superblock: &Superblock) -> String {
    let names = superblock.flags.names().join(" ");
    if names.is_empty() {
        "none".to_owned()
    } else {
        names
    }
}

/// The tables that an image may lack.
fn tables(superblock: &Superblock) -> String {
    let there: Vec<&str> = [
        ("fragments", superblock.fragment_table_start),
        ("exports", superblock.export_table_start),
        ("xattrs", superblock.xattr_table_start),
    ]
    .into_iter()
    .filter(|(_, start)| start.is_some())
    .map(|(name, _)| name)
    .collect();
    if there.is_empty() {
        "none".to_owned()
    } else {
        there.join(" ")
    }
}
