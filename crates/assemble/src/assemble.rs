//! Everything behind the data area, in the order in which it lies on disk.

use coldpress_format::{Fragment, InodeRef};
use coldpress_layout::{Order, Tree};

use crate::data::DataArea;
use crate::ids::Ids;
use crate::inodes::{Contents, InodeTables, MetadataLayout, Numbers};
use crate::sink::{Table, TableSink};
use crate::tables::{LookupTable, lookup};
use crate::xattrs::Xattrs;

/// Which tables there are, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// How inodes and listings lie.
    pub metadata: MetadataLayout,
    /// Whether there is an export table.
    pub is_exportable: bool,
}

/// Where everything behind the data area lies.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// Image byte at which the inode table begins.
    pub inode_table_start: u64,
    /// Image byte at which the directory table begins.
    pub directory_table_start: u64,
    /// The fragment table; one of an image without fragments has no bytes.
    pub fragments: LookupTable,
    /// The export table.
    pub export: Option<LookupTable>,
    /// The id table.
    pub ids: LookupTable,
    /// Image byte at which the xattr pairs begin, and the xattr id table.
    pub xattrs: Option<(u64, LookupTable)>,
    /// Image byte behind everything.
    pub end: u64,
    /// For each node where its inode lies.
    pub refs: Vec<InodeRef>,
    /// For each node its inode number, and of directories that of the parent.
    pub numbers: Numbers,
    /// How many owners and groups there are.
    pub id_count: u16,
    /// How many fragment blocks there are.
    pub fragment_count: u32,
}

/// Makes the tables of an image.
///
/// # Errors
///
/// Those of `sink`; [`TooMany`](crate::TooMany) for what the format does not allow.
///
/// # Panics
///
/// If `order` is not one of `tree`, or a node holds what the format cannot
/// ([`Inode::write`](coldpress_format::Inode::write)).
///
/// # Cost
///
/// O(n) time, with a plan a few passes over what it names. Memory is 20 bytes for each node and
/// what `sink` keeps; the block list of a file is freed when its inode is written.
pub fn assemble<S: TableSink>(
    tree: &Tree,
    order: &Order,
    mut data: DataArea,
    options: TableOptions,
    sink: &mut S,
) -> Result<Assembled, S::Error> {
    let ids = Ids::new(tree, order)?;
    let xattrs = Xattrs::new(tree, order);
    let contents = Contents::new(tree, order, &ids, &xattrs, &mut data.files);
    let (inodes, numbers) = contents.pack(options.metadata, data.end, sink)?;
    let fragment_entries = fragment_entries(&data.fragments);
    let fragments = lookup(Table::Fragments, &fragment_entries, inodes.end, &[], sink)?;
    let mut end = fragments.end;
    let mut export = None;
    if options.is_exportable {
        let entries = export_entries(&numbers, &inodes);
        let table = lookup(Table::Export, &entries, end, &[], sink)?;
        end = table.end;
        export = Some(table);
    }
    let id_table = lookup(Table::Ids, &ids.entries(), end, &[], sink)?;
    let xattrs = xattrs.pack(id_table.end, sink)?;
    Ok(Assembled {
        inode_table_start: inodes.inode_table_start,
        directory_table_start: inodes.directory_table_start,
        fragments,
        export,
        ids: id_table,
        end: xattrs.map_or(id_table.end, |(_, table)| table.end),
        xattrs,
        refs: inodes.refs,
        numbers,
        id_count: ids.count(),
        fragment_count: u32::try_from(data.fragments.len()).expect("fewer than inodes"),
    })
}

/// The entries of the fragment table.
fn fragment_entries(fragments: &[Fragment]) -> Vec<u8> {
    fragments
        .iter()
        .copied()
        .flat_map(Fragment::write)
        .collect()
}

/// For each inode number the inode's place.
fn export_entries(numbers: &Numbers, inodes: &InodeTables) -> Vec<u8> {
    let mut entries = vec![[0; 8]; numbers.of.len()];
    for (number, inode) in numbers.of.iter().zip(&inodes.refs) {
        entries[*number as usize - 1] = inode.word().to_le_bytes();
    }
    entries.into_flattened()
}
