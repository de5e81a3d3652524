//! Tar archives of OCI layouts, and of what `docker save` writes: nothing is unpacked.

use std::collections::HashMap;

use coldpress_writer::{TarMember, TarMemberKind, TarMembers};

use crate::blobs::{Blob, Blobs, whole};
use crate::document::{Descriptor, Index, parse};
use crate::error::Error;

/// Links that are followed to a file of an archive: Docker makes one, of a layer that two images
/// share.
const LINKS_MAX: usize = 8;

/// An archive whose files are found by their paths.
#[derive(Debug)]
pub(crate) struct Archive {
    members: TarMembers,
    /// The last of each path counts.
    paths: HashMap<Vec<u8>, TarMemberKind>,
    name: String,
}

impl Archive {
    /// * `name`: of the image, for messages.
    pub(crate) fn new(members: TarMembers, name: String) -> Self {
        let path = |member: &TarMember| (member.path.clone(), member.kind.clone());
        let paths = members.members().iter().map(path).collect();
        Self {
            members,
            paths,
            name,
        }
    }

    /// The list of its images, if there is one.
    pub(crate) fn index(&self) -> Result<Option<Index>, Error> {
        let Some(bytes) = self.document("index.json")? else {
            return Ok(None);
        };
        parse(&self.name, "`index.json`", &bytes).map(Some)
    }

    /// The bytes of a document, if there is one.
    pub(crate) fn document(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(blob) = self.find(path.as_bytes()) else {
            return Ok(None);
        };
        whole(&self.name, &format!("`{path}`"), &*blob.bytes).map(Some)
    }

    /// The bytes of a file.
    pub(crate) fn find(&self, path: &[u8]) -> Option<Blob> {
        let mut path = path.to_vec();
        for _ in 0..=LINKS_MAX {
            path = match self.paths.get(&path)? {
                TarMemberKind::File { start, size_bytes } => {
                    return Some(Blob {
                        bytes: self.members.bytes(*start, *size_bytes),
                        file: self.members.file.clone(),
                        index: None,
                    });
                }
                TarMemberKind::HardLink(target) => target.clone(),
                TarMemberKind::Symlink(target) => followed(&path, target),
            };
        }
        None
    }
}

/// The path that a symbolic link means.
fn followed(link: &[u8], target: &[u8]) -> Vec<u8> {
    let names = |path: &[u8]| -> Vec<Vec<u8>> {
        let names = path.split(|byte| *byte == b'/');
        let names = names.filter(|name| !name.is_empty() && *name != b".");
        names.map(<[u8]>::to_vec).collect()
    };
    let mut path = if target.starts_with(b"/") {
        Vec::new()
    } else {
        names(link)
    };
    path.pop();
    for name in names(target) {
        if name == b".." {
            path.pop();
        } else {
            path.push(name);
        }
    }
    path.join(&b'/')
}

impl Blobs for Archive {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self, descriptor: &Descriptor) -> Result<Blob, Error> {
        let digest = descriptor.digest;
        let path = format!("blobs/{}/{}", digest.algorithm(), digest.hex());
        self.find(path.as_bytes()).ok_or_else(|| Error::Missing {
            image: self.name.clone(),
            what: format!("blob {digest}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::followed;

    #[test]
    fn links_lead_to_paths_of_the_archive() {
        for (link, target, path) in [
            ("a/layer.tar", "../b/layer.tar", "b/layer.tar"),
            ("a/layer.tar", "/b/layer.tar", "b/layer.tar"),
            ("layer.tar", "../../b", "b"),
            ("a/b/c", "./d", "a/b/d"),
        ] {
            assert_eq!(
                followed(link.as_bytes(), target.as_bytes()),
                path.as_bytes()
            );
        }
    }
}
