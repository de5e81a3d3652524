//! Places in an image, and where symbolic links lead from them.

use coldpress_format::{Body, Entry, InodeKind, InodeRef};
use coldpress_image::{Error, Image};
use coldpress_report::text::base_name;

use coldpress_image::image_path::child;

/// The kernel follows as many links in one path (`MAXSYMLINKS`).
const LINKS_MAX: usize = 40;
/// Longer targets are not followed by Linux either (`PATH_MAX`).
const TARGET_MAX_BYTES: usize = 4095;

/// Something in an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its path, without symbolic links.
    pub(crate) path: Vec<u8>,
    pub(crate) at: InodeRef,
    pub(crate) kind: InodeKind,
}

impl Place {
    /// The root directory.
    pub(crate) fn root(image: &Image) -> Self {
        Self {
            path: b"/".to_vec(),
            at: image.superblock().root_inode,
            kind: InodeKind::Directory,
        }
    }

    /// An entry of this directory.
    pub(crate) fn entry(&self, entry: &Entry) -> Self {
        Self {
            path: child(&self.path, &entry.name),
            at: entry.inode,
            kind: entry.kind,
        }
    }

    /// The entries of this directory.
    ///
    /// # Errors
    ///
    /// If the image is damaged, also if this is none.
    pub(crate) fn entries(&self, image: &Image) -> Result<Vec<Entry>, Error> {
        match image.inode_head(self.at)?.body {
            Body::Directory(directory) => image.entries(&directory),
            _ => Ok(Vec::new()),
        }
    }

    /// The directory that this is in; `None` of the root directory.
    ///
    /// # Errors
    ///
    /// If the image is damaged.
    pub(crate) fn parent(&self, image: &Image) -> Result<Option<Self>, Error> {
        if self.path == b"/" {
            return Ok(None);
        }
        let len = self.path.len() - base_name(&self.path).len();
        let path = self.path.get(..len.saturating_sub(1).max(1));
        let path = path.unwrap_or_default().to_vec();
        let found = image.find(&path)?;
        Ok(found.map(|(at, inode)| Self {
            path,
            at,
            kind: inode.body.kind(),
        }))
    }
}

/// What a path led through.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    /// Symbolic links.
    pub(crate) links: Vec<Vec<u8>>,
    /// Directories that were left by `..`.
    pub(crate) directories: Vec<Vec<u8>>,
}

/// Where the symbolic link `link` in `directory` leads.
///
/// Links are followed as unsquashfs follows them: those that are absolute are not, because they
/// are meant for another root directory.
///
/// Returns `None` if it leads nowhere, out of the image or through more than 40 links.
///
/// # Errors
///
/// If the image is damaged.
pub(crate) fn follow(
    image: &Image,
    directory: &Place,
    link: &Place,
    trail: &mut Trail,
) -> Result<Option<Place>, Error> {
    let mut here = directory.clone();
    let mut names: Vec<Vec<u8>> = Vec::new();
    if !push_target(image, link, trail, &mut names)? {
        return Ok(None);
    }
    while let Some(name) = names.pop() {
        if here.kind != InodeKind::Directory {
            return Ok(None);
        }
        if name == b".." {
            let Some(parent) = here.parent(image)? else {
                return Ok(None);
            };
            trail.directories.push(here.path);
            here = parent;
            continue;
        }
        let entries = here.entries(image)?;
        let found = entries.binary_search_by(|entry| entry.name.as_slice().cmp(&name));
        let Some(entry) = found.ok().and_then(|index| entries.get(index)) else {
            return Ok(None);
        };
        let place = here.entry(entry);
        if entry.kind != InodeKind::Symlink {
            here = place;
        } else if !push_target(image, &place, trail, &mut names)? {
            return Ok(None);
        }
    }
    Ok(Some(here))
}

/// Puts the target of a link in front of the names that are left, the first one last; `false` if
/// it is not to be followed.
fn push_target(
    image: &Image,
    link: &Place,
    trail: &mut Trail,
    names: &mut Vec<Vec<u8>>,
) -> Result<bool, Error> {
    trail.links.push(link.path.clone());
    let Body::Symlink(target) = image.inode_head(link.at)?.body else {
        return Ok(false);
    };
    let is_wrong = target.starts_with(b"/") || target.len() > TARGET_MAX_BYTES;
    if is_wrong || trail.links.len() > LINKS_MAX {
        return Ok(false);
    }
    let components = target.split(|byte| *byte == b'/').rev();
    let components = components.filter(|name| !name.is_empty() && *name != b".");
    names.extend(components.map(<[u8]>::to_vec));
    Ok(true)
}
