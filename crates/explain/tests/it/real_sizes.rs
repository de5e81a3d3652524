//! The sizes of the blocks of an image that is built, as predictions ask for them.

use std::collections::HashMap;

use coldpress_assemble::Table;
use coldpress_cost::BlockSizes;
use coldpress_format::{File, MetadataHeader, XattrTable};
use coldpress_image::{Image, walk};
use coldpress_layout::NodeId;
use coldpress_writer::Source;

/// What every block takes.
pub(crate) struct RealSizes<'a> {
    source: &'a Source,
    image: &'a Image,
    /// For each regular file its inode's data.
    files: HashMap<NodeId, File>,
    /// For each table what its metadata blocks take, without headers.
    tables: HashMap<Table, Vec<MetadataHeader>>,
}

impl<'a> RealSizes<'a> {
    pub(crate) fn new(source: &'a Source, image: &'a Image, bytes: &[u8]) -> Self {
        let mut by_path = HashMap::new();
        walk(image, &mut |visited| {
            if let Some(file) = visited.file(image)? {
                by_path.insert(visited.path.to_vec(), file);
            }
            Ok(())
        })
        .unwrap();
        let nodes = (0..).map(NodeId).zip(source.tree.paths());
        let files = nodes
            .filter_map(|(node, path)| Some((node, by_path.remove(&path)?)))
            .collect();
        Self {
            source,
            image,
            files,
            tables: tables(image, bytes),
        }
    }
}

impl BlockSizes for RealSizes<'_> {
    fn stored_bytes(&self, file: NodeId, block: u64, len_bytes: u32) -> u32 {
        let word = self.files[&file].blocks[usize::try_from(block).unwrap()];
        if word.is_compressed() {
            word.size_bytes()
        } else {
            assert_eq!(word.size_bytes(), len_bytes, "block {block} of {file:?}");
            len_bytes
        }
    }

    fn fragment_bytes(&self, members: &[NodeId], len_bytes: u32) -> u32 {
        let tail = self.files[&members[0]].tail.unwrap();
        let size = self.image.fragments()[tail.fragment as usize].size;
        if size.is_compressed() {
            size.size_bytes()
        } else {
            assert_eq!(size.size_bytes(), len_bytes, "of {members:?}");
            len_bytes
        }
    }

    fn metadata_bytes(&self, table: Table, block: usize, len_bytes: u32) -> u32 {
        let header = self.tables[&table][block];
        if header.compressed {
            header.size_bytes.into()
        } else {
            assert_eq!(u32::from(header.size_bytes), len_bytes, "{table:?} {block}");
            len_bytes
        }
    }

    fn is_sparse(&self, file: NodeId) -> bool {
        self.source.is_sparse(file)
    }
}

/// The headers of all metadata blocks, found by the superblock and the indexes alone.
fn tables(image: &Image, bytes: &[u8]) -> HashMap<Table, Vec<MetadataHeader>> {
    let superblock = image.superblock();
    let word = |at: u64| {
        let at = usize::try_from(at).unwrap();
        u64::from_le_bytes(*bytes[at..].first_chunk().unwrap())
    };
    // Of a table without entries no block begins anywhere.
    let fragments_index = superblock.fragment_table_start.unwrap();
    let fragments_start = if superblock.fragment_count > 0 {
        word(fragments_index)
    } else {
        fragments_index
    };
    let ids_index = superblock.id_table_start;
    let mut ranges = vec![
        (
            Table::Inodes,
            superblock.inode_table_start..superblock.directory_table_start,
        ),
        (
            Table::Directories,
            superblock.directory_table_start..fragments_start,
        ),
        (Table::Fragments, fragments_start..fragments_index),
        (Table::Ids, word(ids_index)..ids_index),
    ];
    if let Some(index) = superblock.export_table_start {
        ranges.push((Table::Export, word(index)..index));
    }
    if let Some(header) = superblock.xattr_table_start {
        let pairs_start = word(header);
        let ids_start = word(header + XattrTable::SIZE as u64);
        ranges.push((Table::XattrPairs, pairs_start..ids_start));
        ranges.push((Table::XattrIds, ids_start..header));
    }
    let headers = |range: std::ops::Range<u64>| {
        let mut headers = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let start = usize::try_from(at).unwrap();
            let header = *bytes[start..].first_chunk().unwrap();
            let header = MetadataHeader::parse(header, at).unwrap();
            at += MetadataHeader::SIZE + u64::from(header.size_bytes);
            headers.push(header);
        }
        assert_eq!(at, range.end);
        headers
    };
    let tables = ranges.into_iter();
    tables
        .map(|(table, range)| (table, headers(range)))
        .collect()
}
