//! Extents as the kernel tells them, beside what `filefrag` says.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use coldpress_host::{Error, Extents, Place, for_each_extent};
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};

use crate::disk::{Disk, PIECE_BYTES, extents, run};
use crate::stage::can_run;

#[test]
fn a_file_in_memory_has_no_extents_to_tell_of() {
    let file = File::from(memfd_create("it", MemfdFlags::CLOEXEC).unwrap());
    file.write_all_at(b"x", 0).unwrap();
    let error = Extents::of(&file, Path::new("it")).unwrap_err();
    assert!(matches!(error, Error::NoExtents { .. }), "{error}");
}

#[test]
fn as_many_are_counted_as_filefrag_finds() {
    let has_filefrag = Command::new("filefrag").arg("-V").output().is_ok();
    if !can_run("peers", "filefrag", has_filefrag) {
        return;
    }
    let Some(disk) = Disk::new() else {
        return;
    };
    // The kernel tells 512 at a time.
    for (name, pieces) in [("one", 1), ("some", 40), ("many", 1300)] {
        let (path, _) = disk.in_pieces(name, pieces);
        let found = run(Command::new("filefrag").arg(&path));
        let count = extents(&path).count;
        let told = format!(
            ": {count} extent{} found\n",
            if count == 1 { "" } else { "s" }
        );
        assert!(found.ends_with(&told), "{found} {count}");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn holes_and_space_that_is_only_reserved_are_told() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let piece = PIECE_BYTES as u64;
    let path = disk.at("file");
    let file = File::create_new(&path).unwrap();
    file.write_all_at(&vec![1; PIECE_BYTES], 2 * piece).unwrap();
    let keep = FallocateFlags::KEEP_SIZE;
    fallocate(&file, keep, 3 * piece, 2 * piece).unwrap();
    let found = extents(&path);
    assert_eq!(found.size_bytes, 3 * piece);
    assert_eq!(found.hole_bytes, 2 * piece);
    assert_eq!(found.unwritten_bytes, 2 * piece);
    assert_eq!(found.allocated_bytes, 3 * piece);
    let mut places = Vec::new();
    for_each_extent(&File::open(&path).unwrap(), &path, &mut |extent| {
        places.push((extent.offset, extent.is_unwritten, extent.place));
    })
    .unwrap();
    assert_eq!((places[0].0, places[0].1), (2 * piece, false), "{places:?}");
    assert!(
        places
            .iter()
            .all(|(.., place)| matches!(place, Place::Disk(1..)))
    );
    let empty = disk.at("empty");
    File::create_new(&empty).unwrap();
    assert_eq!(extents(&empty), Extents::default());
}
