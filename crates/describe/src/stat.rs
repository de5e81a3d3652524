//! All that an image says of a path.

mod data;
mod lines;

use std::io::{self, Write};
use std::sync::Arc;

use coldpress_format::{Body, Directory};
use coldpress_image::image_path::Found;
use coldpress_image::{Image, MetadataPlace, Xattr};
use serde::Serialize;

use crate::file::FileFacts;
use data::Data;

/// What is known of a path, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Stat<'a> {
    /// As `ls --json`.
    #[serde(flatten)]
    pub(crate) file: FileFacts,
    /// `basic` or `extended`.
    pub(crate) form: &'static str,
    /// The inode reference, as the format has it: the metadata block's start from the inode
    /// table's, shifted by 16, and the byte in it.
    pub(crate) inode_reference: u64,
    pub(crate) inode_place: Place,
    pub(crate) xattr_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Data<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) listing: Option<Listing>,
    /// Names and values; in `file` for JSON.
    #[serde(skip)]
    pub(crate) xattrs: Arc<Vec<Xattr>>,
}

/// Where metadata lies.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Place {
    /// Image byte of the metadata block in which it begins.
    pub(crate) block_start: u64,
    /// Byte of that block, after decompression.
    pub(crate) offset: u16,
    /// Image bytes to be read for it.
    pub(crate) start: u64,
    pub(crate) size_bytes: u64,
    pub(crate) is_compressed: bool,
}

/// The listing of a directory.
#[derive(Debug, Serialize)]
pub(crate) struct Listing {
    pub(crate) entries: u64,
    pub(crate) len_bytes: u32,
    /// Inode number of the parent directory.
    pub(crate) parent: u32,
    /// `None` if it is empty.
    pub(crate) place: Option<Place>,
    /// Entries of the directory index.
    pub(crate) index_entries: u64,
}

impl<'a> Stat<'a> {
    /// * `lists_blocks`: whether each data block is listed.
    ///
    /// # Errors
    ///
    /// If the image is damaged where something is looked up.
    pub fn of(
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
            file: FileFacts::new(image, found, true)?,
            form: if is_extended { "extended" } else { "basic" },
            inode_reference: found.at.word(),
            inode_place: Place::of(image.inode_place(found.at)?),
            xattr_index: found.inode.xattr,
            data,
            listing,
            xattrs: image.xattrs(&found.inode)?,
        })
    }

    /// Writes it as lines for people.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        lines::write(out, self)
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
