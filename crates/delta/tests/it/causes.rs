//! Why bytes are transferred.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use coldpress_delta::{Cause, CauseBytes, Error, Region, regions};
use coldpress_image::Image;
use coldpress_layout::{Plan, PlanItem};

use crate::images::{BLOCK_BYTES, build, content};

fn compare(old: &Path, new: &Path) -> Result<Vec<Region>, Error> {
    let new_bytes = fs::metadata(new).unwrap().len();
    let (old, new) = (Image::open(old).unwrap(), Image::open(new).unwrap());
    regions(&old, &new, new_bytes, &mut || ControlFlow::Continue(()))
}

/// A tree of two large files and small ones, two of which share a fragment block.
fn tree(directory: &Path) {
    fs::create_dir(directory).unwrap();
    for (name, seed, len) in [
        ("a", 1, 5 * BLOCK_BYTES),
        ("b", 2, 5 * BLOCK_BYTES),
        ("m", 3, 1500),
        ("n", 4, 1500),
        ("o", 5, 1500),
        ("p", 6, 1500),
    ] {
        fs::write(directory.join(name), content(seed, len)).unwrap();
    }
}

/// The bytes of a new image by cause, which is built after `change`.
fn causes(change: impl FnOnce(&Path), plan: &Plan, level: i32) -> CauseBytes {
    let stage = tempfile::tempdir().unwrap();
    let at = |name: &str| stage.path().join(name);
    tree(&at("tree"));
    build(&at("tree"), &at("old"), &Plan::default(), 9);
    change(&at("tree"));
    build(&at("tree"), &at("new"), plan, level);
    let regions = compare(&at("old"), &at("new")).unwrap();
    let mut end = 0;
    for region in &regions {
        assert!(region.bytes.start == end && region.bytes.end > end);
        end = region.bytes.end;
    }
    assert_eq!(end, fs::metadata(at("new")).unwrap().len());
    CauseBytes::of_regions(&regions)
}

fn present(bytes: &CauseBytes) -> Vec<Cause> {
    let mut causes = Cause::ALL.to_vec();
    causes.retain(|cause| bytes.of(*cause) > 0);
    causes
}

/// What every image has.
const ALWAYS: [Cause; 3] = [Cause::Moved, Cause::Tables, Cause::Padding];

#[test]
fn the_same_image_and_another_order_have_no_new_blocks() {
    let nothing = causes(|_| {}, &Plan::default(), 9);
    assert_eq!(present(&nothing), ALWAYS);
    let plan = Plan {
        data: vec![PlanItem::Blocks(b"/b".to_vec())],
        ..Plan::default()
    };
    let other_order = causes(|_| {}, &plan, 9);
    assert_eq!(present(&other_order), ALWAYS);
    assert_eq!(nothing.moved_bytes, other_order.moved_bytes);
}

#[test]
fn a_changed_block_is_content() {
    let change = |tree: &Path| {
        let mut bytes = content(1, 5 * BLOCK_BYTES);
        bytes[BLOCK_BYTES + 7] ^= 1;
        fs::write(tree.join("a"), bytes).unwrap();
    };
    let found = causes(change, &Plan::default(), 9);
    let expected = [Cause::Content, Cause::Moved, Cause::Tables, Cause::Padding];
    assert_eq!(present(&found), expected);
    // One block of ten.
    assert!(found.content_bytes * 8 < found.moved_bytes, "{found:?}");
}

#[test]
fn another_level_is_encoding() {
    let found = causes(|_| {}, &Plan::default(), 1);
    assert!(
        found.encoding_bytes > 0 && found.content_bytes == 0,
        "{found:?}"
    );
    assert_eq!(found.repacked_bytes, 0);
}

#[test]
fn tail_ends_that_did_not_change_are_repacked() {
    let fragment = |names: [&str; 2]| {
        let paths = names.map(|name| format!("/{name}").into_bytes());
        PlanItem::Fragment(paths.to_vec())
    };
    let plan = Plan {
        data: vec![fragment(["m", "o"]), fragment(["n", "p"])],
        ..Plan::default()
    };
    let found = causes(|_| {}, &plan, 9);
    assert!(
        found.repacked_bytes > 0 && found.content_bytes == 0,
        "{found:?}"
    );
    // A changed tail end takes its neighbour with it: half of the block is of each.
    let change = |tree: &Path| fs::write(tree.join("m"), content(9, 1500)).unwrap();
    let found = causes(change, &Plan::default(), 9);
    assert!(
        found.content_bytes.abs_diff(found.repacked_bytes) <= 1,
        "{found:?}"
    );
}

#[test]
fn a_damaged_image_is_an_error_that_says_which() {
    let stage = tempfile::tempdir().unwrap();
    let at = |name: &str| stage.path().join(name);
    tree(&at("tree"));
    build(&at("tree"), &at("good"), &Plan::default(), 9);
    build(&at("tree"), &at("other"), &Plan::default(), 1);
    let mut bytes = fs::read(at("good")).unwrap();
    // In the first data block, behind the head of its stream.
    bytes[96 + 40..96 + 80].fill(0xff);
    fs::write(at("bad"), bytes).unwrap();
    assert!(matches!(
        compare(&at("bad"), &at("other")),
        Err(Error::Old(_))
    ));
    assert!(matches!(
        compare(&at("other"), &at("bad")),
        Err(Error::New(_))
    ));
}

#[test]
fn the_caller_may_stop() {
    let stage = tempfile::tempdir().unwrap();
    let at = |name: &str| stage.path().join(name);
    tree(&at("tree"));
    build(&at("tree"), &at("image"), &Plan::default(), 9);
    let image = Image::open(&at("image")).unwrap();
    let found = regions(&image, &image, 9, &mut || ControlFlow::Break(()));
    assert!(matches!(found, Err(Error::Interrupted)));
}
