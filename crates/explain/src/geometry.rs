//! The geometry of an image that exists, as predictions need it.

mod executable;

use std::collections::HashMap;
use std::ops::ControlFlow;

use coldpress_cost::{
    DirectoryGeometry, Extent, FileGeometry, Geometry, InodeGeometry, InodeGeometryKind, Lookup,
    MetadataRange, searches,
};
use coldpress_format::{Body, Directory, Entry, InodeRef, METADATA_BLOCK_SIZE};
use coldpress_image::{
    DumpArea, DumpOptions, Error, Image, PathBudget, ReadAt, Stored, Visited, dump, walk,
};

pub use executable::{executable_pages, note_executables};

/// The parts of the metadata that a start reads.
const AREAS: [DumpArea; 4] = [
    DumpArea::InodeTable,
    DumpArea::DirectoryTable,
    DumpArea::FragmentTable,
    DumpArea::IdTable,
];

/// Reads all metadata and notes where everything lies, and which metadata is needed to find it.
///
/// * `bytes`: those that `image` was opened from.
/// * `poll`: asked from time to time; `Break` ends it.
///
/// # Errors
///
/// As [`walk`] and [`dump`]; [`Error::Corrupt`] if the paths take over 1 GiB.
///
/// # Cost
///
/// Reads all metadata, not the data; holds each path, and 24 bytes for each block.
pub fn geometry(
    image: &Image,
    bytes: Box<dyn ReadAt>,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Geometry, Error> {
    let mut tables = Tables::default();
    tables.read(bytes, poll)?;
    let mut surveyor = Surveyor {
        image,
        tables: &tables,
        places: Vec::new(),
        place_of: HashMap::new(),
        names: HashMap::new(),
        paths: PathBudget::default(),
    };
    walk(image, &mut |visited| surveyor.visit(visited))?;
    let Surveyor { places, names, .. } = surveyor;
    let superblock = image.superblock();
    // What a fragment block holds is known of its tail ends only; that of a full one is near
    // enough.
    let fragments = image.fragments().iter();
    let fragments =
        fragments.map(|block| Extent::new(block.start, block.size, superblock.block_size.bytes()));
    Ok(Geometry {
        compressor: superblock.compressor,
        block_size: superblock.block_size,
        image_bytes: superblock.bytes_used,
        places,
        names,
        fragments: fragments.collect(),
        fragment_table: tables.first_of(DumpArea::FragmentTable),
        id_table: tables.first_of(DumpArea::IdTable).unwrap_or(usize::MAX),
        metadata: tables.blocks,
        hash_tree: None,
    })
}

/// The metadata blocks.
#[derive(Default)]
struct Tables {
    /// By position.
    blocks: Vec<Extent>,
    /// The part of each.
    areas: Vec<DumpArea>,
}

impl Tables {
    fn read(
        &mut self,
        bytes: Box<dyn ReadAt>,
        poll: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let options = DumpOptions {
            areas: AREAS.to_vec(),
            paths: Vec::new(),
        };
        let mut visit = |range: coldpress_image::DumpRange| {
            // An index of a table is read when the image is mounted.
            if let (true, Some((stored, len_bytes))) = (range.header_bytes > 0, range.content) {
                self.blocks.push(Extent {
                    start_byte: range.start,
                    stored_bytes: u32::try_from(range.len_bytes).unwrap_or(u32::MAX),
                    len_bytes: u32::try_from(len_bytes).unwrap_or(u32::MAX),
                    is_stored: stored == Stored::Stored,
                });
                self.areas.push(range.area);
            }
            ControlFlow::Continue(())
        };
        dump(bytes, &options, &mut visit, poll).map(drop)
    }

    fn first_of(&self, area: DumpArea) -> Option<usize> {
        self.areas.iter().position(|found| *found == area)
    }

    /// The block that begins at a byte of a table; the next one if none does.
    fn block_at(&self, area: DumpArea, block_start: u32) -> usize {
        let table = self.first_of(area).unwrap_or(self.blocks.len());
        let start = self.blocks.get(table).map_or(0, |block| block.start_byte);
        let wanted = start.saturating_add(block_start.into());
        self.blocks
            .partition_point(|block| block.start_byte < wanted)
    }

    /// The blocks of so many bytes from a place on.
    fn range(
        &self,
        area: DumpArea,
        (block_start, offset): (u32, u16),
        len_bytes: u64,
    ) -> MetadataRange {
        let first = self.block_at(area, block_start);
        let last_byte = u64::from(offset).saturating_add(len_bytes.max(1) - 1);
        MetadataRange {
            first,
            last: self.further(first, last_byte).0,
        }
    }

    /// The block that holds a byte counted from the beginning of another, and the byte in it.
    fn further(&self, block: usize, byte: u64) -> (usize, u32) {
        let size = self.block_bytes(block);
        let (further, within) = (byte / size, byte % size);
        let further = usize::try_from(further).unwrap_or(usize::MAX);
        let within = u32::try_from(within).unwrap_or(u32::MAX);
        (block.saturating_add(further), within)
    }

    /// What a block and those behind it hold, but for the last of a table: less than usual in an
    /// image for recording.
    fn block_bytes(&self, block: usize) -> u64 {
        let next = self.blocks.get(block.saturating_add(1));
        let is_last = next.is_none() || self.areas.get(block) != self.areas.get(block + 1);
        let len_bytes = self.blocks.get(block).map_or(0, |block| block.len_bytes);
        if is_last || len_bytes == 0 {
            METADATA_BLOCK_SIZE as u64
        } else {
            len_bytes.into()
        }
    }
}

/// What a walk of the image found.
struct Surveyor<'a> {
    image: &'a Image,
    tables: &'a Tables,
    places: Vec<InodeGeometry>,
    place_of: HashMap<InodeRef, usize>,
    names: HashMap<Vec<u8>, Lookup>,
    paths: PathBudget,
}

impl Surveyor<'_> {
    fn visit(&mut self, visited: &Visited<'_>) -> Result<(), Error> {
        let place = if let Some(place) = self.place_of.get(&visited.at) {
            *place
        } else {
            let place = self.places.len();
            self.places.push(self.place(visited)?);
            self.place_of.insert(visited.at, place);
            place
        };
        if let Some(name) = self.names.get_mut(visited.path) {
            name.place = place;
        } else {
            // The root: other names were met in their directories.
            let search = None;
            self.names
                .insert(visited.path.to_vec(), Lookup { place, search });
        }
        match &visited.inode.body {
            Body::Directory(directory) => self.note_names(visited.path, directory),
            _ => Ok(()),
        }
    }

    /// Notes what is read to find each name of a directory.
    fn note_names(&mut self, path: &[u8], directory: &Directory) -> Result<(), Error> {
        let entries = self.image.entries(directory)?;
        let begun = self
            .tables
            .block_at(DumpArea::DirectoryTable, directory.block_start);
        let is_indexed = !directory.index.is_empty();
        let found = searches(
            (begun, directory.offset.into()),
            self.tables.block_bytes(begun),
            is_indexed,
            entries.iter().map(Entry::borrow),
        );
        let parent = if path == b"/" { b"" } else { path };
        for (entry, search) in entries.iter().zip(found) {
            let name = [parent, b"/", &entry.name].concat();
            self.paths.take(&name, 0)?;
            let search = Some(search);
            // Which inode it names is known when the walk comes to it.
            self.names.insert(
                name,
                Lookup {
                    place: usize::MAX,
                    search,
                },
            );
        }
        Ok(())
    }

    fn place(&self, visited: &Visited) -> Result<InodeGeometry, Error> {
        let Visited { at, inode, .. } = *visited;
        let fixed_bytes = inode.fixed_bytes();
        let kind = match &inode.body {
            Body::File(_) => {
                let file = visited.file(self.image)?.unwrap_or_default();
                let block = self.tables.block_at(DumpArea::InodeTable, at.block_start);
                let list_start = u64::from(at.offset).saturating_add(fixed_bytes);
                let list = self.tables.further(block, list_start);
                let block_size = self.image.superblock().block_size;
                InodeGeometryKind::File(FileGeometry::new(&file, block_size, list))
            }
            Body::Directory(directory) => {
                let at = (directory.block_start, directory.offset);
                let len_bytes = directory.listing_bytes.into();
                let listing = (len_bytes > 0)
                    .then(|| self.tables.range(DumpArea::DirectoryTable, at, len_bytes));
                InodeGeometryKind::Directory(DirectoryGeometry {
                    listing,
                    is_indexed: !directory.index.is_empty(),
                })
            }
            Body::Symlink(_) => InodeGeometryKind::Symlink,
            _ => InodeGeometryKind::Other,
        };
        let at = (at.block_start, at.offset);
        Ok(InodeGeometry {
            inode: self.tables.range(DumpArea::InodeTable, at, fixed_bytes),
            kind,
        })
    }
}

#[cfg(test)]
mod tests;
