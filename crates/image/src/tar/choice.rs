//! Which paths an archive holds, and by what names.

use coldpress_format::{Body, InodeRef};

use super::TarOptions;
use crate::error::Error;
use crate::image::Image;

/// Which paths, and their names.
pub(super) struct Choice {
    /// Absolute paths without slashes too many; everything if there are none.
    paths: Vec<Vec<u8>>,
    /// The directory that is the root of the archive.
    base: Vec<u8>,
    /// Where it lies.
    pub(super) base_at: InodeRef,
    /// The name of the root, without a slash at its end.
    root_name: Option<Vec<u8>>,
}

/// How a path relates to the chosen ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is one of them, below one, or leads to one.
    Taken,
    /// None of that.
    Outside,
}

impl Choice {
    pub(super) fn new(image: &Image, options: &TarOptions) -> Result<Self, Error> {
        let root_name = options.root_becomes.as_deref().map(|name| {
            let end = name.iter().rposition(|byte| *byte != b'/');
            name.get(..=end.unwrap_or(0)).unwrap_or_default().to_vec()
        });
        let mut choice = Self {
            paths: Vec::new(),
            base: Vec::new(),
            base_at: image.superblock().root_inode,
            root_name,
        };
        for path in &options.paths {
            let Some((at, inode)) = image.find(path)? else {
                let path = path.clone();
                return Err(Error::NotFound { path });
            };
            let path = normalized(path);
            let is_only = options.paths.len() == 1;
            if is_only && !options.keep_as_directory && matches!(inode.body, Body::Directory(_)) {
                (choice.base, choice.base_at) = (path, at);
                return Ok(choice);
            }
            choice.paths.push(path);
        }
        Ok(choice)
    }

    /// The path of the directory that is the root of the archive.
    pub(super) fn base(&self) -> &[u8] {
        if self.base.is_empty() {
            b"/"
        } else {
            &self.base
        }
    }

    pub(super) fn place(&self, path: &[u8]) -> Place {
        let is_taken = self.paths.is_empty()
            || self
                .paths
                .iter()
                .any(|chosen| is_within(path, chosen) || is_within(chosen, path));
        if is_taken {
            Place::Taken
        } else {
            Place::Outside
        }
    }

    /// The name in the archive of what has an absolute path in the image.
    pub(super) fn name(&self, path: &[u8], is_directory: bool) -> Vec<u8> {
        let below = path.strip_prefix(self.base.as_slice()).unwrap_or(path);
        let below = below.strip_prefix(b"/").unwrap_or(below);
        let mut name = self.root_name.clone().unwrap_or_default();
        if below.is_empty() && name.is_empty() {
            name.push(b'.');
        }
        if !below.is_empty() && !name.is_empty() {
            name.push(b'/');
        }
        name.extend_from_slice(below);
        if is_directory {
            name.push(b'/');
        }
        name
    }
}

/// Whether a path is another or below it.
fn is_within(path: &[u8], other: &[u8]) -> bool {
    // The root is the only one that ends with a slash.
    let other = other.strip_suffix(b"/").unwrap_or(other);
    path.strip_prefix(other)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// `//usr/bin/` as `/usr/bin`; the root as nothing.
fn normalized(path: &[u8]) -> Vec<u8> {
    let names = path.split(|byte| *byte == b'/');
    names
        .filter(|name| !name.is_empty())
        .flat_map(|name| [b"/", name])
        .flatten()
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(paths: &[&str], base: &str, root_name: Option<&str>) -> Choice {
        Choice {
            paths: paths
                .iter()
                .map(|path| normalized(path.as_bytes()))
                .collect(),
            base: normalized(base.as_bytes()),
            base_at: InodeRef {
                block_start: 0,
                offset: 0,
            },
            root_name: root_name.map(|name| name.as_bytes().to_vec()),
        }
    }

    #[test]
    fn paths_are_taken_with_what_is_below_and_what_leads_there() {
        let choice = choice(&["/usr//bin/", "/etc"], "", None);
        for (path, is_taken) in [
            ("/", true),
            ("/usr", true),
            ("/usr/bin", true),
            ("/usr/bin/sh", true),
            ("/usr/bin2", false),
            ("/usr/b", false),
            ("/etc/a/b", true),
            ("/e", false),
        ] {
            let place = choice.place(path.as_bytes());
            assert_eq!(place == Place::Taken, is_taken, "{path}");
        }
        assert_eq!(self::choice(&["/"], "", None).place(b"/a"), Place::Taken);
    }

    #[test]
    fn names_are_below_the_root_of_the_archive() {
        for (base, root_name, path, name) in [
            ("", None, "/", "./"),
            ("", None, "/usr", "usr/"),
            ("", Some("."), "/", "./"),
            ("", Some("."), "/usr", "./usr/"),
            ("", Some("root"), "/", "root/"),
            ("/usr", None, "/usr", "./"),
            ("/usr", None, "/usr/bin", "bin/"),
            ("/usr", Some("x/y"), "/usr/bin", "x/y/bin/"),
        ] {
            let found = choice(&[], base, root_name).name(path.as_bytes(), true);
            assert_eq!(found, name.as_bytes(), "{base} {root_name:?} {path}");
        }
        assert_eq!(choice(&[], "", None).name(b"/usr", false), b"usr");
    }
}
