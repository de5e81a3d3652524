//! The geometry of an image that exists, as predictions need it.

mod executable;

use std::collections::HashMap;
use std::ops::ControlFlow;

use coldpress_cost::{
    DirectoryPlace, Extent, FilePlace, Geometry, ListedName, MetadataRange, Name, Place, PlaceKind,
    searches,
};
use coldpress_format::{BlockWord, Body, Directory, File, Inode, InodeRef, METADATA_BLOCK_SIZE};
use coldpress_image::{
    DumpArea, DumpOptions, Error, Image, PathBudget, ReadAt, Stored, Visited, dump, walk,
};

pub use executable::{executable_pages, note_executables};

/// Bytes of a file's inode before its block list, in its basic and its extended form.
const FILE_BYTES: u32 = 32;
const EXTENDED_FILE_BYTES: u32 = 56;
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
    // What a fragment block holds is known of its tail ends only; that of a full one is near enough.
    let fragments = image.fragments().iter();
    let fragments =
        fragments.map(|block| extent(block.start, block.size, superblock.block_size.bytes()));
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
    })
}

fn extent(start_byte: u64, word: BlockWord, len_bytes: u32) -> Extent {
    Extent {
        start_byte,
        stored_bytes: word.size_bytes(),
        len_bytes,
        is_stored: !word.is_sparse() && !word.is_compressed(),
    }
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
        len_bytes: u32,
    ) -> MetadataRange {
        let first = self.block_at(area, block_start);
        let last_byte = u32::from(offset).saturating_add(len_bytes.max(1) - 1);
        MetadataRange {
            first,
            last: further(first, last_byte).0,
        }
    }
}

/// The block that holds a byte counted from the beginning of another, and the byte in it.
fn further(block: usize, byte: u32) -> (usize, u32) {
    let size = u32::try_from(METADATA_BLOCK_SIZE).unwrap_or(u32::MAX);
    (block.saturating_add((byte / size) as usize), byte % size)
}

/// What a walk of the image found.
struct Surveyor<'a> {
    image: &'a Image,
    tables: &'a Tables,
    places: Vec<Place>,
    place_of: HashMap<InodeRef, usize>,
    names: HashMap<Vec<u8>, Name>,
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
                .insert(visited.path.to_vec(), Name { place, search });
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
        let listed = entries.iter().map(|entry| ListedName {
            name_bytes: entry.name.len(),
            inode_block: entry.inode.block_start.into(),
            number: entry.number,
        });
        let is_indexed = !directory.index.is_empty();
        let (found, _) = searches((begun, directory.offset.into()), is_indexed, listed);
        let parent = if path == b"/" { b"" } else { path };
        for (entry, search) in entries.iter().zip(found) {
            let name = [parent, b"/", &entry.name].concat();
            self.paths.take(&name, 0)?;
            let search = Some(search);
            // Which inode it names is known when the walk comes to it.
            self.names.insert(
                name,
                Name {
                    place: usize::MAX,
                    search,
                },
            );
        }
        Ok(())
    }

    fn place(&self, visited: &Visited) -> Result<Place, Error> {
        let Visited { at, inode, .. } = *visited;
        let fixed_bytes = fixed_bytes(inode);
        let kind = match &inode.body {
            Body::File(_) => {
                let file = visited.file(self.image)?.unwrap_or_default();
                let block = self.tables.block_at(DumpArea::InodeTable, at.block_start);
                let list = further(block, u32::from(at.offset).saturating_add(fixed_bytes));
                PlaceKind::File(self.file(&file, list))
            }
            Body::Directory(directory) => {
                let at = (directory.block_start, directory.offset);
                let len_bytes = directory.listing_bytes;
                let listing = (len_bytes > 0)
                    .then(|| self.tables.range(DumpArea::DirectoryTable, at, len_bytes));
                PlaceKind::Directory(DirectoryPlace {
                    listing,
                    is_indexed: !directory.index.is_empty(),
                })
            }
            Body::Symlink(_) => PlaceKind::Symlink,
            _ => PlaceKind::Other,
        };
        let at = (at.block_start, at.offset);
        Ok(Place {
            inode: self.tables.range(DumpArea::InodeTable, at, fixed_bytes),
            kind,
        })
    }

    fn file(&self, file: &File, list: (usize, u32)) -> FilePlace {
        let block_bytes = u64::from(self.image.superblock().block_size.bytes());
        let mut start = file.start;
        let mut rest = file.size_bytes;
        let blocks = file.blocks.iter().map(|word| {
            let len_bytes = u32::try_from(rest.min(block_bytes)).unwrap_or(u32::MAX);
            rest -= u64::from(len_bytes);
            let block = extent(start, *word, len_bytes);
            start = block.end();
            block
        });
        FilePlace {
            blocks: blocks.collect(),
            size_bytes: file.size_bytes,
            fragment: file.tail.map(|tail| tail.fragment),
            list,
            executable: Vec::new(),
        }
    }
}

/// Bytes of an inode that are read to know it; of links and directories not what follows.
fn fixed_bytes(inode: &Inode) -> u32 {
    let Body::File(file) = &inode.body else {
        return FILE_BYTES;
    };
    let is_small = u32::try_from(file.start)
        .and(u32::try_from(file.size_bytes))
        .is_ok();
    let is_plain = inode.xattr.is_none() && inode.link_count == 1 && file.sparse_bytes == 0;
    if is_small && is_plain {
        FILE_BYTES
    } else {
        EXTENDED_FILE_BYTES
    }
}

#[cfg(test)]
mod tests;
