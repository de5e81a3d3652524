//! What threads are busy with, summed.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use coldpress_codec::{Work, WorkObserver};
use coldpress_history::{Status, Task};

use super::Timing;

/// The time that threads took for each kind of work.
#[derive(Debug, Default)]
pub(super) struct BusyTimes(Mutex<BTreeMap<Work, BusyTime>>);

#[derive(Debug, Default)]
struct BusyTime {
    /// When the first of them began; `None` before.
    began_ns: Option<u64>,
    sum_ns: u64,
    /// Threads that do it now, and the most that did it at once.
    threads: u32,
    threads_max: u32,
}

impl BusyTimes {
    /// What there was since this was called before, as tasks, by the course of the work.
    pub(super) fn take(&self) -> Vec<Task> {
        let times = std::mem::take(&mut *self.lock());
        times.into_iter().map(task).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Work, BusyTime>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkObserver for Timing {
    fn begin(&self, work: Work) -> u64 {
        let mut times = self.busy.lock();
        let busy = times.entry(work).or_default();
        busy.threads += 1;
        busy.threads_max = busy.threads_max.max(busy.threads);
        let begun_ns = self.elapsed_ns();
        busy.began_ns.get_or_insert(begun_ns);
        begun_ns
    }

    fn end(&self, work: Work, begun_ns: u64) {
        let took_ns = self.elapsed_ns().saturating_sub(begun_ns);
        let mut times = self.busy.lock();
        let busy = times.entry(work).or_default();
        busy.threads = busy.threads.saturating_sub(1);
        busy.sum_ns += took_ns;
    }
}

fn task((work, busy): (Work, BusyTime)) -> Task {
    let (label, summary) = words(work);
    // Tables are written in one go; all else is done piece by piece.
    let is_summed = work != Work::Tables;
    let by = match busy.threads_max {
        _ if !is_summed => String::new(),
        1 => " (sum of one thread)".to_owned(),
        threads => format!(" (sum of {threads} threads)"),
    };
    Task {
        label: label.to_owned(),
        summary: format!("{summary}{by}"),
        status: Some(Status::Done),
        began_us: busy.began_ns.unwrap_or(0) / 1000,
        doing_us: Some(busy.sum_ns / 1000),
        threads: is_summed.then_some(busy.threads_max),
        ..Task::default()
    }
}

const fn words(work: Work) -> (&'static str, &'static str) {
    match work {
        Work::Open => ("open", "Open and create files"),
        Work::Read => ("read", "Read"),
        Work::Hash => ("hash", "Hash"),
        Work::Compress => ("compress", "Compress"),
        Work::Decompress => ("decompress", "Decompress"),
        Work::Write => ("write", "Write"),
        Work::Metadata => ("metadata", "Restore owners, modes, times and xattrs"),
        Work::Tables => ("tables", "Compress and write the tables"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use coldpress_codec::WorkSpan;

    use super::*;

    #[test]
    fn times_of_threads_are_summed_by_the_course_of_the_work() {
        let timing = Timing::new();
        let work = |work| drop(WorkSpan::with(Some(&timing), work));
        work(Work::Tables);
        let together = Barrier::new(3);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let _busy = WorkSpan::with(Some(&timing), Work::Read);
                    together.wait();
                });
            }
        });
        work(Work::Read);
        let tasks = timing.busy.take();
        let found: Vec<_> = tasks
            .iter()
            .map(|task| (task.label.as_str(), task.summary.as_str(), task.threads))
            .collect();
        let expected = [
            ("read", "Read (sum of 3 threads)", Some(3)),
            ("tables", "Compress and write the tables", None),
        ];
        assert_eq!(found, expected);
        assert!(timing.busy.take().is_empty());
    }
}
