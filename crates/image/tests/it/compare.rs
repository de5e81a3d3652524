//! Comparing a directory with an image and with another directory.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use coldpress_format::{Body, Inode};
use coldpress_image::{Error, FileBlock, Image, walk};

/// The root and everything below it, a directory before its content, in order.
pub(crate) fn paths(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.to_path_buf()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        if path.symlink_metadata().unwrap().is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            found.extend(entries.map(|entry| entry.unwrap().path()));
        }
    }
    found.sort();
    found
}

/// Extended attributes of a path, links not followed.
fn xattrs(path: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut names = vec![0; 65_536];
    let len = rustix::fs::llistxattr(path, &mut names[..]).unwrap();
    let names = names[..len]
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty());
    names
        .map(|name| {
            let mut value = vec![0; 65_536];
            let len = rustix::fs::lgetxattr(path, name, &mut value[..]).unwrap();
            value.truncate(len);
            (name.to_vec(), value)
        })
        .collect()
}

/// What is compared of a path beside content.
#[derive(Debug, PartialEq, Eq)]
struct Facts {
    mode: u32,
    owner: (u32, u32),
    mtime: i64,
    links: u64,
    size: u64,
    device: u64,
    target: Option<PathBuf>,
    xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
}

fn facts(path: &Path) -> Facts {
    let metadata = path.symlink_metadata().unwrap();
    let special = metadata.mode() & 0o170_000;
    Facts {
        mode: metadata.mode(),
        owner: (metadata.uid(), metadata.gid()),
        mtime: metadata.mtime(),
        // File systems count and size directories as they like.
        links: if metadata.is_dir() {
            0
        } else {
            metadata.nlink()
        },
        size: if metadata.is_dir() {
            0
        } else {
            metadata.size()
        },
        device: if matches!(special, 0o020_000 | 0o060_000) {
            metadata.rdev()
        } else {
            0
        },
        target: fs::read_link(path).ok(),
        xattrs: xattrs(path),
    }
}

/// Asserts that two directories hold the same.
pub(crate) fn assert_same_directories(left: &Path, right: &Path) {
    let relative = |root: &Path| -> Vec<PathBuf> {
        let strip = |path: PathBuf| path.strip_prefix(root).unwrap().to_path_buf();
        paths(root).into_iter().map(strip).collect()
    };
    assert_eq!(relative(left), relative(right));
    let mut partners = HashMap::new();
    for path in relative(left) {
        let (left, right) = (left.join(&path), right.join(&path));
        assert_eq!(facts(&left), facts(&right), "{}", path.display());
        let metadata = left.symlink_metadata().unwrap();
        if metadata.is_file() {
            assert!(
                fs::read(&left).unwrap() == fs::read(&right).unwrap(),
                "{}",
                path.display()
            );
        }
        let inode = right.symlink_metadata().unwrap().ino();
        let partner = *partners.entry(metadata.ino()).or_insert(inode);
        assert_eq!(partner, inode, "hard links of {}", path.display());
    }
}

/// The content of a file, read block by block.
pub(crate) fn content(image: &Image, file: &coldpress_format::File) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    image.for_each_block::<Error>(file, &mut |block| {
        match block {
            FileBlock::Data(data) => bytes.extend_from_slice(data),
            FileBlock::Hole(len) => bytes.resize(bytes.len() + usize::try_from(len).unwrap(), 0),
        }
        Ok(())
    })?;
    Ok(bytes)
}

fn assert_same_inode(image: &Image, inode: &Inode, path: &Path, hard_links: bool) {
    let metadata = path.symlink_metadata().unwrap();
    let shown = path.display();
    assert_eq!(u32::from(inode.mode), metadata.mode() & 0o7777, "{shown}");
    assert_eq!(
        image.owner(inode).unwrap(),
        (metadata.uid(), metadata.gid()),
        "{shown}"
    );
    assert_eq!(i64::from(inode.mtime_s), metadata.mtime(), "{shown}");
    let stored: BTreeMap<_, _> = image.xattrs(inode).unwrap().iter().cloned().collect();
    assert_eq!(stored, xattrs(path), "{shown}");
    match &inode.body {
        Body::Directory(_) => assert!(metadata.is_dir(), "{shown}"),
        Body::File(file) => {
            assert!(metadata.is_file(), "{shown}");
            let links = if hard_links { metadata.nlink() } else { 1 };
            assert_eq!(u64::from(inode.link_count), links, "{shown}");
            let expected = fs::read(path).unwrap();
            assert!(content(image, file).unwrap() == expected, "{shown}");
            for (offset, len) in [(0, 10), (4000, 200), (131_000, 140_000), (3 << 20, 70)] {
                let mut buf = vec![0xaa; len];
                let found = image.read_at(file, offset, &mut buf).unwrap();
                let start = usize::try_from(offset).unwrap().min(expected.len());
                let end = (start + len).min(expected.len());
                assert!(buf[..found] == expected[start..end], "{shown} at {offset}");
            }
        }
        Body::Symlink(target) => {
            let expected = fs::read_link(path).unwrap();
            assert_eq!(
                target.as_slice(),
                expected.as_os_str().as_bytes(),
                "{shown}"
            );
        }
        Body::BlockDevice(number) | Body::CharDevice(number) => {
            let expected = rustix::fs::makedev(number.major, number.minor);
            assert_eq!(metadata.rdev(), expected, "{shown}");
        }
        Body::Fifo => assert_eq!(metadata.mode() & 0o170_000, 0o010_000, "{shown}"),
        Body::Socket => assert_eq!(metadata.mode() & 0o170_000, 0o140_000, "{shown}"),
    }
}

/// Asserts that an image holds what a directory holds.
///
/// * `hard_links`: whether its writer keeps them.
pub(crate) fn assert_same_as_source(image: &Image, source: &Path, hard_links: bool) {
    let expected = paths(source);
    let mut count = 0;
    walk(image, &mut |visited| {
        let relative = std::ffi::OsStr::from_bytes(&visited.path[1..]);
        let path = source.join(relative);
        let inode = image.inode(visited.at)?;
        assert_same_inode(image, &inode, &path, hard_links);
        // Looking up one name of a long listing takes as long as listing it.
        if count % 16 == 0 {
            let (at, found) = image.find(visited.path)?.unwrap();
            assert_eq!((at, &found), (visited.at, &inode));
        }
        count += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(count, expected.len());
}
