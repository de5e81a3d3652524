//! How fast is read ahead, how much, and when it is given up.
//!
//! Reading ahead that competes with the reads of a start delays it: in Tails 3.9 it blocked the
//! desktop for two minutes. Whether others read shows in one's own reads, which then take longer
//! than they did. So the first reads that came from the device are the measure; who is much slower
//! for some time pauses, and gives up if that does not help.

use std::fmt;
use std::fs;
use std::num::NonZeroU64;
use std::time::Duration;

/// A read that takes less came from memory: it tells nothing of the device.
const FROM_MEMORY: Duration = Duration::from_micros(200);
/// Reads by which later ones are judged.
const MEASURE_READS: usize = 8;
/// How much slower than these reads are when others read.
const SLOW: f64 = 4.0;
/// Slow reads in a row that are no accident.
const SLOW_READS: u32 = 4;
/// The first pause; each is twice as long as the one before.
const PAUSE: Duration = Duration::from_millis(50);
/// Pauses, 3 s in all, after which it is given up.
const PAUSES_MAX: u32 = 6;
/// What the way to the device costs, in bytes that could be read instead: makes small and large
/// reads comparable.
const REQUEST_BYTES: f64 = 131_072.0;

/// Of the memory that is available, what part may be filled unless told otherwise: what was read
/// ahead must not drive out what is in use.
const MEMORY_SHARE: u64 = 4;
/// Where the kernel does not say what is available.
const MEMORY_DEFAULT_BYTES: u64 = 256 << 20;

/// What reading ahead may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// In all.
    pub bytes: u64,
    /// How fast it reads on average; `None` for as fast as it can.
    pub bytes_per_s: Option<NonZeroU64>,
    /// When it is given up.
    pub time: Duration,
}

impl Limits {
    /// What holds unless told otherwise.
    pub fn new(bytes: Option<u64>, bytes_per_s: Option<NonZeroU64>, time: Duration) -> Self {
        Self {
            bytes: bytes.unwrap_or_else(memory_bytes),
            bytes_per_s,
            time,
        }
    }
}

/// A part of the memory that is available.
fn memory_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.map_or(MEMORY_DEFAULT_BYTES, |kib| (kib << 10) / MEMORY_SHARE)
}

/// Why not all was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It read as much as it may.
    Bytes,
    /// It took as long as it may.
    Time,
    /// Others read, and did not stop.
    Competes,
    /// Whoever wanted it does not any more.
    NotWanted,
}

impl fmt::Display for Why {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bytes => "it reached its limit",
            Self::Time => "the time was over",
            Self::Competes => "others read from the device",
            Self::NotWanted => "nobody needs it any more",
        })
    }
}

/// What to do after a read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Read on.
    Go,
    /// Wait so long first.
    Wait(Duration),
    /// Read no more.
    GiveUp(Why),
}

/// Judges each read.
#[derive(Debug)]
pub struct Pace {
    limits: Limits,
    read_bytes: u64,
    /// Seconds for each byte of the first reads, ascending.
    first: Vec<f64>,
    slow_reads: u32,
    pauses: u32,
}

impl Pace {
    /// Nothing was read yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            read_bytes: 0,
            first: Vec::new(),
            slow_reads: 0,
            pauses: 0,
        }
    }

    /// What to do after a read.
    ///
    /// * `took`: of this read.
    /// * `since`: the first one began.
    pub fn after(&mut self, bytes: u64, took: Duration, since: Duration) -> Verdict {
        self.read_bytes = self.read_bytes.saturating_add(bytes);
        if self.read_bytes >= self.limits.bytes {
            return Verdict::GiveUp(Why::Bytes);
        }
        if since >= self.limits.time {
            return Verdict::GiveUp(Why::Time);
        }
        if self.is_slow(bytes, took) {
            return self.give_way();
        }
        match self.ahead_of_time(since) {
            Some(early) => Verdict::Wait(early),
            None => Verdict::Go,
        }
    }

    /// Whether some reads in a row were slow.
    fn is_slow(&mut self, bytes: u64, took: Duration) -> bool {
        if took < FROM_MEMORY {
            return false;
        }
        #[expect(clippy::cast_precision_loss, reason = "a read of some kilobytes")]
        let s_per_byte = took.as_secs_f64() / (bytes as f64 + REQUEST_BYTES);
        if self.first.len() < MEASURE_READS {
            let at = self.first.partition_point(|other| *other < s_per_byte);
            self.first.insert(at, s_per_byte);
            return false;
        }
        let median = self.first.get(MEASURE_READS / 2).copied();
        if median.is_none_or(|median| s_per_byte <= SLOW * median) {
            self.slow_reads = 0;
            self.pauses = 0;
            return false;
        }
        self.slow_reads += 1;
        self.slow_reads >= SLOW_READS
    }

    fn give_way(&mut self) -> Verdict {
        self.slow_reads = 0;
        if self.pauses == PAUSES_MAX {
            return Verdict::GiveUp(Why::Competes);
        }
        let pause = PAUSE * 2_u32.pow(self.pauses);
        self.pauses += 1;
        Verdict::Wait(pause)
    }

    /// How much sooner than the bandwidth allows all of it was read.
    fn ahead_of_time(&self, since: Duration) -> Option<Duration> {
        let bytes_per_s = self.limits.bytes_per_s?.get();
        #[expect(clippy::cast_precision_loss, reason = "a pause, not a count")]
        let due_s = self.read_bytes as f64 / bytes_per_s as f64;
        let due = Duration::try_from_secs_f64(due_s).unwrap_or(Duration::MAX);
        due.checked_sub(since).filter(|early| !early.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB_128: u64 = 128 << 10;

    fn pace(bytes: u64, bytes_per_s: Option<u64>) -> Pace {
        Pace::new(Limits {
            bytes,
            bytes_per_s: bytes_per_s.and_then(NonZeroU64::new),
            time: Duration::from_mins(1),
        })
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn bytes_and_time_have_an_end() {
        let mut some = pace(3 * KIB_128, None);
        assert_eq!(some.after(KIB_128, ms(1), ms(1)), Verdict::Go);
        assert_eq!(some.after(KIB_128, ms(1), ms(2)), Verdict::Go);
        assert_eq!(
            some.after(KIB_128, ms(1), ms(3)),
            Verdict::GiveUp(Why::Bytes)
        );
        let mut late = pace(u64::MAX, None);
        assert_eq!(late.after(1, ms(1), ms(59_999)), Verdict::Go);
        assert_eq!(late.after(1, ms(1), ms(60_000)), Verdict::GiveUp(Why::Time));
        assert_eq!(
            late.after(u64::MAX, ms(1), ms(0)),
            Verdict::GiveUp(Why::Bytes)
        );
    }

    #[test]
    fn no_more_is_read_in_a_second_than_allowed() {
        let mut slow = pace(u64::MAX, Some(10 * KIB_128));
        assert_eq!(slow.after(KIB_128, ms(1), ms(40)), Verdict::Wait(ms(60)));
        assert_eq!(slow.after(KIB_128, ms(1), ms(200)), Verdict::Go);
        assert_eq!(
            slow.after(10 * KIB_128, ms(1), ms(200)),
            Verdict::Wait(ms(1000))
        );
    }

    /// The verdicts over reads that took so long, in ms.
    fn verdicts(reads_ms: &[u64]) -> Vec<Verdict> {
        let mut pace = pace(u64::MAX, None);
        let judge = |took: &u64| pace.after(KIB_128, ms(*took), ms(0));
        reads_ms
            .iter()
            .map(judge)
            .filter(|verdict| *verdict != Verdict::Go)
            .collect()
    }

    #[test]
    fn slow_reads_make_it_pause_and_then_give_up() {
        let measured = [1; MEASURE_READS];
        let after = |reads_ms: &[u64]| verdicts(&[&measured, reads_ms].concat());
        assert_eq!(after(&[4; 100]), []);
        assert_eq!(after(&[5, 5, 5, 1, 5, 5, 5]), []);
        assert_eq!(after(&[5; 4]), [Verdict::Wait(PAUSE)]);
        // Reads from memory say nothing.
        assert_eq!(after(&[5, 0, 5, 0, 5, 0, 5]), [Verdict::Wait(PAUSE)]);
        assert_eq!(
            after(&[5, 5, 5, 5, 1, 5, 5, 5, 5]),
            [Verdict::Wait(PAUSE); 2]
        );
        let mut all: Vec<_> = (0..PAUSES_MAX)
            .map(|it| Verdict::Wait(PAUSE * (1 << it)))
            .collect();
        all.push(Verdict::GiveUp(Why::Competes));
        assert_eq!(after(&[5; 28]), all);
    }

    #[test]
    fn a_single_slow_read_at_the_beginning_is_no_measure() {
        assert_eq!(
            verdicts(&[1, 500, 1, 1, 1, 1, 1, 1, 5, 5, 5, 5]),
            [Verdict::Wait(PAUSE)]
        );
    }

    #[test]
    fn reads_from_memory_are_no_measure() {
        assert_eq!(verdicts(&[&[0; 100][..], &[9; 100]].concat()), []);
    }
}
