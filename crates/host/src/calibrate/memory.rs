//! Memory: copies out of the page cache, and faults on it.

use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use super::calibration::MemoryFigures;
use super::direct::RandomBytes;
use super::fit::median;
use super::stopwatch::Stopwatch;
use crate::syscall::{self, Touched};
use crate::{Error, memory_file};

/// More than a processor's caches, as the files of a start are.
const FILE_BYTES: usize = 16 << 20;
/// Bytes of a read, as most programs ask for.
const READ_BYTES: usize = 128 << 10;
/// Rounds there are at least.
const ROUNDS_MIN: usize = 3;

/// Measures copies out of the page cache and faults on pages that are in it, with a file in memory,
/// whose pages the kernel handles as those of any other. Needs no privilege.
///
/// * `time`: about what it takes.
/// * `made_unix_ms`: when that is.
///
/// # Errors
///
/// [`Error::System`] if there are no 16 MiB.
pub fn measure_memory(time: Duration, made_unix_ms: u64) -> Result<MemoryFigures, Error> {
    let measured = measure(time, made_unix_ms).map_err(|source| Error::System {
        action: "measure memory with a file of 16 MiB in it",
        source,
    })?;
    measured.ok_or(Error::Unsupported {
        what: "a fault on a mapped file",
        advice: "measure on a system whose faults are counted (getrusage)",
    })
}

fn measure(time: Duration, made_unix_ms: u64) -> io::Result<Option<MemoryFigures>> {
    let file = memory_file().map_err(io::Error::other)?;
    let mut bytes = vec![0; READ_BYTES];
    let mut random = RandomBytes(1);
    let places = || (0..FILE_BYTES as u64).step_by(READ_BYTES);
    for place in places() {
        random.fill(&mut bytes);
        file.write_all_at(&bytes, place)?;
    }
    let (mut copies, mut faults, mut spans) = (Vec::new(), Vec::new(), Vec::new());
    let started = Instant::now();
    while copies.len() < ROUNDS_MIN || started.elapsed() < time {
        let copying = Stopwatch::start();
        for place in places() {
            file.read_exact_at(&mut bytes, place)?;
        }
        #[expect(clippy::cast_precision_loss, reason = "16 MiB")]
        copies.push(FILE_BYTES as f64 / copying.elapsed().on_processor_s);
        let Touched {
            pages,
            faults: count @ 1..,
            time_s,
        } = syscall::touch_pages(&file, FILE_BYTES)?
        else {
            continue;
        };
        #[expect(clippy::cast_precision_loss, reason = "some thousands")]
        let (pages, count) = (pages as f64, count as f64);
        faults.push(time_s / count);
        spans.push(pages / count);
    }
    let figures = || {
        Some(MemoryFigures {
            made_unix_ms,
            copy_bytes_per_s: median(&copies)?,
            fault_s: median(&faults)?,
            pages_per_fault: median(&spans)?,
        })
    };
    Ok(figures())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_a_speed() {
        let figures = measure_memory(Duration::ZERO, 7).unwrap();
        assert_eq!(figures.made_unix_ms, 7);
        assert!(figures.copy_bytes_per_s > 0.0 && figures.copy_bytes_per_s.is_finite());
        assert!(figures.fault_s > 0.0 && figures.fault_s.is_finite());
        assert!(figures.pages_per_fault >= 1.0, "{figures:?}");
    }
}
