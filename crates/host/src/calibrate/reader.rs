//! The reader of images: the kernel, which is given samples in memory to mount.
//!
//! A block is filled by reading one byte of it, as a fault does: the thread that reads it
//! decompresses it in the kernel and fills all its pages, so the time of that thread on a processor
//! is that of the block. The loop device counts what was read for that; what submitting such reads
//! takes is measured with the device itself, and subtracted.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

use rustix::fs::{Advice, Mode, OFlags, fadvise, openat};

use super::calibration::ReaderFigures;
use super::direct::{Direct, RandomBytes, Room};
use super::fit::{Line, Pass, least};
use super::lookup::look_up;
use super::rounds::Rounds;
use super::sample::Sample;
use super::stopwatch::{Elapsed, Stopwatch};
use crate::trial::{mount, open_squashfs};
use crate::{Counters, Error, LoopDevice, path_of_open, resident_pages};

/// Sizes of the reads by which a loop device is measured.
const READ_BYTES: [usize; 4] = [4 << 10, 16 << 10, 128 << 10, 1 << 20];
/// Reads of each size in a round.
const READS: u32 = 8;
/// The block size at which samples are read by several threads as well: the most common one.
const TOGETHER_BLOCK_BYTES: u32 = 128 << 10;

/// Measures the kernel's reader with samples that are mounted where nobody sees them, each cold
/// again for each pass.
///
/// * `samples`: stored ones of at least two block sizes, and compressed ones of the same.
/// * `threads`: of the passes with several.
/// * `time`: about what it takes, see [`Rounds`].
/// * `made_unix_ms`: when that is.
/// * `stop`: asked before each pass; ends the measurement.
///
/// # Errors
///
/// [`Error::Io`] or [`Error::System`] without root, loop devices or `SquashFS`;
/// [`Error::NotMeasured`] if samples are never cold, or none is stored; [`Error::Stopped`].
pub fn measure_reader(
    samples: &[Sample<'_>],
    threads: u32,
    time: Duration,
    made_unix_ms: u64,
    stop: &mut dyn FnMut() -> bool,
) -> Result<ReaderFigures, Error> {
    let mut measured = Measured::default();
    let mut rounds = Rounds::of(time);
    while rounds.begin(|| measured.is_disturbed(samples)) {
        for (index, sample) in samples.iter().enumerate() {
            if stop() {
                return Err(Error::Stopped);
            }
            measured.fill(index, sample, 1)?;
            if threads > 1 && sample.block_bytes == TOGETHER_BLOCK_BYTES {
                measured.fill(index, sample, threads)?;
            }
            if sample.compressor.is_none() {
                measured.look_up(sample)?;
            }
        }
    }
    measured.figures(samples, made_unix_ms)
}

/// A pass, as it was.
#[derive(Debug, Clone, Copy)]
struct Filled {
    sample: usize,
    threads: u32,
    elapsed: Elapsed,
    read: Counters,
}

#[derive(Debug, Default)]
struct Measured {
    filled: Vec<Filled>,
    /// Time on a processor and reads of all lookups, and how many these are.
    looked_up: Vec<(f64, Counters, u32)>,
    /// Bytes of reads of loop devices, and what they take on a processor: the mean of a round.
    reads: Vec<(usize, f64)>,
}

impl Measured {
    /// Looks up names, and reads the device of the sample besides.
    fn look_up(&mut self, sample: &Sample<'_>) -> Result<(), Error> {
        let mounted = Mounted::new(sample)?;
        let before = mounted.device.counters()?;
        let (time_s, count) = look_up(&mounted.root).map_err(|source| Error::System {
            action: "look up names of a sample",
            source,
        })?;
        let read = since(before, mounted.device.counters()?);
        self.looked_up.push((time_s, read, count));
        self.read_device(&mounted.device)
    }

    fn fill(&mut self, index: usize, sample: &Sample<'_>, threads: u32) -> Result<(), Error> {
        let mounted = Mounted::new(sample)?;
        let data = mounted.data()?;
        // Before Linux 6.5 nobody tells; it was mounted just now.
        if resident_pages(&data).unwrap_or(0) > 0 {
            return Ok(());
        }
        let before = mounted.device.counters()?;
        let elapsed = fill(&data, sample, threads).map_err(|source| Error::System {
            action: "read a sample",
            source,
        })?;
        let read = since(before, mounted.device.counters()?);
        self.filled.push(Filled {
            sample: index,
            threads,
            elapsed,
            read,
        });
        Ok(())
    }

    fn read_device(&mut self, device: &LoopDevice) -> Result<(), Error> {
        let fail = |error| Error::io("read", device.path())(error);
        let direct = Direct::open(device.path()).map_err(fail)?;
        let mut random = RandomBytes(direct.size_bytes());
        for len in READ_BYTES {
            let mut room = Room::new(len);
            let mut sum_s = 0.0;
            for _ in 0..READS {
                let elapsed = direct.read_anywhere(&mut room, &mut random).map_err(fail)?;
                sum_s += elapsed.on_processor_s;
            }
            self.reads.push((len, sum_s / f64::from(READS)));
        }
        Ok(())
    }

    fn is_disturbed(&self, samples: &[Sample<'_>]) -> bool {
        let figures = self.figures(samples, 0);
        figures.is_ok_and(|figures| !figures.disturbed(samples).is_empty())
    }

    fn figures(&self, samples: &[Sample<'_>], made_unix_ms: u64) -> Result<ReaderFigures, Error> {
        let reads = self.line_of_reads();
        let passes: Vec<Pass> = self
            .filled
            .iter()
            .filter_map(|filled| {
                let blocks = as_f64(samples.get(filled.sample)?.blocks().max(1));
                let own_s = filled.elapsed.on_processor_s - reads.time_s(filled.read);
                Some(Pass {
                    sample: filled.sample,
                    threads: filled.threads,
                    wall_s: filled.elapsed.wall_s / blocks,
                    on_processor_s: own_s / blocks,
                })
            })
            .collect();
        let figures = ReaderFigures::of(samples, &passes, true, made_unix_ms);
        let figures = figures.ok_or(Error::Unsupported {
            what: "a sample that is cold and stored",
            advice: "its pages stay in memory after it is unmounted: measure again",
        })?;
        let lookups = |of: fn(f64, f64, f64) -> f64| {
            let each = self.looked_up.iter().map(|&(time_s, read, count)| {
                let net_s = (time_s - reads.time_s(read)).max(0.0);
                of(net_s, as_f64(read.reads), f64::from(count))
            });
            least(&each.collect::<Vec<_>>())
        };
        Ok(ReaderFigures {
            lookup_s: lookups(|time_s, _, count| time_s / count),
            lookup_reads: lookups(|_, reads, count| reads / count),
            ..figures
        })
    }

    /// What reads of a device in memory take, by their length.
    fn line_of_reads(&self) -> Reads {
        let points = READ_BYTES.iter().filter_map(|&len| {
            let of_len = self.reads.iter().filter(|(of, _)| *of == len);
            let times: Vec<f64> = of_len.map(|(_, time_s)| *time_s).collect();
            Some((as_f64(len as u64), least(&times)?))
        });
        Reads(Line::through(&points.collect::<Vec<_>>()))
    }
}

/// What reads of a device take.
struct Reads(Option<Line>);

impl Reads {
    fn time_s(&self, read: Counters) -> f64 {
        self.0.map_or(0.0, |line| {
            line.start * as_f64(read.reads) + line.slope * as_f64(read.read_bytes)
        })
    }
}

/// A sample, seen by nobody else; gone when it is dropped.
struct Mounted {
    // Dropped from first to last.
    root: OwnedFd,
    device: LoopDevice,
}

impl Mounted {
    fn new(sample: &Sample<'_>) -> Result<Self, Error> {
        let device = LoopDevice::attach(&path_of_open(sample.image), false)?;
        let context = open_squashfs()?;
        let root = mount(&context, &device).map_err(|errno| Error::System {
            action: "mount a sample",
            source: errno.into(),
        })?;
        Ok(Self { root, device })
    }

    /// The file whose blocks are filled, of which no read asks for more than its own block.
    fn data(&self) -> Result<File, Error> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let opened = openat(&self.root, Sample::DATA, flags, Mode::empty()).and_then(|data| {
            fadvise(&data, 0, None, Advice::Random)?;
            Ok(data.into())
        });
        opened.map_err(|errno| Error::System {
            action: "open the data of a sample",
            source: errno.into(),
        })
    }
}

/// Reads a byte of each block; returns how long all of them took.
fn fill(data: &File, sample: &Sample<'_>, threads: u32) -> io::Result<Elapsed> {
    let touch = |first: u64, step: u64| -> io::Result<()> {
        for block in (first..sample.blocks()).step_by(usize::try_from(step).unwrap_or(1)) {
            data.read_exact_at(&mut [0], block * u64::from(sample.block_bytes))?;
        }
        Ok(())
    };
    let watch = Stopwatch::start();
    if threads <= 1 {
        touch(0, 1)?;
    } else {
        thread::scope(|scope| {
            let touch = &touch;
            let readers: Vec<_> = (0..u64::from(threads))
                .map(|first| scope.spawn(move || touch(first, threads.into())))
                .collect();
            let mut ends = readers
                .into_iter()
                .map(|reader| reader.join().unwrap_or_else(|panic| resume_unwind(panic)));
            ends.try_for_each(|end| end)
        })?;
    }
    Ok(watch.elapsed())
}

fn since(before: Counters, after: Counters) -> Counters {
    Counters {
        reads: after.reads.saturating_sub(before.reads),
        read_bytes: after.read_bytes.saturating_sub(before.read_bytes),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of one measurement")]
fn as_f64(count: u64) -> f64 {
    count as f64
}
