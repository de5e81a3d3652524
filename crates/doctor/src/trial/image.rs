//! A small image, whose content only a reader with its compressor and filter gets right.

use anyhow::{Context as _, bail, ensure};
use coldpress_codec::{Encoder, Settings};
use coldpress_format::{
    BlockSize, BlockWord, Body, Compressor, Directory, Entry, File, Flags, Inode, InodeKind,
    InodeRef, MetadataHeader, PADDING_SIZE, SUPERBLOCK_SIZE, Superblock, write_listing,
};

/// The one file, in the root directory.
pub(crate) const FILE: &str = "file";

/// Bytes of a data block: the largest page that a kernel has.
const BLOCK_BYTES: u32 = 64 << 10;
/// The file has one block.
const CONTENT_BYTES: usize = 64 << 10;

/// An image and what its file holds.
pub(crate) struct Made {
    pub(crate) bytes: Vec<u8>,
    pub(crate) content: Vec<u8>,
}

/// Makes an image: superblock, options, a data block, inodes, a listing, ids.
///
/// * `filter`: the number of a filter of xz that the block is to need.
///
/// # Errors
///
/// If the compressor does not work.
pub(crate) fn make(compressor: Compressor, filter: Option<u64>) -> anyhow::Result<Made> {
    let block_size = BlockSize::new(BLOCK_BYTES)?;
    let settings = Settings::new(compressor, None)?;
    let mut bytes = vec![0; SUPERBLOCK_SIZE];
    let options = settings.options(block_size);
    if let Some(options) = options {
        metadata(&mut bytes, &options.write())?;
    }
    // In zeros there is no instruction that a filter would change.
    let line = b"the same line all over, which every compressor makes smaller\n";
    let pattern: &[u8] = if filter.is_some() { &[0] } else { line };
    let content: Vec<u8> = pattern
        .iter()
        .copied()
        .cycle()
        .take(CONTENT_BYTES)
        .collect();
    let mut block = Vec::new();
    let is_compressed = Encoder::new(&settings, block_size)?.compress(&content, &mut block)?;
    ensure!(is_compressed, "the content does not compress");
    if let Some(number) = filter {
        name_filter(&mut block, u8::try_from(number)?)?;
    }
    let file = File {
        start: bytes.len() as u64,
        size_bytes: content.len() as u64,
        blocks: vec![BlockWord::new(u32::try_from(block.len())?, true)],
        ..File::default()
    };
    bytes.extend_from_slice(&block);
    let tables = tables(&mut bytes, file)?;
    let superblock = Superblock {
        inode_count: 2,
        modification_time_s: 0,
        block_size,
        fragment_count: 0,
        compressor,
        flags: if options.is_some() {
            Flags::COMPRESSOR_OPTIONS
        } else {
            Flags::default()
        },
        id_count: 1,
        root_inode: tables.root,
        bytes_used: bytes.len() as u64,
        id_table_start: tables.ids,
        xattr_table_start: None,
        inode_table_start: tables.inodes,
        directory_table_start: tables.listings,
        fragment_table_start: None,
        export_table_start: None,
    };
    for (to, from) in bytes.iter_mut().zip(superblock.write()) {
        *to = from;
    }
    let padded = (bytes.len() as u64).next_multiple_of(PADDING_SIZE);
    bytes.resize(usize::try_from(padded)?, 0);
    Ok(Made { bytes, content })
}

/// Where the tables start.
struct Tables {
    inodes: u64,
    root: InodeRef,
    listings: u64,
    ids: u64,
}

fn tables(bytes: &mut Vec<u8>, file: File) -> anyhow::Result<Tables> {
    let inode = |number, mode, body| Inode {
        mode,
        uid_index: 0,
        gid_index: 0,
        mtime_s: 0,
        number,
        link_count: 1,
        xattr: None,
        body,
    };
    let mut table = Vec::new();
    inode(1, 0o444, Body::File(file)).write(&mut table);
    let root = InodeRef {
        block_start: 0,
        offset: u16::try_from(table.len())?,
    };
    let entry = Entry {
        name: FILE.as_bytes().to_vec(),
        inode: InodeRef {
            block_start: 0,
            offset: 0,
        },
        number: 1,
        kind: InodeKind::File,
    };
    let listing = write_listing(&[entry], 0).bytes;
    let directory = Directory {
        listing_bytes: u32::try_from(listing.len())?,
        parent: 3,
        ..Directory::default()
    };
    let mut root_inode = inode(2, 0o555, Body::Directory(directory));
    root_inode.link_count = 2;
    root_inode.write(&mut table);

    let inodes = metadata(bytes, &table)?;
    let listings = metadata(bytes, &listing)?;
    let id_block = metadata(bytes, &[0; 4])?;
    let ids = bytes.len() as u64;
    bytes.extend_from_slice(&id_block.to_le_bytes());
    Ok(Tables {
        inodes,
        root,
        listings,
        ids,
    })
}

/// Appends a metadata block that is stored as it is; returns where it starts.
fn metadata(bytes: &mut Vec<u8>, content: &[u8]) -> anyhow::Result<u64> {
    let start = bytes.len() as u64;
    let header = MetadataHeader {
        size_bytes: u16::try_from(content.len())?,
        compressed: false,
    };
    bytes.extend_from_slice(&header.write());
    bytes.extend_from_slice(content);
    Ok(start)
}

/// Says of a stream of xz that its block went through a filter without properties, which is to
/// leave the content as it is. In the header its number takes the place of two bytes of padding.
///
/// # Errors
///
/// If the stream does not begin as liblzma writes it.
fn name_filter(stream: &mut [u8], number: u8) -> anyhow::Result<()> {
    let header = stream.get_mut(12..24).context("the stream is too short")?;
    let [2, 0, lzma2, 1, dictionary, ..] = *header else {
        bail!("the header of the block is another");
    };
    let fields = [2, 1, number, 0, lzma2, 1, dictionary, 0];
    let checksum = crc32(&fields).to_le_bytes();
    for (to, from) in header.iter_mut().zip(fields.into_iter().chain(checksum)) {
        *to = from;
    }
    Ok(())
}

/// The CRC32 of IEEE 802.3, bit by bit: it is of eight bytes.
fn crc32(bytes: &[u8]) -> u32 {
    let shift = |crc: u32| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
    let step = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| shift(crc));
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    use coldpress_format::Compressor;
    use coldpress_image::{Image, ReaderRequirements};

    use super::super::super::reader::{COMPRESSORS, FILTERS};
    use super::*;

    fn read(made: &Made) -> (Image, Vec<u8>) {
        let image = Image::new(Box::new(made.bytes.clone())).unwrap();
        let (_, inode) = image.find(b"/file").unwrap().unwrap();
        let Body::File(file) = inode.body else {
            panic!("it is no file");
        };
        let mut content = vec![0; made.content.len()];
        image.read_at(&file, 0, &mut content).unwrap();
        (image, content)
    }

    #[test]
    fn every_small_image_is_sound() {
        for compressor in COMPRESSORS {
            let made = make(compressor, None).unwrap();
            let (image, content) = read(&made);
            assert!(content == made.content, "{compressor}");
            let problems =
                coldpress_image::check(&image, &mut |_| std::ops::ControlFlow::Continue(()));
            assert!(problems.unwrap().is_empty(), "{compressor}");
        }
    }

    #[test]
    fn an_image_with_a_filter_needs_it_and_nothing_else() {
        for (number, name) in FILTERS {
            let made = make(Compressor::Xz, Some(number)).unwrap();
            let (image, content) = read(&made);
            assert!(content == made.content, "{name}");
            let requirements = ReaderRequirements::of(&image).unwrap();
            assert_eq!(
                requirements.xz_filters.into_iter().collect::<Vec<_>>(),
                [number]
            );
        }
    }
}
