//! A layer that is a SquashFS image: stacker's, and those of OCI-SIF files.
//!
//! They are made to be mounted below an overlay of Linux, so they say as it does what they hide
//! (`Documentation/filesystems/overlayfs.rst`): a character device 0:0 hides a name, the xattr
//! `overlay.opaque` of a directory all that lower layers have in it.

use std::io::Read as _;
use std::ops::ControlFlow;
use std::sync::Arc;

use coldpress_format::{Body, DeviceNumber, Inode};
use coldpress_image::Image;
use coldpress_layout::Node;

use super::opened::Hashed;
use super::{Layer, demand};
use crate::draft::Draft;
use crate::error::{self, Error};
use crate::gather::SourceOptions;
use crate::image_input::{self, Role};
use crate::shared_xattrs::XattrSet;
use crate::source::SourceImage;
use crate::tar::pump::CHUNK_BYTES;

/// Xattrs of an overlay: those of root, and those of users who have no `trusted.*`.
const PREFIXES: [&[u8]; 2] = [b"trusted.overlay.", b"user.overlay."];

/// What the xattrs of an overlay say of an inode.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// That nothing of lower layers is seen in a directory.
    pub(crate) is_opaque: bool,
    /// The xattr by which its content is elsewhere.
    pub(crate) elsewhere: Option<Vec<u8>>,
}

impl Marks {
    /// Takes them out of a set: they are not those of the merged tree.
    pub(crate) fn take(set: &mut XattrSet) -> Self {
        let mut marks = Self::default();
        set.retain(|(name, value)| {
            let word = PREFIXES
                .iter()
                .find_map(|prefix| name.strip_prefix(*prefix));
            match word {
                None => return true,
                Some(b"opaque") => marks.is_opaque |= value == b"y",
                Some(b"redirect" | b"metacopy") => marks.elsewhere = Some(name.clone()),
                // Bookkeeping of the layer's own mount: `origin`, `impure`, `nlink`, `uuid`.
                Some(_) => {}
            }
            false
        });
        marks
    }
}

/// Whether an inode hides its name in lower layers.
pub(crate) fn is_whiteout(inode: &Inode) -> bool {
    let none = DeviceNumber { major: 0, minor: 0 };
    matches!(&inode.body, Body::CharDevice(number) if *number == none)
}

/// Adds what an image holds on top of lower layers; returns its root directory.
pub(super) fn read(
    draft: &mut Draft,
    layer: &Layer,
    options: &SourceOptions,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Node, Error> {
    // Blocks are read where they are when they are needed, so all is compared once before.
    let mut stream = Hashed::new(layer);
    let mut chunk = vec![0; CHUNK_BYTES];
    while stream
        .read(&mut chunk)
        .map_err(error::source("read", &layer.name))?
        > 0
    {
        if progress(draft.nodes.len() as u64).is_break() {
            return Err(Error::Interrupted);
        }
    }
    demand(layer, stream.defect(layer))?;
    let path = layer.name.clone();
    let image = match Image::new(Box::new(Arc::clone(&layer.bytes))) {
        Ok(image) => SourceImage {
            image,
            path,
            is_copied: false,
        },
        Err(error) => return Err(Error::SourceImage { path, error }),
    };
    image_input::read(draft, image, Role::Layer, options, progress)
}
