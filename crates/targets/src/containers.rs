//! What becomes of container images: documents that lead to layers, and layers on top of each
//! other.

use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;

use coldpress_container::{Means, Reference, open};
use coldpress_format::BlockSize;
use coldpress_image::{find_images, read_sif};
use coldpress_retrofit::{AppImage, IsoImage, SifImage, zsync};
use coldpress_snap::{Metadata, Surroundings};
use coldpress_writer::{
    Digest, Input, Layer, LayerKind, LayersInput, SourceOptions, TarDefaults, gather,
};

use crate::built::build;

/// What stands between the parts of an input.
const BETWEEN: &[u8] = b"\n--next--\n";
/// Parts of an input at most: more say nothing that these cannot.
const PARTS_MAX: usize = 10;

/// Reads the table of a SIF container, and looks for images in it.
pub(crate) fn sif(data: &[u8]) {
    let source = data.to_vec();
    if let Ok(Some(container)) = read_sif(&source)
        && container.damage.is_none()
    {
        for descriptor in &container.descriptors {
            let end = descriptor.end();
            assert!(end.is_some_and(|end| end <= data.len() as u64));
        }
    }
    if let Ok(Some(container)) = SifImage::open(&source) {
        let image = container.image();
        for new_bytes in [4096, image.end - image.start, 1 << 40] {
            let replaced = container.replacement(new_bytes);
            let replaced = replaced.expect("a container that was read is replaced");
            assert!(replaced.moved.end <= data.len() as u64);
            assert!(replaced.moved_to >= image.start.saturating_add(new_bytes));
        }
    }
    for start in find_images(&source).expect("bytes in memory are read") {
        assert!(start < data.len() as u64);
    }
}

/// Reads an AppImage, and replaces its image by itself.
pub(crate) fn app_image(data: &[u8]) {
    let source = data.to_vec();
    let Ok(Some(read)) = AppImage::open(&source) else {
        return;
    };
    let mut new = read.head();
    let start = usize::try_from(read.image().start).expect("it is in memory");
    assert_eq!(new.len(), start);
    new.extend_from_slice(&data[start..]);
    if let Some((place, digest)) = read.digest(&new).expect("bytes in memory are read") {
        let place = usize::try_from(place).expect("it is in memory");
        new[place..place + digest.len()].copy_from_slice(&digest);
    }
    let again = AppImage::open(&new)
        .expect("it is as it was")
        .expect("it is one");
    assert_eq!(again.image(), read.image());
    assert!(!again.is_signed());
    assert_eq!(again.update_information(), read.update_information());
    zsync(&new, b"name", b"url").expect("bytes in memory are read");
}

/// Reads a live medium, and looks for the image in it.
pub(crate) fn iso(data: &[u8]) {
    let source = data.to_vec();
    for wanted in [None, Some(&b"live/filesystem.squashfs"[..])] {
        if let Ok(Some(medium)) = IsoImage::open(&source, wanted) {
            assert!(medium.image().end <= data.len() as u64);
        }
    }
}

/// Reads what a snap says of itself, and starts each of its apps in words.
pub(crate) fn snap(data: &[u8]) {
    let Ok(metadata) = Metadata::parse(data) else {
        return;
    };
    let around = Surroundings {
        data: "/data",
        architecture: "amd64",
        variable: &|name| (name == "PATH").then(|| "/bin:$PATH".to_owned()),
    };
    for app in metadata.apps.keys() {
        let started = metadata.start(app, &around);
        assert!(!matches!(started, Ok(None)), "{app} is one of the apps");
        let _ = metadata.environment(Some(app), &around);
    }
}

/// Opens the image of a layout. The first part is its index, the others are blobs; in each part,
/// `@1` to `@9` stand for the digests of later parts, and `#1` to `#9` for their lengths.
pub(crate) fn container(data: &[u8]) {
    if let Ok(text) = str::from_utf8(data) {
        let _ = Reference::parse(text);
    }
    let stage = tempfile::tempdir().expect("there is a place for temporary files");
    let blobs = stage.path().join("blobs/sha256");
    fs::create_dir_all(&blobs).expect("the stage is writable");
    let mut names: Vec<(Vec<u8>, String)> = Vec::new();
    for (number, part) in parts(data).into_iter().enumerate().rev() {
        let mut part = part.to_vec();
        for (from, to) in &names {
            part = replaced(&part, from, to.as_bytes());
        }
        let digest = Digest::sha256_of(&part);
        let path = if number == 0 {
            stage.path().join("index.json")
        } else {
            blobs.join(digest.hex())
        };
        fs::write(path, &part).expect("the stage is writable");
        names.push((format!("@{number}").into_bytes(), digest.to_string()));
        names.push((format!("#{number}").into_bytes(), part.len().to_string()));
    }
    let text = format!("oci:{}", stage.path().display());
    let Some(Ok(reference)) = Reference::parse(&text) else {
        return;
    };
    let means = Means {
        platform: None,
        spool_directory: stage.path().to_path_buf(),
    };
    let image = open(
        &reference,
        &text,
        &means,
        &mut |_| ControlFlow::Continue(()),
    );
    if let Ok(layers) = image.map(|image| image.layers()) {
        merge(&layers);
    }
}

/// Puts layers on top of each other, and builds an image of them.
pub(crate) fn layers(data: &[u8]) {
    let layer = |part: &[u8]| Layer {
        kind: if part.starts_with(b"hsqs") {
            LayerKind::SquashFs
        } else {
            LayerKind::Tar
        },
        name: "layer".into(),
        size_bytes: part.len() as u64,
        digest: None,
        diff_id: None,
        bytes: Arc::new(part.to_vec()),
        file: None,
        index: None,
    };
    let layers: Vec<_> = parts(data).into_iter().map(layer).collect();
    merge(&layers);
}

fn merge(layers: &[Layer]) {
    for follows_symlinks in [false, true] {
        let input = Input::Layers(LayersInput {
            layers: layers.to_vec(),
            spool_directory: std::env::temp_dir(),
            defaults: TarDefaults::default(),
            follows_symlinks,
        });
        let options = SourceOptions::default();
        let merged = gather(&[input], &options, &mut |_| ControlFlow::Continue(()));
        if let Ok(source) = merged {
            let output = tempfile::tempfile().expect("there is a place for temporary files");
            build(source, &output, (None, BlockSize::MIN), None);
        }
    }
}

fn parts(mut data: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    while parts.len() + 1 < PARTS_MAX {
        let Some(at) = data.windows(BETWEEN.len()).position(|it| it == BETWEEN) else {
            break;
        };
        parts.push(&data[..at]);
        data = &data[at + BETWEEN.len()..];
    }
    parts.push(data);
    parts
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(from.len()).position(|it| it == from) {
        result.extend_from_slice(&rest[..at]);
        result.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    result.extend_from_slice(rest);
    result
}
