//! Writing an image, in the order in which it lies on disk.

use std::fs::File;
use std::ops::ControlFlow;

use coldpress_assemble::{DataArea, Table, TableOptions, assemble};
use coldpress_codec::Work;
use coldpress_format::{PADDING_SIZE, SUPERBLOCK_SIZE, Superblock};
use coldpress_layout::{NodeId, Order};

use crate::error::Error;
use crate::options::Options;
use crate::progress::{Meter, Progress};
use crate::sink::Sink;
use crate::source::Source;
use crate::summary::Summary;
use crate::tables::{TableWriter, stored_header};
use crate::{append, data};

/// Writes an image of `source` to the file `output`: data area, tables, and last the superblock.
///
/// The file is empty. If the source is appended to an image ([`Source::append_to`]), the file holds
/// that image, new data goes after it, and the superblock is replaced when all else is durable.
///
/// * `progress`: called after each block; stops the work when it breaks.
///
/// # Errors
///
/// [`Error`]; `output` then holds a part of an image, after the old one if there is one.
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
    let data = data::write(source, order, &mut image, options, &mut meter)?;
    source.check_stores()?;
    let mut summary = Summary {
        data_bytes: source.content_bytes(),
        stored_bytes: image.end - start,
        sparse_bytes: data.area.sparse_bytes,
        copied_bytes: data.copied_bytes,
        changed: data
            .changed
            .into_iter()
            .map(|(node, problem)| (node, problem.warning))
            .collect(),
        ..Summary::default()
    };
    let busy = source.busy(Work::Tables);
    let superblock = write_tables(source, order, data.area, options, &mut image, &mut summary)?;
    summary.image_bytes = if options.is_padded {
        image.end.next_multiple_of(PADDING_SIZE)
    } else {
        image.end
    };
    image.finish(summary.image_bytes)?;
    if source.base().is_some() {
        // The superblock must not reach the disk before what it points to.
        output.sync_all().map_err(Error::Write)?;
    }
    image.write_at(&superblock.write(), 0)?;
    drop(busy);
    count(&mut summary, &superblock, source);
    Ok(summary)
}

/// Adds what the superblock and the tree say to the summary.
fn count(summary: &mut Summary, superblock: &Superblock, source: &Source) {
    summary.used_bytes = superblock.bytes_used;
    summary.inode_count = superblock.inode_count;
    summary.fragment_count = superblock.fragment_count;
    summary.table_bytes = superblock.bytes_used - superblock.inode_table_start;
    let duplicates = &source.tree.duplicates;
    summary.duplicate_files = duplicates.len() as u64;
    let sizes = duplicates.keys().map(|node| source.size_bytes(*node));
    summary.duplicate_bytes = sizes.sum();
}

/// Begins an image: leaves room for the superblock and writes the compressor options. An image to
/// which the source is appended has both already.
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

/// Writes the tables, which follow the data area, and returns the superblock.
pub(crate) fn write_tables(
    source: &Source,
    order: &Order,
    area: DataArea,
    options: &Options,
    image: &mut Sink,
    summary: &mut Summary,
) -> Result<Superblock, Error> {
    let table_options = TableOptions {
        metadata: options.metadata,
        is_exportable: options.exportable,
    };
    let mut writer = TableWriter::new(options, image)?;
    let tables = assemble(&source.tree, order, area, table_options, &mut writer)?;
    summary.inode_table = writer.size(&[Table::Inodes]);
    summary.directory_table = writer.size(&[Table::Directories]);
    summary.xattr_table = writer.size(&[Table::XattrPairs, Table::XattrIds]);
    debug_assert_eq!(tables.end, image.end, "what was appended");
    // What an image was made with holds for all that is appended to it.
    let flags = source.base().map_or_else(
        || options.flags(tables.xattrs.is_some()),
        |base| base.superblock().flags,
    );
    Ok(Superblock {
        inode_table_start: tables.inode_table_start,
        directory_table_start: tables.directory_table_start,
        fragment_table_start: Some(tables.fragments.index_start),
        export_table_start: tables.export.map(|export| export.index_start),
        id_table_start: tables.ids.index_start,
        xattr_table_start: tables.xattrs.map(|(_, ids)| ids.index_start),
        bytes_used: tables.end,
        inode_count: u32::try_from(tables.refs.len()).expect("nodes are numbered with 32 bits"),
        modification_time_s: options.modification_time_s,
        block_size: options.block_size,
        fragment_count: tables.fragment_count,
        compressor: options.compressor(),
        flags,
        id_count: tables.id_count,
        root_inode: tables.refs[NodeId::ROOT.index()],
    })
}

/// The compressor options, which follow the superblock; empty if all have their defaults.
pub(crate) fn options_block(options: &Options) -> Vec<u8> {
    let Some(recorded) = options.recorded() else {
        return Vec::new();
    };
    let content = recorded.write();
    [&stored_header(content.len()), content.as_slice()].concat()
}
