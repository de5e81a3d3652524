//! What lies in the way of an extraction, planted by someone else or by an image before.

use std::process::Stdio;

use coldpress_nasty::{Model, Packing, Tables, directory, sample};

use super::bounded::Yard;

/// The sample, in which a directory holds a file.
fn image() -> Vec<u8> {
    Tables::new(&sample(Packing::STORED)).write().bytes
}

/// An image of one symlink `dir` that leads out, where the sample has a directory.
fn link_in_place_of_a_directory() -> Vec<u8> {
    let mut model = Model::new(Packing::STORED);
    let link = coldpress_format::Body::Symlink(b"../..".to_vec());
    model.nodes = vec![
        directory(1, 3, &[(b"dir", 1)]),
        coldpress_nasty::node(2, link),
    ];
    Tables::new(&model).write().bytes
}

/// Extracts the sample over a symlink at `name` that leads to `target`.
fn extracted_over(name: &str, target: &str) -> (i32, String, Yard) {
    let yard = Yard::new();
    yard.put("image", &image());
    std::fs::create_dir(yard.inside().join("out")).unwrap();
    yard.link(name, target);
    let (code, said) = yard.run("", &["extract", "-f", "image", "out"], Stdio::null());
    (code, said, yard)
}

#[test]
fn squashfs_tools_363_symlinks_in_the_destination_are_replaced() {
    for (name, target) in [
        ("out/dir", "../../.."),
        ("out/dir", "/tmp"),
        ("out/tail", "../../../outside"),
        ("out/link", "../../../outside"),
        ("out/fifo", "../../outside"),
    ] {
        let (code, said, yard) = extracted_over(name, target);
        assert_eq!(code, 0, "{name}: {said}");
        let found = yard.inside().join(name).symlink_metadata().unwrap();
        assert_eq!(found.is_symlink(), name == "out/link", "{name}");
    }
}

#[test]
fn squashfs_tools_364_a_destination_that_is_a_symlink_is_refused() {
    let yard = Yard::new();
    yard.put("image", &image());
    yard.link("out", "../..");
    for words in [
        &["extract", "image", "out"][..],
        &["extract", "-f", "image", "out"],
    ] {
        let (code, said) = yard.run("", words, Stdio::null());
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("not a symbolic link"), "{said}");
    }
}

#[test]
fn squashfs_tools_ng_137_a_link_of_one_image_is_no_way_for_the_next() {
    let yard = Yard::new();
    yard.put("first", &link_in_place_of_a_directory());
    yard.put("second", &image());
    let (code, said) = yard.run("", &["extract", "first", "out"], Stdio::null());
    assert_eq!(code, 0, "{said}");
    let (code, said) = yard.run("", &["extract", "-f", "second", "out"], Stdio::null());
    assert_eq!(code, 0, "{said}");
    assert!(yard.inside().join("out/dir/file").is_file());
    // And back: a directory that holds something does not become a link.
    let (code, said) = yard.run("", &["extract", "-f", "first", "out"], Stdio::null());
    assert_eq!(code, 2, "{said}");
    assert!(yard.inside().join("out/dir/file").is_file());
}

#[test]
fn squashfs_tools_2026_modes_of_what_was_there_are_not_lent() {
    // A hard link to something outside, in the way of a file: it is replaced, not written to.
    let yard = Yard::new();
    yard.put("image", &image());
    std::fs::create_dir(yard.inside().join("out")).unwrap();
    let outside = yard.inside().join("../outside");
    std::fs::hard_link(&outside, yard.inside().join("out/tail")).unwrap();
    let before = outside.metadata().unwrap();
    let (code, said) = yard.run("", &["extract", "-f", "image", "out"], Stdio::null());
    assert_eq!(code, 0, "{said}");
    let after = outside.metadata().unwrap();
    assert_eq!(before.permissions(), after.permissions());
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
}
