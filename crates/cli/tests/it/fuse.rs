//! Images as squashfuse reads them, in user space and with decompressors of its own.

#[path = "interop/generated.rs"]
#[expect(
    clippy::duplicate_mod,
    reason = "private to interop, which others read"
)]
pub(crate) mod generated;
#[path = "interop/manifest.rs"]
#[expect(
    clippy::duplicate_mod,
    reason = "private to interop, which others read"
)]
#[expect(dead_code, reason = "others are compared in more ways")]
pub(crate) mod manifest;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{comes_true, done};
use crate::skip;

use manifest::Manifest;

/// Compressors with the arguments for a fast level.
const COMPRESSORS: [(&str, &[&str]); 6] = [
    ("gzip", &["-l", "1"]),
    ("lzo", &[]),
    ("lz4", &["-l", "1"]),
    ("xz", &["-l", "0"]),
    ("zstd", &["-l", "1"]),
    ("none", &[]),
];

/// A mount that goes with its guard.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let leave = |name| Command::new(name).arg("-u").arg(&self.0).status();
        let left = leave("fusermount3").or_else(|_| leave("fusermount"));
        assert!(
            left.is_ok_and(|status| status.success()),
            "{}",
            self.0.display()
        );
        // The program ends by itself after that; its image must not be removed before.
        let name = self.0.to_str().unwrap();
        let is_mounted = || {
            let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
            mounts
                .lines()
                .any(|line| line.split(' ').nth(4) == Some(name))
        };
        assert!(comes_true(|| !is_mounted()), "{name}");
    }
}

/// Mounts an image, unless the program was built without this compressor, which it then says.
fn mount(reader: &str, image: &Path, at: &Path) -> Option<Mounted> {
    let output = Command::new(reader).arg(image).arg(at).output().unwrap();
    if output.status.success() {
        return Some(Mounted(at.to_owned()));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("this version supports only"),
        "{reader}: {said}"
    );
    None
}

/// Everything that a reader shows of the generated tree, image by image.
///
/// Of xattrs it is only asked for some, in an image of their own: it shows `trusted.` as
/// `security.`, and cannot show empty ones, in images of mksquashfs too.
///
/// * `seen`: the part of a tree that the reader can show.
fn every_compressor(reader: &str, seen: fn(&Manifest) -> Manifest) {
    if skip::without_fuse() || skip::without_peer(reader) {
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let source = work.path().join("source");
    generated::write(&source);
    let expected = seen(&Manifest::of(&source).without_xattrs());
    let at = work.path().join("mount");
    std::fs::create_dir(&at).unwrap();
    let mut read = Vec::new();
    for (compressor, options) in COMPRESSORS {
        let image = work.path().join(compressor);
        build(
            &source,
            &image,
            &[&["-c", compressor, "--no-xattrs"], options].concat(),
        );
        if let Some(mounted) = mount(reader, &image, &at) {
            let found = seen(&Manifest::of(&mounted.0));
            expected.demand(&found, &format!("{reader}, {compressor}"));
            read.push(compressor);
        }
    }
    // No build of it is without zlib, which also stands for images without compression.
    for compressor in ["gzip", "none"] {
        assert!(read.contains(&compressor), "{reader} read {read:?}");
    }
    let image = work.path().join("xattrs");
    build(&source, &image, &["-c", "gzip", "-l", "1"]);
    let mounted = mount(reader, &image, &at).unwrap();
    for index in 0..40 {
        let name = format!("xattrs/file-{index}");
        for xattr in ["user.group", "user.long"] {
            let [expected, found] =
                [&source, &mounted.0].map(|root| value(&root.join(&name), xattr));
            assert!(expected == found, "{reader}, {xattr} of {name}");
        }
    }
}

fn build(source: &Path, image: &Path, options: &[&str]) {
    let args = [&["-q", "build"], options].concat();
    done(args.iter().map(Path::new).chain([source, image]));
}

fn value(path: &Path, xattr: &str) -> Vec<u8> {
    let mut value = vec![0; 4096];
    let len = rustix::fs::lgetxattr(path, xattr, &mut value).unwrap();
    value.truncate(len);
    value
}

/// It numbers files by their paths, so that the names of one file look like several.
#[test]
fn squashfuse_reads_every_image_alike() {
    every_compressor("squashfuse", Manifest::without_links);
}

#[test]
fn squashfuse_ll_reads_every_image_alike() {
    every_compressor("squashfuse_ll", Manifest::clone);
}
