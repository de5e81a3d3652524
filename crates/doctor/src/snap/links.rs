//! Symlinks of an image that lead out of it.

use std::collections::HashMap;

/// The most bytes of paths and targets that are kept: an image of a few kilobytes can hold links
/// whose paths take any number of bytes.
const KEPT_MAX_BYTES: usize = 64 << 20;
/// Linux follows no more (`MAXSYMLINKS`).
const LINKS_MAX: usize = 40;
/// The most bytes of paths that are looked up for all links together: some tenths of a second.
const LOOKED_UP_MAX_BYTES: usize = 64 << 20;

/// Where a symlink ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// In the image, whether something is there or not.
    Inside,
    /// At an absolute path, which is not of the image.
    Absolute(Vec<u8>),
    /// Above the image.
    Above,
    /// Nobody knows: there are too many links.
    Unknown,
}

/// The symlinks of an image.
#[derive(Debug, Default)]
pub(crate) struct Links {
    targets: HashMap<Vec<u8>, Vec<u8>>,
    kept_bytes: usize,
    looked_up_bytes: usize,
    is_full: bool,
}

impl Links {
    /// Keeps a link.
    pub(crate) fn note(&mut self, path: &[u8], target: &[u8]) {
        self.kept_bytes = self.kept_bytes.saturating_add(path.len() + target.len());
        self.is_full |= self.kept_bytes > KEPT_MAX_BYTES;
        if !self.is_full {
            self.targets.insert(path.to_vec(), target.to_vec());
        }
    }

    /// Every link with where it ends, by path.
    pub(crate) fn ends(&mut self) -> Vec<(Vec<u8>, Vec<u8>, End)> {
        let mut links: Vec<(Vec<u8>, Vec<u8>)> = self
            .targets
            .iter()
            .map(|(path, target)| (path.clone(), target.clone()))
            .collect();
        links.sort();
        let ends = links.into_iter().map(|(path, target)| {
            let end = self.end(&path, &target);
            (path, target, end)
        });
        ends.collect()
    }

    /// Whether every link was kept and followed.
    pub(crate) fn is_whole(&self) -> bool {
        !self.is_full && self.looked_up_bytes <= LOOKED_UP_MAX_BYTES
    }

    /// Follows a link, and those on its way, as `realpath -m` does.
    fn end(&mut self, path: &[u8], target: &[u8]) -> End {
        let mut here = parent(path).to_vec();
        let mut pending = names(target);
        let mut is_absolute = target.starts_with(b"/");
        let mut followed = 0;
        loop {
            if is_absolute {
                return End::Absolute(joined(pending));
            }
            let Some(name) = pending.pop() else {
                return End::Inside;
            };
            self.looked_up_bytes += here.len() + name.len();
            if self.looked_up_bytes > LOOKED_UP_MAX_BYTES {
                return End::Unknown;
            }
            if name == b".." {
                if here.is_empty() {
                    return End::Above;
                }
                here.truncate(parent(&here).len());
                continue;
            }
            let len = here.len();
            here.push(b'/');
            here.extend_from_slice(&name);
            if let Some(target) = self.targets.get(&here) {
                followed += 1;
                if followed > LINKS_MAX {
                    return End::Inside;
                }
                is_absolute = target.starts_with(b"/");
                pending.extend(names(target));
                here.truncate(len);
            }
        }
    }
}

/// The directory of an absolute path; nothing for what is in the root.
fn parent(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    path.get(..slash.unwrap_or(0)).unwrap_or_default()
}

/// The names of a path, the first one last.
fn names(path: &[u8]) -> Vec<Vec<u8>> {
    let names = path.rsplit(|byte| *byte == b'/');
    let names = names.filter(|name| !name.is_empty() && *name != b".");
    names.map(<[u8]>::to_vec).collect()
}

/// An absolute path of names in reverse, without `..`.
fn joined(mut pending: Vec<Vec<u8>>) -> Vec<u8> {
    let mut path = Vec::new();
    while let Some(name) = pending.pop() {
        if name == b".." {
            path.truncate(parent(&path).len());
        } else {
            path.push(b'/');
            path.extend(name);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_as_far_as_they_stay_inside() {
        let mut links = Links::default();
        let absolute = |path: &str| End::Absolute(path.as_bytes().to_vec());
        let expected = [
            ("/a", "usr/./b//c", End::Inside),
            ("/b", "missing", End::Inside),
            ("/chain", "a/../../up/x", absolute("/snap/x")),
            ("/lib", "usr/lib", End::Inside),
            ("/loop", "loop", End::Inside),
            ("/out", "/etc/../usr/passwd", absolute("/usr/passwd")),
            ("/to-out", "out", absolute("/usr/passwd")),
            ("/up", "..", End::Above),
            ("/usr/above", "../../etc", End::Above),
            ("/usr/lib/c", "../../lib/../lib", End::Inside),
            ("/usr/root", "..", End::Inside),
            ("/usr/up", "/snap", absolute("/snap")),
        ];
        for (path, target, _) in &expected {
            links.note(path.as_bytes(), target.as_bytes());
        }
        let found = links.ends();
        for ((path, _, end), (expected_path, _, expected)) in found.iter().zip(&expected) {
            assert_eq!((path.as_slice(), end), (expected_path.as_bytes(), expected));
        }
        assert!(found.len() == expected.len() && links.is_whole());
    }

    #[test]
    fn many_long_links_end() {
        let mut links = Links::default();
        let target = "a/".repeat(2000);
        for number in 0..4000 {
            links.note(format!("/{number}").as_bytes(), target.as_bytes());
        }
        assert_eq!(links.ends().last().unwrap().2, End::Unknown);
        assert!(!links.is_whole());
        let mut links = Links::default();
        links.note(b"/a", &vec![b'a'; KEPT_MAX_BYTES]);
        assert!(links.ends().is_empty() && !links.is_whole());
    }
}
