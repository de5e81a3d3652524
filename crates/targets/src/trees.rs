//! What becomes a tree: of files, when an image is extracted, or of an image, when one is built.

use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use coldpress_codec::Settings;
use coldpress_delta::regions;
use coldpress_format::{BlockSize, Body};
use coldpress_image::{Error, ExtractOptions, Image, extract, walk};
use coldpress_writer::{Input, Source, SourceOptions, TarDefaults, TarInput, TarOrigin, gather};
use tempfile::TempDir;

use crate::built::{Packing, build};

/// What extraction may write: content bytes, names, and bytes of a path.
const CONTENT_MAX_BYTES: u64 = 1 << 20;
const NAMES_MAX: u32 = 1000;
/// What the file beside the destination holds.
const CANARY: &[u8] = b"nobody writes here";

/// Extracts an image beside a file that must stay as it is.
pub(crate) fn extraction(data: &[u8]) {
    let Ok(image) = Image::new(Box::new(data.to_vec())) else {
        return;
    };
    let (mut names, mut bytes) = (0, 0_u64);
    let counted = walk(&image, &mut |visited| {
        names += 1;
        if let Body::File(file) = &visited.inode.body {
            bytes = bytes.saturating_add(file.size_bytes);
        }
        if names > NAMES_MAX || bytes > CONTENT_MAX_BYTES {
            return Err(Error::Interrupted);
        }
        Ok(())
    });
    if matches!(counted, Err(Error::Interrupted)) {
        return;
    }
    let stage = stage();
    fs::write(stage.path().join("canary"), CANARY).expect("the stage is writable");
    let out = stage.path().join("out");
    let options = ExtractOptions {
        threads: NonZeroUsize::MIN,
        memory_bytes: 1 << 20,
        overwrite: true,
        ..ExtractOptions::default()
    };
    // Twice: what the image put there must not lead the second time.
    for _ in 0..2 {
        let _ = extract(&image, &out, &options, &mut |_| ControlFlow::Continue(()));
    }
    let canary = fs::read(stage.path().join("canary")).expect("the canary is there");
    assert_eq!(canary, CANARY, "the canary has changed");
    clear(&out);
    let left = fs::read_dir(stage.path()).expect("the stage is readable");
    assert_eq!(left.count(), 1, "something stands beside the destination");
}

/// Builds an image of an image: with blocks that are copied, then with others.
pub(crate) fn rebuild(data: &[u8]) {
    let Ok(image) = Image::new(Box::new(data.to_vec())) else {
        return;
    };
    let superblock = image.superblock();
    let settings = Settings::new(superblock.compressor, None).ok();
    let stage = stage();
    let path = stage.path().join("image");
    fs::write(&path, data).expect("the stage is writable");
    for (is_copied, packing) in [
        (true, (settings, superblock.block_size)),
        (false, (None, BlockSize::MIN)),
    ] {
        let path = path.clone();
        let input = Input::Image {
            path,
            offset_bytes: 0,
            is_copied,
        };
        if let Ok(source) = gathered(&input) {
            build_in(&stage, source, packing, None);
        }
    }
}

/// Builds an image of an image that keeps what that has, and compares the two block by block.
pub(crate) fn releases(data: &[u8]) {
    let open = || Image::new(Box::new(data.to_vec())).ok();
    let (Some(older), Some(again)) = (open(), open()) else {
        return;
    };
    let superblock = older.superblock();
    let settings = Settings::new(superblock.compressor, None).ok();
    let packing = (settings, superblock.block_size);
    let stage = stage();
    let path = stage.path().join("image");
    fs::write(&path, data).expect("the stage is writable");
    let input = Input::Image {
        path,
        offset_bytes: 0,
        is_copied: false,
    };
    let Ok(source) = gathered(&input) else {
        return;
    };
    let output = build_in(&stage, source, packing, Some([older, again]));
    let mut go_on = || ControlFlow::Continue(());
    let Some(older) = open() else { return };
    let _ = regions(&older, &older, data.len() as u64, &mut go_on);
    if let Ok(new) = Image::new(Box::new(output)) {
        let new_bytes = new.superblock().bytes_used;
        let found = regions(&older, &new, new_bytes, &mut go_on);
        let end = found.iter().flatten().last().map(|region| region.bytes.end);
        assert!(found.is_err() || end == Some(new_bytes), "{found:?}");
    }
}

/// Builds an image of a tar archive.
pub(crate) fn archive(data: &[u8]) {
    let stage = stage();
    let path = stage.path().join("archive");
    fs::write(&path, data).expect("the stage is writable");
    let input = Input::Tar(TarInput {
        origin: TarOrigin::File(path),
        spool_directory: stage.path().to_path_buf(),
        ignore_zeros: data.len() % 2 == 1,
        defaults: TarDefaults::default(),
    });
    if let Ok(source) = gathered(&input) {
        build_in(&stage, source, (None, BlockSize::MIN), None);
    }
}

fn gathered(input: &Input) -> Result<Source, coldpress_writer::Error> {
    let options = SourceOptions::default();
    let inputs = std::slice::from_ref(input);
    gather(inputs, &options, &mut |_| ControlFlow::Continue(()))
}

fn build_in(stage: &TempDir, source: Source, packing: Packing, older: Option<[Image; 2]>) -> File {
    let output = tempfile::tempfile_in(stage.path()).expect("the stage is writable");
    build(source, &output, packing, older);
    output
}

fn stage() -> TempDir {
    tempfile::tempdir().expect("there is a place for temporary files")
}

/// Removes a directory, whatever the modes in it, if it is there.
fn clear(directory: &Path) {
    let Ok(metadata) = fs::symlink_metadata(directory) else {
        return;
    };
    assert!(
        metadata.is_dir(),
        "the destination is no directory any more"
    );
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700)).expect("it is ours");
    for entry in fs::read_dir(directory).expect("it is ours") {
        let entry = entry.expect("it is ours");
        if entry.file_type().expect("it is ours").is_dir() {
            clear(&entry.path());
        } else {
            fs::remove_file(entry.path()).expect("it is ours");
        }
    }
    fs::remove_dir(directory).expect("it is empty");
}
