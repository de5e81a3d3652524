//! Writing an image, in the order in which it lies on disk.

use std::fs::File;
use std::ops::ControlFlow;

use coldpress_codec::Work;
use coldpress_format::{Fragment, PADDING_SIZE, SUPERBLOCK_SIZE, Superblock};
use coldpress_layout::Order;

use crate::data::DataArea;
use crate::error::Error;
use crate::ids::Ids;
use crate::inodes::{Contents, InodeTables, Numbers};
use crate::metadata::stored_header;
use crate::options::Options;
use crate::progress::{Meter, Progress};
use crate::sink::Sink;
use crate::source::Source;
use crate::summary::Summary;
use crate::xattrs::Xattrs;
use crate::{append, data, tables};

/// Writes an image of `source` to the empty file `output`, or behind the image in it that the
/// source is appended to ([`Source::append_to`]). The superblock comes last; that of an image that
/// is appended to, when all else is durable.
///
/// * `progress`: called after each block; stops the work when it breaks.
///
/// # Errors
///
/// [`Error`]; `output` then holds a part of an image, behind the old one if there is one.
///
/// # Cost
///
/// Each file is read once, duplicates that the source knows of not at all. Memory is that of the
/// tree, the tables and [`Options::memory_bytes`].
pub fn write(
    source: &Source,
    order: &Order,
    output: &File,
    options: &Options,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Summary, Error> {
    options.check(order)?;
    let mut meter = Meter::new(source.content_bytes() - source.kept_bytes(), progress);
    let mut image = begin(source, output, options)?;
    let start = image.end;
    let mut data = data::write(source, order, &mut image, options, &mut meter)?;
    source.check_stores()?;
    let mut summary = Summary {
        data_bytes: source.content_bytes(),
        stored_bytes: image.end - start,
        sparse_bytes: data.sparse_bytes,
        copied_bytes: data.copied_bytes,
        changed: std::mem::take(&mut data.changed)
            .into_iter()
            .map(|(node, problem)| (node, problem.warning))
            .collect(),
        ..Summary::default()
    };
    let busy = source.busy(Work::Tables);
    let superblock = write_tables(source, order, data, options, &mut image, &mut summary)?;
    summary.image_bytes = if options.is_padded {
        image.end.next_multiple_of(PADDING_SIZE)
    } else {
        image.end
    };
    image.finish(summary.image_bytes)?;
    if source.base().is_some() {
        // From here on the superblock names it.
        output.sync_all().map_err(Error::Write)?;
    }
    image.write_at(&superblock.write(), 0)?;
    drop(busy);

    summary.used_bytes = superblock.bytes_used;
    summary.inode_count = superblock.inode_count;
    summary.fragment_count = superblock.fragment_count;
    summary.table_bytes = superblock.bytes_used - superblock.inode_table_start;
    summary.duplicate_files = source.tree.duplicates.len() as u64;
    summary.duplicate_bytes = source
        .tree
        .duplicates
        .keys()
        .map(|node| source.size_bytes(*node))
        .sum();
    Ok(summary)
}

/// The place at which the data area begins, with what stands before it.
fn begin<'a>(source: &Source, output: &'a File, options: &Options) -> Result<Sink<'a>, Error> {
    if let Some(base) = source.base() {
        let start = append::start(base.superblock(), options.offset_bytes);
        return Ok(Sink::behind(output, options.offset_bytes, start));
    }
    let mut image = Sink::new(output, options.offset_bytes);
    image.end = SUPERBLOCK_SIZE as u64;
    image.append(&options_block(options))?;
    Ok(image)
}

/// Writes everything behind the data area, in disk order.
fn write_tables(
    source: &Source,
    order: &Order,
    mut data: DataArea,
    options: &Options,
    image: &mut Sink,
    summary: &mut Summary,
) -> Result<Superblock, Error> {
    let stored = options.stored();
    let ids = Ids::new(&source.tree, order)?;
    let xattrs = Xattrs::new(&source.tree, order);
    let contents = Contents::new(&source.tree, order, &ids, &xattrs, &mut data.files);
    let (inodes, numbers) = contents.pack(options, image)?;
    let fragments = fragment_entries(&data.fragments);
    let fragment_table_start = lookup(image, &fragments, stored.fragments, options)?;
    let export_table_start = if options.exportable {
        let entries = export_entries(&numbers, &inodes);
        Some(lookup(image, &entries, stored.inodes, options)?)
    } else {
        None
    };
    let id_table_start = lookup(image, &ids.entries(), stored.ids, options)?;
    let packed_xattrs = xattrs.pack(image.end, options)?;
    if let Some(packed) = &packed_xattrs {
        image.append(&packed.bytes)?;
        summary.xattr_table = packed.size;
    }
    summary.inode_table = inodes.inode_table;
    summary.directory_table = inodes.directory_table;
    // What an image was made with holds for all that is appended to it.
    let flags = source.base().map_or_else(
        || options.flags(packed_xattrs.is_some()),
        |base| base.superblock().flags,
    );
    Ok(Superblock {
        inode_table_start: inodes.inode_table_start,
        directory_table_start: inodes.directory_table_start,
        fragment_table_start: Some(fragment_table_start),
        export_table_start,
        id_table_start,
        xattr_table_start: packed_xattrs.map(|packed| packed.header_start),
        bytes_used: image.end,
        inode_count: u32::try_from(numbers.of.len()).expect("nodes are numbered with 32 bits"),
        modification_time_s: options.modification_time_s,
        block_size: options.block_size,
        fragment_count: u32::try_from(data.fragments.len()).expect("fewer than inodes"),
        compressor: options.compressor(),
        flags,
        id_count: ids.count(),
        root_inode: inodes.refs[0],
    })
}

/// The entries of the fragment table.
pub(crate) fn fragment_entries(fragments: &[Fragment]) -> Vec<u8> {
    fragments
        .iter()
        .copied()
        .flat_map(Fragment::write)
        .collect()
}

/// Appends a table of entries; returns where its index starts.
fn lookup(
    image: &mut Sink,
    entries: &[u8],
    is_stored: bool,
    options: &Options,
) -> Result<u64, Error> {
    let (bytes, index_start) = tables::lookup(entries, image.end, is_stored, options)?;
    image.append(&bytes)?;
    Ok(index_start)
}

/// For each inode number the inode's place.
pub(crate) fn export_entries(numbers: &Numbers, inodes: &InodeTables) -> Vec<u8> {
    let mut entries = vec![[0; 8]; numbers.of.len()];
    for (number, inode) in numbers.of.iter().zip(&inodes.refs) {
        entries[*number as usize - 1] = inode.word().to_le_bytes();
    }
    entries.into_flattened()
}

/// The metadata block behind the superblock; nothing where all options have their defaults.
pub(crate) fn options_block(options: &Options) -> Vec<u8> {
    let Some(recorded) = options.recorded() else {
        return Vec::new();
    };
    let content = recorded.write();
    [&stored_header(content.len()), content.as_slice()].concat()
}
