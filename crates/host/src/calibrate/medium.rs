//! A medium, as direct reads find it.

use std::io;
use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

use super::calibration::MediumFigures;
use super::direct::{Direct, RandomBytes, Room};
use super::fit::median;
use super::test_file::TestFile;
use crate::{Cgroup, Device, Error, Janitor, LoopDevice, Via, backing_disk};

const SMALL_BYTES: usize = 4 << 10;
const LARGE_BYTES: usize = 128 << 10;
const HUGE_BYTES: usize = 1 << 20;

/// Threads that read at the same time: what an `NVMe` disk or a redundant array gains is there with
/// 8, and a stick with one queue shows that it gains nothing.
const THREADS: u32 = 8;
/// Reads of a batch at most.
const BATCH_MAX: u32 = 64;
/// Kinds of batches: three random ones, one in order, one of many threads.
const KINDS: u32 = 5;
/// Rounds there are at least, of which every batch has an equal share of the time.
const ROUNDS_MIN: u32 = 3;
/// And at most: medians do not get better by more.
const ROUNDS_MAX: usize = 100;

/// What a throttle let pass unused it lets through at once later, for one of its slices of 100 ms
/// (`DFL_THROTL_SLICE_HD`): that much of each batch is not counted. Without it, 900 reads per
/// second were found of 400.
const SETTLING: Duration = Duration::from_millis(150);
/// What a batch of a throttled medium takes at least besides.
const SETTLED_MIN: Duration = Duration::from_millis(200);

/// Measures a medium by direct reads, and nothing but reads.
///
/// * `time`: about what it takes. Slow media need more for three rounds of one read of each kind.
/// * `made_unix_ms`: when that is.
/// * `stop`: asked before each read; ends the measurement.
///
/// # Errors
///
/// [`Error::Io`] if it cannot be read; [`Error::Stopped`].
pub fn measure_medium(
    test_file: &TestFile,
    time: Duration,
    made_unix_ms: u64,
    stop: &mut dyn FnMut() -> bool,
) -> Result<MediumFigures, Error> {
    measure(test_file, time, Duration::ZERO, made_unix_ms, stop)
}

/// * `settling`: how long each batch reads before it counts.
fn measure(
    test_file: &TestFile,
    time: Duration,
    settling: Duration,
    made_unix_ms: u64,
    stop: &mut dyn FnMut() -> bool,
) -> Result<MediumFigures, Error> {
    let share = (time / (ROUNDS_MIN * KINDS)).saturating_sub(settling);
    let batch = if settling.is_zero() {
        share
    } else {
        share.max(SETTLED_MIN)
    };
    let mut session = Session {
        direct: test_file.direct(),
        settling,
        batch,
        stop,
        random: RandomBytes(test_file.direct().size_bytes()),
        next: 0,
    };
    let mut rounds = Rounds::default();
    let started = Instant::now();
    while rounds.small.len() < ROUNDS_MIN as usize
        || (rounds.small.len() < ROUNDS_MAX && started.elapsed() < time)
    {
        match session.round(&mut rounds) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(Error::Stopped),
            Err(error) => return Err(Error::io("read", test_file.named())(error)),
        }
    }
    let of = |values: &[f64]| median(values).unwrap_or(f64::NAN);
    Ok(MediumFigures {
        made_unix_ms,
        path: test_file.named().display().to_string(),
        request_s: of(&rounds.small),
        large_request_s: of(&rounds.large),
        huge_request_s: of(&rounds.huge),
        bandwidth_bytes_per_s: of(&rounds.in_order),
        reads_per_s: of(&rounds.together),
        reads_in_flight: THREADS,
        read_ahead_bytes: test_file.read_ahead_bytes(),
    })
}

/// Measures the throttle of a device, with this process in a cgroup of its own: what a start meets
/// there.
///
/// For [`Via::Partition`] a loop device over the test file is throttled and read, for [`Via::File`]
/// the disk below the test file. Needs root.
///
/// # Errors
///
/// As [`measure_medium`]; those of [`LoopDevice::attach`], [`backing_disk`] and [`Cgroup::limit`].
pub fn measure_throttled(
    test_file: &TestFile,
    device: &Device,
    janitor: &Janitor,
    time: Duration,
    made_unix_ms: u64,
    stop: &mut dyn FnMut() -> bool,
) -> Result<MediumFigures, Error> {
    let cgroup = Cgroup::create("calibrate")?;
    janitor.watch(cgroup.leftover());
    let mut figures = match device.via {
        Via::File => {
            cgroup.limit(backing_disk(test_file.named())?, device)?;
            let _inside = cgroup.enter()?;
            measure(test_file, time, SETTLING, made_unix_ms, stop)?
        }
        Via::Partition => {
            let partition = LoopDevice::attach(&test_file.path(), true)?;
            cgroup.limit(partition.device_number(), device)?;
            let seen = TestFile::at(partition.path(), Duration::ZERO, stop)?;
            let _inside = cgroup.enter()?;
            measure(&seen, time, SETTLING, made_unix_ms, stop)?
        }
    };
    figures.path = test_file.named().display().to_string();
    Ok(figures)
}

/// What each round found: seconds, bytes per second, reads per second.
#[derive(Debug, Default)]
struct Rounds {
    small: Vec<f64>,
    large: Vec<f64>,
    huge: Vec<f64>,
    in_order: Vec<f64>,
    together: Vec<f64>,
}

/// Reads that count.
struct Batch {
    reads: u32,
    /// The mean of them: a median would miss that throttled reads wait in bursts.
    read_s: f64,
    /// From the first to the end of the last, with pauses between them.
    wall_s: f64,
}

struct Session<'a> {
    direct: &'a Direct,
    /// How long a batch reads before it counts.
    settling: Duration,
    /// What it may take then.
    batch: Duration,
    stop: &'a mut dyn FnMut() -> bool,
    random: RandomBytes,
    /// Where the next read in order begins.
    next: u64,
}

impl Session<'_> {
    fn round(&mut self, rounds: &mut Rounds) -> io::Result<()> {
        rounds.small.push(self.anywhere(SMALL_BYTES)?);
        rounds.large.push(self.anywhere(LARGE_BYTES)?);
        rounds.huge.push(self.anywhere(HUGE_BYTES)?);
        rounds.in_order.push(self.in_order()?);
        rounds.together.push(self.together()?);
        Ok(())
    }

    /// Seconds of a read at a random place.
    fn anywhere(&mut self, len: usize) -> io::Result<f64> {
        let direct = self.direct;
        let mut room = Room::new(len);
        let batch = self.batch(|random| Ok(direct.read_anywhere(&mut room, random)?.wall_s))?;
        Ok(batch.read_s)
    }

    /// Bytes per second of reads one after the other, pauses between them included: what a throttle
    /// withholds while this thread waits for a processor, it lets through at once afterwards, so
    /// the reads alone would be faster than the throttle.
    fn in_order(&mut self) -> io::Result<f64> {
        let (direct, mut next) = (self.direct, self.next);
        let mut room = Room::new(HUGE_BYTES);
        let len = room.len() as u64;
        let batch = self.batch(|_| {
            if next + len > direct.size_bytes() {
                next = 0;
            }
            let elapsed = direct.read(&mut room, next)?;
            next += len;
            Ok(elapsed.wall_s)
        })?;
        self.next = next;
        #[expect(clippy::cast_precision_loss, reason = "1 MiB")]
        Ok(len as f64 * f64::from(batch.reads) / batch.wall_s)
    }

    /// At least one read, until the time of a batch is over.
    fn batch(
        &mut self,
        mut read: impl FnMut(&mut RandomBytes) -> io::Result<f64>,
    ) -> io::Result<Batch> {
        let begun = Instant::now();
        let mut counted_from = begun;
        let (mut reads, mut sum_s) = (0_u32, 0.0);
        while reads == 0 || (reads < BATCH_MAX && begun.elapsed() < self.settling + self.batch) {
            if (self.stop)() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if begun.elapsed() < self.settling {
                read(&mut self.random)?;
                counted_from = Instant::now();
                continue;
            }
            sum_s += read(&mut self.random)?;
            reads += 1;
        }
        Ok(Batch {
            reads,
            read_s: sum_s / f64::from(reads),
            wall_s: counted_from.elapsed().as_secs_f64(),
        })
    }

    /// Small reads per second of many threads.
    fn together(&mut self) -> io::Result<f64> {
        if (self.stop)() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let (direct, settling, end) = (self.direct, self.settling, self.settling + self.batch);
        let begun = Instant::now();
        let count = thread::scope(|scope| {
            let readers: Vec<_> = (0..THREADS)
                .map(|_| {
                    let mut random = RandomBytes(self.random.next());
                    scope.spawn(move || {
                        let mut room = Room::new(SMALL_BYTES);
                        let mut count = 0_u32;
                        while count == 0 || (count < BATCH_MAX && begun.elapsed() < end) {
                            let counts = begun.elapsed() >= settling;
                            direct.read_anywhere(&mut room, &mut random)?;
                            count += u32::from(counts);
                        }
                        Ok::<u32, io::Error>(count)
                    })
                })
                .collect();
            let mut counts = readers
                .into_iter()
                .map(|reader| reader.join().unwrap_or_else(|panic| resume_unwind(panic)));
            counts.try_fold(0, |sum, count| Ok::<u32, io::Error>(sum + count?))
        })?;
        let counted = begun.elapsed().saturating_sub(settling);
        Ok(f64::from(count) / counted.as_secs_f64())
    }
}
