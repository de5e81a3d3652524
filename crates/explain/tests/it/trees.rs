//! Trees of every kind: on disk as far as anybody may make them, and beyond that in the tree.

use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

use coldpress_format::BlockSize;
use coldpress_layout::{Kind, Tails};
use coldpress_writer::{Input, Source, SourceOptions, gather};

/// Where links point that are to be devices, pipes and sockets.
const OTHER: &str = "something else";

/// Numbers that follow from a seed.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Bytes that shrink by about half, or do not shrink.
    fn content(&mut self, len: usize) -> Vec<u8> {
        let mask = if self.below(3) == 0 { 0xff } else { 0x0f };
        let mut state = self.below(u64::MAX) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes().map(|byte| byte & mask)
        };
        let words = (0..len.div_ceil(8)).flat_map(|_| next());
        let mut bytes: Vec<u8> = words.collect();
        bytes.truncate(len);
        bytes
    }
}

/// Files around the limits of blocks of a size: plain, linked, equal, with equal tail ends, sparse,
/// of zeros; links, pipes, devices, sockets; and a directory of each of some sizes.
pub(crate) fn make_mixed(root: &Path, block_size: BlockSize, numbers: &mut Numbers) {
    let block = block_size.bytes() as usize;
    let lens = [
        0,
        1,
        99,
        block / 3,
        block - 1,
        block,
        block + 1,
        2 * block + 77,
    ];
    let directory = |name: &str| {
        let path = root.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    };
    let files = directory("files");
    for (number, len) in lens.into_iter().cycle().take(10).enumerate() {
        fs::write(files.join(format!("{number:02}")), numbers.content(len)).unwrap();
    }
    fs::hard_link(files.join("03"), files.join("hard")).unwrap();
    fs::hard_link(files.join("07"), directory("far/away").join("hard")).unwrap();
    let equal = directory("equal");
    let (whole, tail) = (numbers.content(2 * block + 300), numbers.content(300));
    for number in 0..3 {
        fs::write(equal.join(format!("whole {number}")), &whole).unwrap();
        let own = [numbers.content(block), tail.clone()].concat();
        fs::write(equal.join(format!("tail {number}")), own).unwrap();
    }
    for number in 0..30 {
        let len = usize::try_from(numbers.below(200)).unwrap();
        fs::write(equal.join(format!("small {number}")), numbers.content(len)).unwrap();
    }
    let sparse = directory("sparse");
    fs::write(sparse.join("zeros"), vec![0; 2 * block]).unwrap();
    for (name, data_at) in [("first", 0), ("middle", 1), ("last", 3), ("none", u64::MAX)] {
        let file = File::create(sparse.join(name)).unwrap();
        file.set_len(3 * block as u64 + 500).unwrap();
        if data_at < u64::MAX {
            let content = numbers.content(400);
            file.write_all_at(&content, data_at * block as u64).unwrap();
        }
    }
    let other = directory("other");
    for number in 0..12 {
        // These become what only root may make: `change`.
        symlink(OTHER, other.join(format!("{number}"))).unwrap();
    }
    symlink("short", other.join("short link")).unwrap();
    symlink("x".repeat(3000), other.join("long link")).unwrap();
    make_crowd(&directory("empty"), 0, 1);
    make_crowd(&directory("one"), 1, 1);
    make_crowd(&directory("crowd"), 300, 12);
    make_crowd(&directory("long"), 120, 250);
}

/// So many empty files with names of so many bytes in a directory.
pub(crate) fn make_crowd(directory: &Path, files: usize, name_bytes: usize) {
    for number in 0..files {
        File::create(directory.join(format!("{number:0name_bytes$}"))).unwrap();
    }
}

/// What lies in a directory, with owners, attributes and devices that follow from the numbers.
pub(crate) fn scanned(
    root: &Path,
    (block_size, tails): (BlockSize, Tails),
    numbers: &mut Numbers,
) -> Source {
    let inputs = [Input::Directory(root.to_path_buf())];
    let mut source = gather(&inputs, &SourceOptions::default(), &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    let tails = (tails == Tails::All).then_some(block_size);
    source
        .find_duplicates(tails, NonZeroUsize::MIN, &mut |_| ControlFlow::Continue(()))
        .unwrap();
    change(&mut source, numbers);
    source
}

fn change(source: &mut Source, numbers: &mut Numbers) {
    let owners = [1, 5, 3000][usize::try_from(numbers.below(3)).unwrap()];
    let attributed = numbers.below(3);
    for node in &mut source.tree.nodes {
        let owner = |number: u64| u32::try_from(number).unwrap();
        (node.uid, node.gid) = (owner(numbers.below(owners)), owner(numbers.below(owners)));
        node.mtime_s = owner(numbers.below(1 << 30));
        let (major, minor) = (owner(numbers.below(4096)), owner(numbers.below(1 << 20)));
        if matches!(&node.kind, Kind::Symlink { target } if target == OTHER.as_bytes()) {
            node.kind = match numbers.below(4) {
                0 => Kind::BlockDevice { major, minor },
                1 => Kind::CharDevice { major, minor },
                2 => Kind::Socket,
                _ => Kind::Fifo,
            };
        }
        node.xattrs = Arc::default();
        if attributed > 0 && numbers.below(4) == 0 {
            // Some sets are shared, and some are not.
            let value = if attributed == 1 {
                numbers.below(5).to_le_bytes().to_vec()
            } else {
                let len = usize::try_from(numbers.below(2000)).unwrap();
                numbers.content(len)
            };
            node.xattrs = Arc::new(vec![
                (b"security.x".to_vec(), value),
                (b"user.name".to_vec(), b"value".to_vec()),
            ]);
        }
    }
}
