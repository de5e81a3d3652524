//! From image bytes back to the inodes and listings that lie there.

use std::collections::HashMap;
use std::ops::Range;

use coldpress_format::Body;

use crate::error::Error;
use crate::image::Image;
use crate::path_budget::PathBudget;
use crate::region::Region;
use crate::walk::walk;

/// What lies in a range of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MetadataKind {
    /// The inode of the path.
    Inode,
    /// The listing of the directory of that path.
    Listing,
}

/// Where the inode and the listing of each path lie.
///
/// A metadata block that is stored as it is says exactly which bytes belong to an inode; of a
/// compressed one all that it holds is read together.
#[derive(Debug)]
pub struct MetadataMap {
    paths: Vec<Box<[u8]>>,
    /// Sorted by start.
    pieces: Vec<Piece>,
    by_number: HashMap<u32, usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    start: u64,
    end: u64,
    /// The greatest end of this piece and those before it.
    end_max: u64,
    kind: MetadataKind,
    path: usize,
}

impl MetadataMap {
    /// Walks the image and notes where everything lies.
    ///
    /// # Errors
    ///
    /// As [`walk`]; [`Error::Corrupt`] if the paths take over 1 GiB.
    ///
    /// # Cost
    ///
    /// Reads all metadata; holds one path for each inode.
    pub fn new(image: &Image) -> Result<Self, Error> {
        let mut map = Self {
            paths: Vec::new(),
            pieces: Vec::new(),
            by_number: HashMap::new(),
        };
        let mut paths = PathBudget::default();
        walk(image, &mut |visited| {
            let number = visited.inode.number;
            if map.by_number.contains_key(&number) {
                return Ok(());
            }
            paths.take(visited.path, image.inode_start(visited.at))?;
            map.by_number.insert(number, map.paths.len());
            let (_, extent) = image.inode_with_extent(visited.at)?;
            map.push(MetadataKind::Inode, extent);
            if let Body::Directory(directory) = &visited.inode.body
                && directory.listing_bytes > 0
            {
                map.push(MetadataKind::Listing, image.listing(directory)?.extent);
            }
            map.paths.push(visited.path.into());
            Ok(())
        })?;
        map.pieces.sort_unstable();
        let mut end_max = 0;
        for piece in &mut map.pieces {
            end_max = end_max.max(piece.end);
            piece.end_max = end_max;
        }
        Ok(map)
    }

    fn push(&mut self, kind: MetadataKind, extent: Region) {
        self.pieces.push(Piece {
            start: extent.start,
            end: extent.end,
            end_max: 0,
            kind,
            path: self.paths.len(),
        });
    }

    /// The inodes and listings that begin or continue in a range of image bytes, by position.
    ///
    /// An inode of several paths is told by the first.
    ///
    /// * `start_byte`: first image byte of the range.
    /// * `len_bytes`: its length.
    pub fn at(
        &self,
        start_byte: u64,
        len_bytes: u64,
    ) -> impl Iterator<Item = (MetadataKind, &[u8])> {
        let end_byte = start_byte.saturating_add(len_bytes);
        let first = self
            .pieces
            .partition_point(|piece| piece.end_max <= start_byte);
        self.pieces
            .iter()
            .skip(first)
            .take_while(move |piece| piece.start < end_byte)
            .filter(move |piece| piece.end > start_byte)
            .filter_map(|piece| Some((piece.kind, &**self.paths.get(piece.path)?)))
    }

    /// The image bytes from the first listing to the end of the last one.
    pub fn listings(&self) -> Range<u64> {
        let is_listing = |piece: &&Piece| piece.kind == MetadataKind::Listing;
        let listings = || self.pieces.iter().filter(is_listing);
        let start = listings().map(|piece| piece.start).min().unwrap_or(0);
        let end = listings().map(|piece| piece.end).max().unwrap_or(0);
        start..end
    }

    /// The first path of the inode with this number.
    pub fn path_of_inode(&self, number: u32) -> Option<&[u8]> {
        let index = *self.by_number.get(&number)?;
        self.paths.get(index).map(|path| &**path)
    }
}
