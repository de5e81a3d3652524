//! Paths inside an image, with its symbolic links followed as the kernel would after a chroot.

use coldpress_format::{Body, Inode, InodeRef};

use crate::{Error, Image};

/// The kernel follows 40 links in one path (`MAXSYMLINKS`).
const LINKS_MAX: usize = 40;

/// Something found in an image.
#[derive(Debug)]
pub struct Found {
    /// Where it is, without symbolic links.
    pub path: Vec<u8>,
    /// Its inode in the inode table.
    pub at: InodeRef,
    /// The same, read.
    pub inode: Inode,
}

/// Finds what `path` leads to.
///
/// * `path`: absolute.
/// * `follow_last`: whether a symbolic link at the end is followed too.
///
/// Returns `None` if there is no such file, or after 40 links.
///
/// # Errors
///
/// If the image is damaged.
pub fn resolve(image: &Image, path: &[u8], follow_last: bool) -> Result<Option<Found>, Error> {
    let mut pending = components(path);
    let mut here = b"/".to_vec();
    let mut links = 0;
    while let Some(name) = pending.pop() {
        if name == b".." {
            parent(&mut here);
            continue;
        }
        let next = child(&here, &name);
        let Some((_, inode)) = image.find(&next)? else {
            return Ok(None);
        };
        match inode.body {
            Body::Symlink(target) if follow_last || !pending.is_empty() => {
                links += 1;
                if links > LINKS_MAX {
                    return Ok(None);
                }
                if target.starts_with(b"/") {
                    here = b"/".to_vec();
                }
                pending.extend(components(&target));
            }
            _ => here = next,
        }
    }
    let found = image.find(&here)?;
    Ok(found.map(|(at, inode)| Found {
        path: here,
        at,
        inode,
    }))
}

/// As [`resolve`] for a path whose content is listed: a link to a directory is followed, any other
/// link at the end is the file itself.
///
/// # Errors
///
/// If the image is damaged.
pub fn resolve_as_listed(image: &Image, path: &[u8]) -> Result<Option<Found>, Error> {
    match resolve(image, path, true)? {
        Some(found) if matches!(found.inode.body, Body::Directory(_)) => Ok(Some(found)),
        _ => resolve(image, path, false),
    }
}

/// The path of `name` in the directory `path`.
pub fn child(path: &[u8], name: &[u8]) -> Vec<u8> {
    let mut child = path.to_vec();
    if !child.ends_with(b"/") {
        child.push(b'/');
    }
    child.extend_from_slice(name);
    child
}

/// The components of a path, last first.
fn components(path: &[u8]) -> Vec<Vec<u8>> {
    let names = path.split(|byte| *byte == b'/').rev();
    names
        .filter(|name| !name.is_empty() && *name != b".")
        .map(<[u8]>::to_vec)
        .collect()
}

/// Goes one directory up; the root is its own parent.
fn parent(path: &mut Vec<u8>) {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    path.truncate(slash.unwrap_or(0).max(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_the_root_is_the_root() {
        for (path, expected) in [("/", "/"), ("/a", "/"), ("/a/b", "/a")] {
            let mut path = path.as_bytes().to_vec();
            parent(&mut path);
            assert_eq!(path, expected.as_bytes());
        }
    }
}
