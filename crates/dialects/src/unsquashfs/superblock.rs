//! What the superblock says, as `unsquashfs -stat` prints it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;

use anyhow::Context as _;
use coldpress_codec::{Choice, Filter, Strategy};
use coldpress_format::{
    Compressor, CompressorOptions, Flags, METADATA_BLOCK_SIZE, MetadataHeader, SUPERBLOCK_SIZE,
    Superblock, XattrTable,
};
use coldpress_image::{Error, Offset, ReadAt as _};
use coldpress_report::LocalTime;
use coldpress_report::text::quoted;

use super::image;
use super::request::Request;

/// Writes the time of the image, or all that the superblock says. Nothing else of the image has to
/// be sound.
///
/// * `explain`: why an image without such a superblock cannot be read.
///
/// # Errors
///
/// If there is no superblock, or `out` cannot be written.
pub fn write_superblock(
    request: &Request,
    explain: &dyn Fn(Error, Option<String>) -> anyhow::Error,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let file = image::file(request)?;
    let head = read(&file, 0, SUPERBLOCK_SIZE)
        .with_context(|| format!("cannot read {}", quoted(&request.image)))?;
    let superblock = Superblock::parse(&head)
        .map_err(|corrupt| explain(Error::Corrupt(corrupt), image::other_kind(&file)))?;
    if request.mkfs_time {
        writeln!(out, "{}", superblock.modification_time_s)?;
        return Ok(());
    }
    let time = LocalTime::new(request.listing.utc);
    let text = text(&file, &superblock, &time)
        .with_context(|| format!("cannot read {}", quoted(&request.image)))?;
    out.write_all(b"Found a valid SQUASHFS 4:0 superblock on ")?;
    out.write_all(request.image.as_os_str().as_encoded_bytes())?;
    out.write_all(text.as_bytes())?;
    Ok(())
}

/// All lines but the beginning of the first.
fn text(file: &Offset<File>, superblock: &Superblock, time: &LocalTime) -> anyhow::Result<String> {
    let mut text = String::from(".\n");
    let time = time.asctime(superblock.modification_time_s);
    writeln!(text, "Creation or last append time {time}")?;
    write_size(&mut text, superblock.bytes_used)?;
    writeln!(text, "Compression {}", superblock.compressor)?;
    if superblock.flags.contains(Flags::COMPRESSOR_OPTIONS) {
        write_options(&mut text, file, superblock.compressor)?;
    }
    writeln!(text, "Block size {}", superblock.block_size.bytes())?;
    write_flags(&mut text, superblock.flags)?;
    writeln!(text, "Number of fragments {}", superblock.fragment_count)?;
    writeln!(text, "Number of inodes {}", superblock.inode_count)?;
    writeln!(text, "Number of ids {}", superblock.id_count)?;
    if !superblock.flags.contains(Flags::NO_XATTRS) {
        let count = xattr_sets(file, superblock)?;
        writeln!(text, "Number of xattr ids {count}")?;
    }
    Ok(text)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "sizes are printed with two decimals"
)]
fn write_size(text: &mut String, bytes: u64) -> Result<(), std::fmt::Error> {
    let kilobytes = bytes as f64 / 1024.0;
    let megabytes = kilobytes / 1024.0;
    writeln!(
        text,
        "Filesystem size {bytes} bytes ({kilobytes:.2} Kbytes / {megabytes:.2} Mbytes)"
    )
}

fn write_flags(text: &mut String, flags: Flags) -> Result<(), std::fmt::Error> {
    let not = |flag| if flags.contains(flag) { "" } else { "not " };
    let un = |is_raw| if is_raw { "un" } else { "" };
    let raw_inodes = flags.contains(Flags::RAW_INODES);
    writeln!(
        text,
        "Filesystem is {}exportable via NFS",
        not(Flags::EXPORTABLE)
    )?;
    writeln!(text, "Inodes are {}compressed", un(raw_inodes))?;
    let raw_data = flags.contains(Flags::RAW_DATA);
    writeln!(text, "Data is {}compressed", un(raw_data))?;
    let raw_ids = raw_inodes || flags.contains(Flags::RAW_IDS);
    writeln!(text, "Uids/Gids (Id table) are {}compressed", un(raw_ids))?;
    if flags.contains(Flags::NO_FRAGMENTS) {
        writeln!(text, "Fragments are not stored")?;
    } else {
        let raw_fragments = flags.contains(Flags::RAW_FRAGMENTS);
        writeln!(text, "Fragments are {}compressed", un(raw_fragments))?;
        let not = not(Flags::ALL_FRAGMENTS);
        writeln!(text, "Tailends are {not}packed into fragments")?;
    }
    if flags.contains(Flags::NO_XATTRS) {
        writeln!(text, "Xattrs are not stored")?;
    } else {
        let raw_xattrs = flags.contains(Flags::RAW_XATTRS);
        writeln!(text, "Xattrs are {}compressed", un(raw_xattrs))?;
    }
    writeln!(text, "Duplicates are {}removed", not(Flags::DUPLICATES))
}

/// The options of the compressor, which lie behind the superblock.
fn write_options(
    text: &mut String,
    file: &Offset<File>,
    compressor: Compressor,
) -> anyhow::Result<()> {
    let start = SUPERBLOCK_SIZE as u64;
    let header = read(file, start, 2)?;
    let header = header.first_chunk::<2>().context("the image ends")?;
    let header = MetadataHeader::parse(*header, start)?;
    let size = usize::from(header.size_bytes).min(METADATA_BLOCK_SIZE);
    let bytes = read(file, start + MetadataHeader::SIZE, size)?;
    let options = CompressorOptions::parse(compressor, &bytes, start)?;
    match options {
        CompressorOptions::Gzip {
            level,
            window_size,
            strategies,
        } => {
            writeln!(text, "\tcompression-level {level}")?;
            writeln!(text, "\twindow-size {window_size}")?;
            let names = chosen(Strategy::ALL, strategies.into());
            let names = if names.is_empty() { "default" } else { &names };
            writeln!(text, "\tStrategies selected: {names}")?;
        }
        CompressorOptions::Lzo { algorithm, level } => {
            writeln!(text, "\talgorithm {}", lzo_algorithm(algorithm))?;
            if algorithm == LZO1X_999 {
                writeln!(text, "\tcompression level {level}")?;
            }
        }
        CompressorOptions::Xz {
            dictionary_size,
            filters,
        } => {
            writeln!(text, "\tDictionary size {dictionary_size}")?;
            match chosen(Filter::ALL, filters).as_str() {
                "" => writeln!(text, "\tNo filters specified")?,
                names => writeln!(text, "\tFilters selected: {names}")?,
            }
        }
        CompressorOptions::Lz4 { high_compression } => {
            write_lz4(text, high_compression, &bytes)?;
        }
        CompressorOptions::Zstd { level } => {
            writeln!(text, "\tcompression-level {}", level.cast_signed())?;
        }
    }
    Ok(())
}

/// The number of LZO1X-999 in an image.
const LZO1X_999: u32 = 4;

/// The algorithms of lzo by their number in an image.
fn lzo_algorithm(number: u32) -> &'static str {
    const NAMES: [&str; 5] = [
        "lzo1x_1",
        "lzo1x_1_11",
        "lzo1x_1_12",
        "lzo1x_1_15",
        "lzo1x_999",
    ];
    let name = usize::try_from(number).ok();
    name.and_then(|number| NAMES.get(number))
        .copied()
        .unwrap_or("unknown")
}

/// squashfs-tools 4.7.6 stores a third word if the level or acceleration is not the default, which
/// earlier ones cannot choose and do not print.
fn write_lz4(
    text: &mut String,
    high_compression: bool,
    bytes: &[u8],
) -> Result<(), std::fmt::Error> {
    let word = bytes.get(8..).and_then(|bytes| bytes.first_chunk::<4>());
    let word = word.map(|bytes| u32::from_le_bytes(*bytes));
    let name = if high_compression {
        writeln!(text, "\tHigh Compression option specified (-Xhc)")?;
        "Compression-level"
    } else {
        "Acceleration"
    };
    match word {
        Some(value) => writeln!(text, "\t{name} {value}"),
        None => Ok(()),
    }
}

/// The names of a set in which each bit stands for one of `all`.
fn chosen<T: Choice>(all: &[T], set: u32) -> String {
    let chosen = all
        .iter()
        .enumerate()
        .filter(|(bit, _)| set >> bit & 1 == 1);
    let names: Vec<&str> = chosen.map(|(_, choice)| choice.name()).collect();
    names.join(", ")
}

/// How many sets of extended attributes there are.
fn xattr_sets(file: &Offset<File>, superblock: &Superblock) -> anyhow::Result<u32> {
    let Some(start) = superblock.xattr_table_start else {
        return Ok(0);
    };
    let bytes = read(file, start, XattrTable::SIZE)?;
    Ok(XattrTable::parse(&bytes, start)?.count)
}

/// Up to `len` bytes of the image from `start` on, less only at its end.
fn read(file: &Offset<File>, start: u64, len: usize) -> anyhow::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, start.saturating_add(filled as u64))? {
            0 => break,
            len => filled += len,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
