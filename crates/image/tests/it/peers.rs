//! Images that other programs made.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use coldpress_image::{ExtractOptions, Image, Problem, Severity, check, extract};

use crate::compare::{assert_same_as_source, assert_same_directories};
use crate::tools::{have, have_root, mksquashfs};
use crate::{source_tree, tools};

const CONTINUE: ControlFlow<()> = ControlFlow::Continue(());

fn assert_sound(image: &Image, what: &str) {
    let problems = check(image, &mut |_| CONTINUE).unwrap();
    let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{what}: {texts:#?}");
}

/// Walks, checks and extracts an image of `source`.
fn assert_reads_as(source: &Path, image_path: &Path, scratch: &Path, what: &str) {
    let image = Image::open(image_path).unwrap();
    assert_same_as_source(&image, source, true);
    assert_sound(&image, what);
    let destination = scratch.join("extracted");
    let extracted = extract(
        &image,
        &destination,
        &ExtractOptions::default(),
        &mut |_| CONTINUE,
    )
    .unwrap();
    let lacking: Vec<_> = extracted
        .not_restored
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(lacking.is_empty(), "{what}: {lacking:?}");
    assert_same_directories(source, &destination);
    fs::remove_dir_all(&destination).unwrap();
}

#[test]
fn every_compressor_and_block_size_of_mksquashfs_reads_back() {
    if !have("mksquashfs", "peers") || !have_root() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("source");
    fs::create_dir(&source).unwrap();
    source_tree::make(&source);
    for compressor in ["gzip", "lzo", "xz", "lz4", "zstd"] {
        for block_size in ["4K", "128K", "1M"] {
            let image = scratch.path().join("image");
            mksquashfs(&source, &image, &["-comp", compressor, "-b", block_size]);
            let what = format!("{compressor} {block_size}");
            assert_reads_as(&source, &image, scratch.path(), &what);
        }
    }
}

#[test]
fn every_way_to_store_of_mksquashfs_reads_back() {
    if !have("mksquashfs", "peers") || !have_root() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("source");
    fs::create_dir(&source).unwrap();
    source_tree::make(&source);
    for arguments in [
        &["-noI", "-noD", "-noF", "-noX", "-noId"][..],
        &["-always-use-fragments", "-comp", "zstd"],
        &["-no-fragments", "-comp", "lz4", "-Xhc"],
        &["-no-exports", "-no-duplicates"],
        &[
            "-comp",
            "xz",
            "-Xbcj",
            "x86",
            "-Xdict-size",
            "8192",
            "-b",
            "8K",
        ],
        &[
            "-comp",
            "gzip",
            "-Xcompression-level",
            "1",
            "-Xwindow-size",
            "9",
        ],
    ] {
        let image = scratch.path().join("image");
        mksquashfs(&source, &image, arguments);
        assert_reads_as(&source, &image, scratch.path(), &format!("{arguments:?}"));
    }
}

#[test]
fn an_image_of_an_empty_directory_reads_back() {
    if !have("mksquashfs", "peers") {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("source");
    fs::create_dir(&source).unwrap();
    let image = scratch.path().join("image");
    mksquashfs(&source, &image, &["-no-xattrs"]);
    let image = Image::open(&image).unwrap();
    assert_sound(&image, "empty");
    assert_eq!(image.root().unwrap().number, 1);
    assert!(image.find(b"/nothing").unwrap().is_none());
    assert!(image.find(b"/").unwrap().is_some());
}

#[test]
fn an_image_of_gensquashfs_reads_back() {
    if !tools::have("gensquashfs", "peers") || !have_root() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("source");
    fs::create_dir(&source).unwrap();
    source_tree::make(&source);
    for arguments in [
        &["-c", "zstd", "-e"][..],
        &["-c", "xz"],
        &["-c", "gzip", "-T"],
    ] {
        let image = scratch.path().join("image");
        let output = Command::new("gensquashfs")
            // It writes hard links as several files, and takes the attributes of the root from its
            // defaults, not from the source.
            .args(["-d", "uid=0,gid=0,mode=0755,mtime=1000000000"])
            .args(["-k", "-x", "-f", "-q", "-D"])
            .args([&source, &image])
            .args(arguments)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        let image = Image::open(&image).unwrap();
        assert_same_as_source(&image, &source, false);
        assert_sound(&image, &format!("{arguments:?}"));
    }
}

/// Unusual things are told, but nothing is called wrong.
#[test]
fn images_of_tar2sqfs_have_no_errors() {
    if !tools::have("tar2sqfs", "peers") || !have_root() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let at = |name: &str| scratch.path().join(name);
    fs::create_dir(at("source")).unwrap();
    source_tree::make(&at("source"));
    let packed = Command::new("tar")
        .args(["--xattrs", "-cf"])
        .arg(at("tar"))
        .arg("-C")
        .args([&at("source"), Path::new(".")])
        .output()
        .unwrap();
    assert!(packed.status.success(), "{packed:?}");
    for arguments in [
        &["-c", "zstd", "-e"][..],
        &["-c", "xz", "-b", "4096"],
        &["-c", "gzip", "-T", "-x"],
        &["-c", "lz4", "-B", "4096"],
    ] {
        let made = Command::new("tar2sqfs")
            .args(["-f", "-q"])
            .args(arguments)
            .arg(at("image"))
            .stdin(fs::File::open(at("tar")).unwrap())
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let problems = check(&Image::open(&at("image")).unwrap(), &mut |_| CONTINUE).unwrap();
        let is_error = |problem: &&Problem| problem.severity == Severity::Error;
        let errors: Vec<_> = problems.iter().filter(is_error).collect();
        assert!(errors.is_empty(), "{arguments:?}: {errors:#?}");
    }
}
