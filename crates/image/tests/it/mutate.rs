//! Images with every structural byte changed: whatever is read, nothing panics and all ends.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use coldpress_image::{Error, ExtractOptions, FileBlock, Image, MetadataMap, check, extract, walk};

use crate::handmade;
use crate::tools::{have, mksquashfs};

/// No small image, however broken, may take longer than this.
const PATIENCE: Duration = Duration::from_secs(5);
/// One damaged image of so many is extracted too.
const EXTRACT_EVERY: u32 = 16;
/// Images with several damages.
const RANDOM_DAMAGES: usize = 2000;
/// Bytes that are read of each file.
const READ_BYTES: u64 = 1 << 20;

/// Opens, walks, reads and checks; returns whether all that went without an error.
fn exercise(bytes: Vec<u8>) -> bool {
    let Ok(image) = Image::new(Box::new(bytes)) else {
        return false;
    };
    let walked = walk(&image, &mut |visited| {
        // What goes wrong here must not keep the walk from going on.
        let _ = (image.owner(visited.inode), image.xattrs(visited.inode));
        let _ = (
            image.exported(visited.inode.number),
            image.find(visited.path),
        );
        if let Ok(Some(file)) = &visited.file(&image) {
            let mut buf = [0; 5000];
            let _ = image.read_at(file, 3000, &mut buf);
            let _ = image.read_at(file, file.size_bytes.saturating_sub(10), &mut buf);
            let mut left = READ_BYTES;
            let _ = image.for_each_block::<Error>(file, &mut |block| {
                let len = match block {
                    FileBlock::Data(data) => data.len() as u64,
                    FileBlock::Hole(len) => len,
                };
                left = left.checked_sub(len).ok_or(Error::Interrupted)?;
                Ok(())
            });
        }
        Ok(())
    });
    let _ = MetadataMap::new(&image);
    let problems = check(&image, &mut |_| ControlFlow::Continue(())).unwrap();
    for problem in &problems {
        assert!(!problem.to_string().is_empty());
    }
    assert!(
        walked.is_ok() || !problems.is_empty(),
        "the walk fails but the check does not: {walked:?}"
    );
    walked.is_ok() && problems.is_empty()
}

/// A change of the bytes from some place on.
type Change = fn(&mut [u8]);

const CHANGES: [Change; 6] = [
    |rest| rest[0] = 0,
    |rest| rest[0] = 0xff,
    |rest| rest[0] ^= 0x80,
    |rest| rest[0] = rest[0].wrapping_add(1),
    |rest| rest.iter_mut().take(2).for_each(|byte| *byte = 0xff),
    |rest| rest.iter_mut().take(4).for_each(|byte| *byte = 0xff),
];

/// An image to damage.
struct Victim {
    what: String,
    bytes: Vec<u8>,
    /// Bytes of the superblock and the tables, in that order.
    places: Vec<usize>,
    scratch: tempfile::TempDir,
    tried: u32,
    unnoticed: u32,
}

impl Victim {
    fn new(bytes: Vec<u8>, what: String) -> Self {
        let word = |at: usize| {
            let field = bytes[at..at + 8].try_into().unwrap();
            usize::try_from(u64::from_le_bytes(field)).unwrap()
        };
        let (bytes_used, tables) = (word(40), word(64));
        assert!(exercise(bytes.clone()), "{what} is sound");
        Self {
            what,
            places: (0..96).chain(tables..bytes_used).collect(),
            bytes,
            scratch: tempfile::tempdir().unwrap(),
            tried: 0,
            unnoticed: 0,
        }
    }

    fn attempt(&mut self, damages: &[(usize, Change)]) {
        let mut broken = self.bytes.clone();
        for (place, change) in damages {
            change(&mut broken[self.places[*place]..]);
        }
        if broken == self.bytes {
            return;
        }
        let start = Instant::now();
        self.tried += 1;
        // Extraction takes longer than all the rest.
        if self.tried.is_multiple_of(EXTRACT_EVERY) {
            self.extract(broken.clone());
        }
        self.unnoticed += u32::from(exercise(broken));
        let (time, places) = (start.elapsed(), damages.iter().map(|(place, _)| place));
        let places: Vec<_> = places.collect();
        assert!(
            time < PATIENCE,
            "{}: damage at {places:?} takes {time:?}",
            self.what
        );
    }

    /// Extracts into a directory, beside which nothing may appear.
    fn extract(&self, bytes: Vec<u8>) {
        let Ok(image) = Image::new(Box::new(bytes)) else {
            return;
        };
        let to = self.scratch.path().join("to");
        let _ = extract(&image, &to, &ExtractOptions::default(), &mut |_| {
            ControlFlow::Continue(())
        });
        remove(&to);
        assert_eq!(fs::read_dir(self.scratch.path()).unwrap().count(), 0);
    }
}

/// Removes a directory, whatever the modes in it.
fn remove(directory: &Path) {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700)).unwrap();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            remove(&entry.path());
        } else {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    fs::remove_dir(directory).unwrap();
}

/// Changes each byte of the superblock and the tables in several ways, then some at once.
fn mutate(bytes: Vec<u8>, what: String) {
    let mut victim = Victim::new(bytes, what);
    for place in 0..victim.places.len() {
        for change in CHANGES {
            victim.attempt(&[(place, change)]);
        }
    }
    // Modes, times and names may be anything; most bytes may not.
    let (unnoticed, tried) = (victim.unnoticed, victim.tried);
    assert!(
        unnoticed * 2 < tried,
        "{}: {unnoticed} of {tried} not noticed",
        victim.what
    );
    let random = crate::source_tree::noise(7, 10 * RANDOM_DAMAGES);
    for numbers in random.chunks_exact(10) {
        let damage = |at: usize| {
            let place = usize::from(u16::from_le_bytes([numbers[at], numbers[at + 1]]));
            let change = CHANGES[usize::from(numbers[9 - at / 2]) % CHANGES.len()];
            (place % victim.places.len(), change)
        };
        let damages = [damage(0), damage(2), damage(4)];
        victim.attempt(&damages);
    }
}

#[test]
fn no_damage_to_a_stored_image_panics_or_hangs() {
    mutate(handmade::image(false).bytes, "stored".to_owned());
}

#[test]
fn no_damage_to_a_compressed_image_panics_or_hangs() {
    mutate(handmade::image(true).bytes, "compressed".to_owned());
}

#[test]
fn no_damage_to_an_image_of_mksquashfs_panics_or_hangs() {
    if !have("mksquashfs", "peers") {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("source");
    fs::create_dir_all(source.join("a/b")).unwrap();
    fs::write(source.join("a/file"), crate::source_tree::text(1, 10_000)).unwrap();
    fs::write(source.join("a/b/small"), b"small").unwrap();
    std::os::unix::fs::symlink("a/file", source.join("link")).unwrap();
    let image = scratch.path().join("image");
    for arguments in [
        &["-b", "4K", "-noI", "-noD", "-noF", "-noX", "-noId"][..],
        &["-b", "4K", "-comp", "zstd"],
    ] {
        mksquashfs(&source, &image, arguments);
        mutate(fs::read(&image).unwrap(), format!("{arguments:?}"));
    }
}

#[test]
fn an_image_cut_short_anywhere_does_not_open() {
    let handmade = handmade::image(true);
    let end = usize::try_from(handmade.superblock.bytes_used).unwrap();
    for len in (0..96).chain((96..end).step_by(7)).chain([end - 1]) {
        let cut = handmade.bytes[..len].to_vec();
        assert!(Image::new(Box::new(cut)).is_err(), "{len}");
    }
    assert!(Image::new(Box::new(handmade.bytes[..end].to_vec())).is_ok());
}
