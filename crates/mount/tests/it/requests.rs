//! Single requests, and what they are refused with.

use coldpress_format::InodeKind;
use coldpress_mount::{Failure, Name, NodeId};
use coldpress_nasty::{Model, Node, Packing, Structure, Tables, directory, node, sample};

use crate::tree::{OPTIONS, mounted, names, open};

/// Names of a directory whose listing takes many metadata blocks.
const MANY: usize = 3000;

fn many() -> Vec<u8> {
    let names: Vec<String> = (0..MANY).map(|index| format!("name-{index:05}")).collect();
    let entries: Vec<(&[u8], usize)> = names.iter().map(|name| (name.as_bytes(), 1)).collect();
    let nodes: Vec<Node> = vec![
        directory(1, 3, &entries),
        node(2, coldpress_format::Body::Fifo),
    ];
    coldpress_nasty::write(&nodes, false).bytes
}

#[test]
fn what_cannot_be_asked_of_an_inode_is_refused() {
    let (file_system, told) = mounted(open(&coldpress_nasty::image(true).bytes), OPTIONS);
    let node = |name: &[u8]| file_system.lookup(NodeId::ROOT, name).unwrap().node;
    let (dir, fifo, link) = (node(b"dir"), node(b"fifo"), node(b"link"));
    let lookup = |directory, name: &[u8]| file_system.lookup(directory, name).unwrap_err();
    let read = |node| file_system.read(node, 0, 10).unwrap_err();
    assert_eq!(lookup(NodeId::ROOT, b"none"), Failure::NotFound);
    assert_eq!(lookup(NodeId::ROOT, b""), Failure::NotFound);
    assert_eq!(lookup(NodeId::ROOT, b"dir/file"), Failure::NotFound);
    assert_eq!(lookup(NodeId::ROOT, &[b'a'; 257]), Failure::NameTooLong);
    assert_eq!(lookup(fifo, b"a"), Failure::NotDirectory);
    assert_eq!(read(dir), Failure::IsDirectory);
    assert_eq!(read(fifo), Failure::OtherType);
    assert_eq!(read(link), Failure::OtherType);
    assert_eq!(file_system.target(dir), Err(Failure::OtherType));
    assert_eq!(
        file_system.xattr(dir, b"user.one"),
        Err(Failure::NoAttribute)
    );
    assert_eq!(file_system.attributes(NodeId(4711)), Err(Failure::Unknown));
    assert_eq!(told.lock().unwrap().as_slice(), [""; 0]);
}

#[test]
fn an_inode_is_unknown_once_it_was_forgotten() {
    let (file_system, _) = mounted(open(&coldpress_nasty::image(true).bytes), OPTIONS);
    let node = file_system.lookup(NodeId::ROOT, b"tail").unwrap().node;
    let again = file_system.lookup(NodeId::ROOT, b"tail").unwrap().node;
    assert_eq!(node, again);
    file_system.forget(node, 2);
    assert_eq!(file_system.attributes(node), Err(Failure::Unknown));
    assert!(file_system.attributes(NodeId::ROOT).is_ok());
}

#[test]
fn ranges_of_files_are_those_of_the_image() {
    let bytes = coldpress_nasty::image(true).bytes;
    let image = open(&bytes);
    let (file_system, _) = mounted(open(&bytes), OPTIONS);
    let dir = file_system.lookup(NodeId::ROOT, b"dir").unwrap().node;
    for (path, directory, name) in [
        (&b"/dir/file"[..], dir, &b"file"[..]),
        (b"/sparse", NodeId::ROOT, b"sparse"),
        (b"/tail", NodeId::ROOT, b"tail"),
    ] {
        let node = file_system.lookup(directory, name).unwrap().node;
        let (_, inode) = image.find(path).unwrap().unwrap();
        let coldpress_format::Body::File(file) = inode.body else {
            panic!("it is a file");
        };
        for offset in (0..file.size_bytes + 5000).step_by(773) {
            for len in [1, 4096, 9000] {
                let mut expected = vec![0; len];
                let found = image.read_at(&file, offset, &mut expected).unwrap();
                let len = u32::try_from(len).unwrap();
                let read = file_system.read(node, offset, len).unwrap();
                assert_eq!(read.bytes(), &expected[..found], "{offset} {len}");
            }
        }
        let behind = file_system.read(node, u64::MAX, u32::MAX).unwrap();
        assert_eq!(behind.bytes(), b"");
    }
}

#[test]
fn a_directory_is_read_on_from_any_place() {
    let (file_system, _) = mounted(open(&many()), OPTIONS);
    let directory = file_system.directory(NodeId::ROOT).unwrap();
    let whole: Vec<_> = directory.names_from(0).collect();
    assert_eq!(whole.len(), MANY + 2);
    assert_eq!(names(&file_system, NodeId::ROOT).len(), MANY);
    for (index, (_, next)) in whole.iter().enumerate() {
        let on = directory.names_from(*next).next();
        assert_eq!(on, whole.get(index + 1).copied());
    }
    for behind in [MANY as u64 + 2, u64::MAX] {
        assert_eq!(directory.names_from(behind).next(), None);
    }
    for index in [0, 1, MANY / 2, MANY - 1] {
        let name = format!("name-{index:05}");
        assert_eq!(directory.find(name.as_bytes()), Some(index));
        let attributes = file_system.lookup(NodeId::ROOT, name.as_bytes()).unwrap();
        assert_eq!(attributes.kind, InodeKind::Fifo);
    }
    let Name::Stored { name, index, .. } = whole[2].0 else {
        panic!("two dots come first");
    };
    assert_eq!((name, index), (&b"name-00000"[..], 0));
}

#[test]
fn numbers_are_those_of_the_image_but_for_the_root() {
    let bytes = coldpress_nasty::image(true).bytes;
    let (file_system, _) = mounted(open(&bytes), OPTIONS);
    // The root of the sample is 1, as the kernel calls it.
    let dir = file_system.lookup(NodeId::ROOT, b"dir").unwrap();
    assert_eq!(
        (dir.node, file_system.number(dir.node)),
        (NodeId(2), Some(2))
    );
    let image = open(&bytes);
    let (at, _) = image.find(b"/dir").unwrap().unwrap();
    let options = coldpress_mount::Options {
        root: Some(at),
        ..OPTIONS
    };
    let (file_system, _) = mounted(image, options);
    assert_eq!(file_system.number(NodeId::ROOT), Some(2));
    let file = file_system.lookup(NodeId::ROOT, b"file").unwrap();
    assert_eq!(
        (file.node, file_system.number(file.node)),
        (NodeId(3), Some(3))
    );
}

#[test]
fn damage_is_told_once_with_inode_path_and_position() {
    let packing = Packing::gzip(true);
    let image = Tables::new(&sample(packing)).write();
    // The first data block is of `/dir/file`.
    let at = image.start_of(Structure::Data);
    let bytes = image.with(at, &[0xff; 8]);
    let (file_system, told) = mounted(open(&bytes), OPTIONS);
    let dir = file_system.lookup(NodeId::ROOT, b"dir").unwrap().node;
    let file = file_system.lookup(dir, b"file").unwrap().node;
    for _ in 0..3 {
        let read = file_system.read(file, 0, 10);
        assert_eq!(read.unwrap_err(), Failure::Damaged);
    }
    // The second block and the tail end are sound.
    let rest = file_system.read(file, 4096, 10_000).unwrap();
    assert_eq!(rest.bytes(), &coldpress_nasty::file_content()[4096..]);
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    let beginning = format!("`/dir/file` (inode 3): data block at byte {at}: ");
    assert!(told[0].starts_with(&beginning), "{}", told[0]);
}

#[test]
fn an_image_without_xattrs_has_empty_lists_of_them() {
    let model = Model {
        pairs: Vec::new(),
        xattr_sets: Vec::new(),
        ..sample(Packing::STORED)
    };
    let (file_system, _) = mounted(open(&Tables::new(&model).write().bytes), OPTIONS);
    let names = file_system.xattr_names(NodeId::ROOT, true);
    assert_eq!(names, Ok(Vec::new()));
    let value = file_system.xattr(NodeId::ROOT, b"user.x");
    assert_eq!(value, Err(Failure::NoAttribute));
    let volume = file_system.volume();
    assert_eq!((volume.block_bytes, volume.inodes), (4096, 8));
}
