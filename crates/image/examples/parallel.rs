//! Reads one file of an image in several threads, which share the image by reference:
//!
//! ```text
//! cargo run --release --example parallel -- IMAGE /usr/bin/python3 4
//! ```

use std::error::Error;
use std::path::Path;
use std::thread;
use std::time::Instant;

use coldpress_format::{Body, File};
use coldpress_image::Image;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [image, path, threads] = words.as_slice() else {
        return Err("parallel IMAGE PATH THREADS".into());
    };
    let image = Image::open(Path::new(image))?;
    let Some((_, inode)) = image.find(path.as_bytes())? else {
        return Err(format!("the image has no `{path}`").into());
    };
    let Body::File(file) = inode.body else {
        return Err(format!("`{path}` is no regular file").into());
    };
    let threads: u64 = threads.parse()?;
    let started = Instant::now();
    let read_bytes = read_in_parallel(&image, &file, threads.max(1))?;
    let seconds = started.elapsed().as_secs_f64();
    #[expect(clippy::print_stdout, reason = "it is a program of its own")]
    {
        println!("{read_bytes} bytes in {seconds:.3} s");
    }
    Ok(())
}

/// Each thread reads a range of whole blocks, so no block is decompressed twice.
fn read_in_parallel(
    image: &Image,
    file: &File,
    threads: u64,
) -> Result<u64, coldpress_image::Error> {
    let block_bytes = u64::from(image.superblock().block_size.bytes());
    let blocks = file.size_bytes.div_ceil(block_bytes);
    let share_bytes = blocks.div_ceil(threads) * block_bytes;
    thread::scope(|scope| {
        let readers: Vec<_> = (0..threads)
            .map(|number| {
                let start = number.saturating_mul(share_bytes);
                scope.spawn(move || read_range(image, file, start, share_bytes))
            })
            .collect();
        let results = readers.into_iter().map(|reader| {
            // A panic of a reader is one of this program.
            reader
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        results.sum()
    })
}

fn read_range(
    image: &Image,
    file: &File,
    start: u64,
    len_bytes: u64,
) -> Result<u64, coldpress_image::Error> {
    let mut buf = vec![0; 1 << 20];
    let mut done = 0;
    while done < len_bytes {
        let left = usize::try_from(len_bytes - done).unwrap_or(usize::MAX);
        let piece = buf.len().min(left);
        let read = image.read_at(file, start.saturating_add(done), &mut buf[..piece])?;
        if read == 0 {
            break;
        }
        done += read as u64;
    }
    Ok(done)
}
