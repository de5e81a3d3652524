//! The least time in which an image's blocks can be compressed: the compressor alone, on all
//! cores, with every block in memory and nothing written.
//!
//! ```text
//! compression-limit IMAGE LEVEL [THREADS]
//! ```
//!
//! Prints the seconds that the data and fragment blocks of IMAGE take to compress once with its
//! compressor at LEVEL (`-` for the default), and their bytes before and after.

use std::collections::BTreeMap;
use std::error::Error;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use coldpress_codec::{Encoder, Settings};
use coldpress_image::{Image, StoredBlock};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, level, threads @ ..] = arguments.as_slice() else {
        return Err("usage: compression-limit IMAGE LEVEL [THREADS]".into());
    };
    let threads = match threads.first() {
        Some(threads) => threads.parse()?,
        None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    let image = Image::open(Path::new(path))?;
    let level = (level != "-").then(|| level.parse()).transpose()?;
    let settings = Settings::new(image.superblock().compressor, level)?;
    let blocks = blocks(&image)?;

    let (next, stored_bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
    let block_size = image.superblock().block_size;
    let work = || -> Result<(), coldpress_codec::Error> {
        let mut encoder = Encoder::new(&settings, block_size)?;
        let mut output = Vec::new();
        while let Some(block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let len = if encoder.compress(block, &mut output)? {
                output.len()
            } else {
                block.len()
            };
            stored_bytes.fetch_add(len as u64, Ordering::Relaxed);
        }
        Ok(())
    };
    let started = Instant::now();
    let results = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.collect::<Vec<_>>()
    });
    let seconds = started.elapsed().as_secs_f64();
    for result in results {
        result.map_err(|_| "a thread panicked")??;
    }
    let content_bytes: usize = blocks.iter().map(Vec::len).sum();
    report(seconds, content_bytes, stored_bytes.into_inner());
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a program of its own")]
fn report(seconds: f64, content_bytes: usize, stored_bytes: u64) {
    println!("{seconds:.3} s {content_bytes} bytes {stored_bytes} stored");
}

/// The content of every block that the image stores, each once, in the order of the image.
fn blocks(image: &Image) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let mut places: BTreeMap<u64, StoredBlock> = BTreeMap::new();
    coldpress_image::walk(image, &mut |visited| {
        if let Some(file) = &visited.file(image)? {
            let fragment = file.tail.and_then(|tail| image.stored_fragment(tail));
            let blocks = image.stored_blocks(file).chain(fragment);
            let blocks = blocks.filter(|block| !block.word.is_sparse());
            places.extend(blocks.map(|block| (block.start, block)));
        }
        Ok(())
    })?;
    let mut stored = Vec::new();
    let read = |block: StoredBlock| {
        let mut content = Vec::new();
        image.read_stored(&block, &mut stored, &mut content)?;
        Ok(content)
    };
    places.into_values().map(read).collect()
}
