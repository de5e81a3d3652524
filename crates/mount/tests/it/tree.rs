//! A tree as requests show it, and as a walk does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use coldpress_format::{Body, InodeKind};
use coldpress_image::{Image, walk};
use coldpress_mount::{FileSystem, Name, NodeId, Options};
use coldpress_nasty::{Packing, Tables, WRITABLE, sample};

/// As much as one request asks for, and not a part of a block.
const READ_BYTES: u32 = 3001;

/// How images are shown in tests.
pub(crate) const OPTIONS: Options = Options {
    cache_bytes: 1 << 20,
    root: None,
    uid: None,
    gid: None,
};

pub(crate) fn open(bytes: &[u8]) -> Image {
    Image::new(Box::new(bytes.to_vec())).unwrap()
}

/// A file system, and what it told of damage.
pub(crate) fn mounted(image: Image, options: Options) -> (FileSystem, Arc<Mutex<Vec<String>>>) {
    let texts = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&texts);
    let tell = Box::new(move |damage: &coldpress_mount::Damage| {
        heard.lock().unwrap().push(damage.to_string());
    });
    (FileSystem::new(image, options, tell).unwrap(), texts)
}

/// What both sides say of a path.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    kind: InodeKind,
    mode: u16,
    owner: (u32, u32),
    size_bytes: Option<u64>,
    mtime_s: u32,
    link_count: u32,
    content: Vec<u8>,
    xattrs: Vec<(Vec<u8>, Vec<u8>)>,
}

type Tree = BTreeMap<Vec<u8>, Seen>;

fn walked(image: &Image) -> Tree {
    let mut tree = Tree::new();
    walk(image, &mut |visited| {
        let inode = &image.inode(visited.at)?;
        let (size_bytes, content) = match &inode.body {
            Body::File(file) => {
                let mut content = vec![0; usize::try_from(file.size_bytes).unwrap()];
                image.read_at(file, 0, &mut content)?;
                (Some(file.size_bytes), content)
            }
            Body::Symlink(target) => (Some(target.len() as u64), target.clone()),
            _ => (None, Vec::new()),
        };
        let seen = Seen {
            kind: inode.body.kind(),
            mode: inode.mode,
            owner: image.owner(inode)?,
            size_bytes,
            mtime_s: inode.mtime_s,
            link_count: inode.link_count,
            content,
            xattrs: image.xattrs(inode)?.to_vec(),
        };
        tree.insert(visited.path.to_vec(), seen);
        Ok(())
    })
    .unwrap();
    tree
}

fn asked(file_system: &FileSystem) -> Tree {
    let mut tree = Tree::new();
    let mut pending = vec![(b"/".to_vec(), NodeId::ROOT)];
    while let Some((path, node)) = pending.pop() {
        let attributes = file_system.attributes(node).unwrap();
        let is_directory = attributes.kind == InodeKind::Directory;
        if is_directory {
            for name in names(file_system, node) {
                let child = file_system.lookup(node, &name).unwrap();
                let above: &[u8] = if node == NodeId::ROOT { b"" } else { &path };
                pending.push(([above, b"/", &name].concat(), child.node));
            }
        }
        let content = match attributes.kind {
            InodeKind::File => content(file_system, node),
            InodeKind::Symlink => file_system.target(node).unwrap(),
            _ => Vec::new(),
        };
        let has_size = matches!(attributes.kind, InodeKind::File | InodeKind::Symlink);
        let seen = Seen {
            kind: attributes.kind,
            mode: attributes.mode,
            owner: (attributes.uid, attributes.gid),
            size_bytes: has_size.then_some(attributes.size_bytes),
            mtime_s: attributes.mtime_s,
            link_count: attributes.link_count,
            content,
            xattrs: xattrs(file_system, node),
        };
        tree.insert(path, seen);
    }
    tree
}

/// The names that the image stores.
pub(crate) fn names(file_system: &FileSystem, node: NodeId) -> Vec<Vec<u8>> {
    let directory = file_system.directory(node).unwrap();
    let names = directory.names_from(0).filter_map(|(name, _)| match name {
        Name::Stored { name, .. } => Some(name.to_vec()),
        _ => None,
    });
    names.collect()
}

/// A whole file, by requests of an odd length.
pub(crate) fn content(file_system: &FileSystem, node: NodeId) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let offset = bytes.len() as u64;
        let read = file_system.read(node, offset, READ_BYTES).unwrap();
        if read.bytes().is_empty() {
            return bytes;
        }
        bytes.extend_from_slice(read.bytes());
    }
}

fn xattrs(file_system: &FileSystem, node: NodeId) -> Vec<(Vec<u8>, Vec<u8>)> {
    let names = file_system.xattr_names(node, true).unwrap();
    let names = names.split_inclusive(|byte| *byte == 0);
    let names = names.map(|name| &name[..name.len() - 1]);
    let value = |name: &[u8]| file_system.xattr(node, name).unwrap();
    names.map(|name| (name.to_vec(), value(name))).collect()
}

#[test]
fn requests_show_what_a_walk_shows_whatever_the_compressor() {
    let packings = WRITABLE.map(Packing::compressed);
    for packing in packings.into_iter().chain([Packing::STORED]) {
        let bytes = Tables::new(&sample(packing)).write().bytes;
        let expected = walked(&open(&bytes));
        // A cache of one block, too.
        for cache_bytes in [0, 1 << 20] {
            let options = Options {
                cache_bytes,
                ..OPTIONS
            };
            let (file_system, told) = mounted(open(&bytes), options);
            assert_eq!(asked(&file_system), expected, "{packing:?}");
            assert_eq!(told.lock().unwrap().as_slice(), [""; 0]);
        }
    }
}

#[test]
fn a_directory_as_root_and_owners_of_ones_own() {
    let image = open(&coldpress_nasty::image(true).bytes);
    let (at, _) = image.find(b"/dir").unwrap().unwrap();
    let options = Options {
        root: Some(at),
        uid: Some(1000),
        gid: Some(u32::MAX),
        ..OPTIONS
    };
    let (file_system, _) = mounted(image, options);
    let tree = asked(&file_system);
    let paths: Vec<&[u8]> = tree.keys().map(Vec::as_slice).collect();
    assert_eq!(paths, [&b"/"[..], b"/file", b"/sub"]);
    for (path, seen) in &tree {
        assert_eq!(seen.owner, (1000, u32::MAX), "{path:?}");
    }
    assert_eq!(tree[&b"/file"[..]].content, coldpress_nasty::file_content());
    // There is no way out.
    let directory = file_system.directory(NodeId::ROOT).unwrap();
    let dots: Vec<_> = directory.names_from(0).take(2).collect();
    let expected = [
        (Name::Itself(NodeId::ROOT), 1),
        (Name::Parent(NodeId::ROOT), 2),
    ];
    assert_eq!(dots, expected);
    let sub = file_system.lookup(NodeId::ROOT, b"sub").unwrap();
    let directory = file_system.directory(sub.node).unwrap();
    let parent = directory.names_from(1).next();
    assert_eq!(parent, Some((Name::Parent(NodeId::ROOT), 2)));
}
