//! Sets of xattrs that many inodes have: what is read of them once, and how large they may be.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use coldpress_format::Body;
use coldpress_image::{Image, Xattr, walk};
use coldpress_nasty::{Model, Packing, Tables, node, noise, sample};

use crate::counted::Counted;

/// The largest value on Linux.
const VALUE_BYTES: usize = 65_536;

/// The sample with a set of `count` xattrs of the largest size, and 40 pipes that have it.
fn shared(count: u32) -> Model {
    let mut model = sample(Packing::STORED);
    let start = model.pairs.len();
    for pair in 0..count {
        model.pairs.extend([0, 0, 4, 0]);
        model.pairs.extend(format!("{pair:04}").into_bytes());
        model
            .pairs
            .extend(u32::try_from(VALUE_BYTES).unwrap().to_le_bytes());
        model.pairs.extend(noise(pair.into(), VALUE_BYTES));
    }
    model.xattr_sets.push((start as u64, count));
    for number in 9..49 {
        let mut pipe = node(number, Body::Fifo);
        pipe.inode.xattr = Some(1);
        let name = format!("x{number:02}").into_bytes();
        let index = model.nodes.len();
        model.nodes[1].entries.push((name, index));
        model.nodes.push(pipe);
    }
    model
}

#[test]
fn a_set_that_many_inodes_have_is_read_once() {
    // 2.6 MB, more than is kept of metadata.
    let bytes = Tables::new(&shared(40)).write().bytes;
    let size_bytes = bytes.len() as u64;
    let (source, read_bytes) = Counted::new(bytes);
    let image = Image::new(Box::new(source)).unwrap();
    let mut sets: Vec<Arc<Vec<Xattr>>> = Vec::new();
    walk(&image, &mut |visited| {
        if visited.inode.xattr == Some(1) {
            sets.push(image.xattrs(visited.inode)?);
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(sets.len(), 40);
    assert!(sets.iter().all(|set| Arc::ptr_eq(set, &sets[0])));
    let read_bytes = read_bytes.load(Ordering::Relaxed);
    assert!(read_bytes < 2 * size_bytes, "{read_bytes} of {size_bytes}");
}

#[test]
fn a_set_may_be_as_large_as_its_table() {
    let bytes = Tables::new(&shared(300)).write().bytes;
    let image = Image::new(Box::new(bytes)).unwrap();
    let (_, inode) = image.find(b"/dir/x09").unwrap().unwrap();
    let set = image.xattrs(&inode).unwrap();
    assert_eq!(set.len(), 300);
}
