//! Tar archives, places and ranges: the same for any threads and memory, and of damaged images an
//! error at worst.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use coldpress_format::Body;
use coldpress_image::{Error, FileBlock, Image, ReadLimits, TarOptions, Walker, walk, write_tar};

use crate::handmade;

/// More of an archive of a damaged image is not asked for.
const ARCHIVE_BYTES: u64 = 4 << 20;

fn options(threads: usize, memory_bytes: u64) -> TarOptions {
    TarOptions {
        paths: Vec::new(),
        keep_as_directory: false,
        root_becomes: None,
        xattrs: true,
        hard_links: true,
        sparse: true,
        limits: ReadLimits {
            threads: NonZeroUsize::new(threads).unwrap(),
            memory_bytes,
        },
    }
}

fn archive(image: &Image, options: &TarOptions, output: &mut dyn Write) -> Result<u64, Error> {
    let archived = write_tar(image, options, output, &mut |_| {}, &mut |bytes| {
        if bytes > ARCHIVE_BYTES {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(archived.bytes)
}

#[test]
fn an_archive_is_the_same_for_any_threads_and_memory() {
    let image = Image::new(Box::new(handmade::image(true).bytes)).unwrap();
    let mut first = Vec::new();
    let bytes = archive(&image, &options(1, 1 << 28), &mut first).unwrap();
    assert_eq!(bytes, first.len() as u64);
    assert!(first.len() > 4096 && first.ends_with(&[0; 1024]));
    for (threads, memory_bytes) in [(1, 0), (2, 1 << 14), (4, 1 << 28)] {
        let mut output = Vec::new();
        archive(&image, &options(threads, memory_bytes), &mut output).unwrap();
        assert!(output == first, "{threads} {memory_bytes}");
    }
}

#[test]
fn an_archive_that_cannot_be_written_says_so() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let image = Image::new(Box::new(handmade::image(true).bytes)).unwrap();
    let error = archive(&image, &options(2, 1 << 20), &mut Full).unwrap_err();
    let Error::Archive { source } = error else {
        panic!("{error}")
    };
    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn a_walker_visits_what_a_walk_visits() {
    let image = Image::new(Box::new(handmade::image(true).bytes)).unwrap();
    let mut expected = Vec::new();
    walk(&image, &mut |visited| {
        expected.push((visited.path.to_vec(), visited.at, visited.depth));
        Ok(())
    })
    .unwrap();
    for (start, start_at, start_depth) in expected.clone() {
        let mut walker = Walker::below(&image, &start, start_at).unwrap();
        let mut found = Vec::new();
        while let Some(visited) = walker.next_path().unwrap() {
            found.push((
                visited.path.to_vec(),
                visited.at,
                visited.depth + start_depth,
            ));
        }
        let prefix = start.strip_suffix(b"/").unwrap_or(&start);
        let below = |path: &[u8]| {
            let rest = path.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        let mut below = expected
            .clone()
            .into_iter()
            .filter(|(path, ..)| below(path));
        assert!(found.iter().cloned().eq(below.by_ref()), "{start:?}");
        assert!(walker.next_path().unwrap().is_none());
    }
    let mut walker = Walker::new(&image).unwrap();
    assert_eq!(walker.next_path().unwrap().unwrap().path, b"/");
    walker.skip();
    assert!(walker.is_last() && walker.next_path().unwrap().is_none());
}

/// Archives an image and asks where its files lie; what is wrong is an error.
fn look(bytes: Vec<u8>) {
    let Ok(image) = Image::new(Box::new(bytes)) else {
        return;
    };
    let _ = archive(&image, &options(1, 1 << 20), &mut io::sink());
    let _ = walk(&image, &mut |visited| {
        let _ = (image.inode_place(visited.at), image.is_extended(visited.at));
        match &visited.inode.body {
            Body::Directory(directory) => {
                let _ = image.listing_place(directory);
            }
            Body::File(_) => {
                let Ok(Some(file)) = &visited.file(&image) else {
                    return Ok(());
                };
                let limits = options(1, 0).limits;
                let visit = &mut |_: FileBlock| Ok::<_, Error>(());
                let _ = image.visit_range(file, 3000..9000, &limits, visit);
            }
            _ => {}
        }
        Ok(())
    });
}

#[test]
fn no_damage_panics_or_hangs() {
    for is_compressed in [false, true] {
        let handmade = handmade::image(is_compressed);
        let tables = usize::try_from(handmade.superblock.inode_table_start).unwrap();
        let end = usize::try_from(handmade.superblock.bytes_used).unwrap();
        for place in (0..96).chain(tables..end) {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = handmade.bytes.clone();
                bytes[place] ^= change;
                look(bytes);
            }
        }
    }
}
