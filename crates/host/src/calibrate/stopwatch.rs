//! How long something takes, and how much of that the thread that does it is on a processor.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// A stopwatch of one thread.
///
/// What a thread does by itself, in the kernel too, is measured by the time that it is on a
/// processor: on a machine that is busy otherwise it waits for one, which says nothing of the
/// machine.
#[derive(Debug)]
pub struct Stopwatch {
    started: Instant,
    on_processor_s: f64,
}

/// What a stopwatch shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elapsed {
    /// Wall time.
    pub wall_s: f64,
    /// Time of the thread on a processor.
    pub on_processor_s: f64,
}

impl Stopwatch {
    /// Starts to measure the calling thread.
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
            on_processor_s: on_processor_s(),
        }
    }

    /// What passed since; only for the thread that started it.
    pub fn elapsed(&self) -> Elapsed {
        Elapsed {
            on_processor_s: on_processor_s() - self.on_processor_s,
            wall_s: self.started.elapsed().as_secs_f64(),
        }
    }
}

/// How long the calling thread was on a processor since it began, in s.
pub fn on_processor_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "threads live for hours at most")]
    let (seconds, nanoseconds) = (time.tv_sec as f64, time.tv_nsec as f64);
    seconds + nanoseconds * 1e-9
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_sleeps_is_on_no_processor() {
        let began_s = on_processor_s();
        assert!(began_s >= 0.0 && on_processor_s() >= began_s);
        let watch = Stopwatch::start();
        sleep(Duration::from_millis(200));
        let asleep = watch.elapsed();
        assert!(asleep.wall_s >= 0.2, "{asleep:?}");
        assert!(asleep.on_processor_s < 0.1, "{asleep:?}");
        let watch = Stopwatch::start();
        while watch.elapsed().on_processor_s < 0.01 {}
        assert!(watch.elapsed().wall_s >= 0.009);
    }
}
