//! All that an image says of a path.

use std::sync::Arc;

use coldpress_format::{Body, Directory};
use coldpress_image::image_path::Found;
use coldpress_image::{Image, MetadataPlace, Xattr};
use serde::Serialize;

use super::data::Data;
use crate::verbs::ls::row::Row;

/// What is known of a path, as `--json` prints it.
#[derive(Serialize)]
pub(super) struct Facts<'a> {
    /// As `ls --json`.
    #[serde(flatten)]
    pub(super) row: Row,
    /// `basic` or `extended`.
    pub(super) form: &'static str,
    /// The inode reference, as the format has it: the metadata block's start from the inode table's,
    /// shifted by 16, and the byte in it.
    pub(super) inode_reference: u64,
    pub(super) inode_place: Place,
    pub(super) xattr_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Data<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) listing: Option<Listing>,
    /// Names and values; in `row` for JSON.
    #[serde(skip)]
    pub(super) xattrs: Arc<Vec<Xattr>>,
}

/// Where metadata lies.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Place {
    /// Image byte of the metadata block in which it begins.
    pub(super) block_start: u64,
    /// Byte of that block, after decompression.
    pub(super) offset: u16,
    /// Image bytes to be read for it.
    pub(super) start: u64,
    pub(super) size_bytes: u64,
    pub(super) is_compressed: bool,
}

/// The listing of a directory.
#[derive(Debug, Serialize)]
pub(super) struct Listing {
    pub(super) entries: u64,
    pub(super) len_bytes: u32,
    /// Inode number of the parent directory.
    pub(super) parent: u32,
    /// `None` if it is empty.
    pub(super) place: Option<Place>,
    /// Entries of the directory index.
    pub(super) index_entries: u64,
}

impl<'a> Facts<'a> {
    /// * `lists_blocks`: whether each data block is listed.
    ///
    /// # Errors
    ///
    /// If the image is damaged where something is looked up.
    pub(super) fn of(
        image: &'a Image,
        found: &'a Found,
        lists_blocks: bool,
    ) -> Result<Self, coldpress_image::Error> {
        let is_extended = image.is_extended(found.at)?;
        let (mut data, mut listing) = (None, None);
        match &found.inode.body {
            Body::File(file) => data = Some(Data::of(image, file, lists_blocks)),
            Body::Directory(directory) => listing = Some(Listing::of(image, directory)?),
            _ => {}
        }
        Ok(Self {
            row: Row::new(image, found, true)?,
            form: if is_extended { "extended" } else { "basic" },
            inode_reference: found.at.word(),
            inode_place: Place::of(image.inode_place(found.at)?),
            xattr_index: found.inode.xattr,
            data,
            listing,
            xattrs: image.xattrs(&found.inode)?,
        })
    }
}

impl Place {
    fn of(place: MetadataPlace) -> Self {
        let MetadataPlace {
            block_start,
            offset,
            image_bytes,
            is_compressed,
        } = place;
        Self {
            block_start,
            offset,
            start: image_bytes.start,
            size_bytes: image_bytes.end.saturating_sub(image_bytes.start),
            is_compressed,
        }
    }
}

impl Listing {
    fn of(image: &Image, directory: &Directory) -> Result<Self, coldpress_image::Error> {
        Ok(Self {
            entries: image.entries(directory)?.len() as u64,
            len_bytes: directory.listing_bytes,
            parent: directory.parent,
            place: image.listing_place(directory)?.map(Place::of),
            index_entries: directory.index.len() as u64,
        })
    }
}
