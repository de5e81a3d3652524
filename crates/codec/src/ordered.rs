//! The one parallel mechanism: a map over several threads with results in order and a bound.
//!
//! The calling thread takes jobs, restores order and runs the sink; workers only compute. Every
//! job gets a number when it is taken. Results arrive in any order and wait in a queue with one
//! slot per job that was taken and not handed over; the queue never has more than `window` slots,
//! and that is the bound on memory.
//!
//! The caller sees one outcome whatever the number of threads: results, errors and panics are
//! acted upon in the order of their jobs, not of time. Jobs are given out in order too, so when a
//! job fails, all jobs before it have been given out and will be answered for. That is why waiting
//! for the oldest job always ends, even if every worker has gone.
//!
//! Channels have no bound of their own: a bound of `window` would never be reached, and a sender
//! that cannot block cannot deadlock.

use std::any::Any;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How much may happen at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workers {
    /// Threads that compute. With 1 the calling thread computes and no other is started.
    pub threads: NonZeroUsize,
    /// Jobs that may be between taken and handed over. Below `threads`, it leaves threads idle.
    pub window: NonZeroUsize,
}

/// What became of a job: its result, its error, or the panic it ended in.
type Outcome<R, E> = Result<Result<R, E>, Box<dyn Any + Send>>;

/// Applies `work` to `jobs` on several threads and hands the results to `sink` in job order.
///
/// `jobs` and `sink` run on the calling thread. At most `window` jobs are between taken and handed
/// over, so memory is bounded by `window` times the largest job and result, however slow a single
/// job is. `scratch` makes what a worker keeps from job to job, such as an
/// [`Encoder`](crate::Encoder); it runs on the worker's thread before its first job.
///
/// The sink sees the same results in the same order, and the caller the same error, for any number
/// of threads; only how many jobs were taken in vain behind an error differs. All threads have
/// ended when this returns.
///
/// # Errors
///
/// The first error by job order, whether taking the job, making its scratch, working on it or
/// handing it over failed. Everything before it was handed over, nothing behind it is.
///
/// # Panics
///
/// If the system starts no more threads. A panic in `work` or `scratch` is continued on the
/// calling thread when the turn of its job comes.
///
/// # Cost
///
/// Per job two messages between threads, some microseconds: a job should be a block, not a byte.
///
/// ```
/// use std::num::NonZeroUsize;
/// use coldpress_codec::{Workers, ordered};
///
/// let workers = Workers {
///     threads: NonZeroUsize::new(4).unwrap(),
///     window: NonZeroUsize::new(16).unwrap(),
/// };
/// let mut squares = Vec::new();
/// ordered(
///     (1..=5).map(Ok::<u32, std::io::Error>),
///     &workers,
///     || Ok(()),
///     |(), number| Ok(number * number),
///     |square| {
///         squares.push(square);
///         Ok(())
///     },
/// )?;
/// assert_eq!(squares, [1, 4, 9, 16, 25]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn ordered<J: Send, R: Send, S, E: Send>(
    mut jobs: impl Iterator<Item = Result<J, E>>,
    workers: &Workers,
    scratch: impl Fn() -> Result<S, E> + Sync,
    work: impl Fn(&mut S, J) -> Result<R, E> + Sync,
    mut sink: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    if workers.threads.get() == 1 {
        let mut state = None;
        return jobs.try_for_each(|job| sink(compute(&mut state, &scratch, &work, job?)?));
    }
    let window = workers.window.get();
    let (job_sender, job_receiver) = mpsc::channel();
    let (outcome_sender, outcome_receiver) = mpsc::channel();
    let job_receiver = Mutex::new(job_receiver);
    let (scratch, work, job_receiver) = (&scratch, &work, &job_receiver);
    thread::scope(|scope| {
        // Owned by this closure, so that however it ends, by a return or by a panic of `jobs` or
        // `sink`, the workers find their channels closed and end.
        let (job_sender, outcome_receiver) = (job_sender, outcome_receiver);
        let mut idle_threads = workers.threads.get();
        let mut slots: VecDeque<Option<Outcome<R, E>>> = VecDeque::new();
        let mut handed_over = 0;
        let mut taking = true;
        let mut ending = Ok(());
        loop {
            while taking && slots.len() < window {
                match jobs.next() {
                    Some(Ok(job)) => {
                        if idle_threads > 0 {
                            idle_threads -= 1;
                            let outcomes = outcome_sender.clone();
                            scope.spawn(move || run(job_receiver, &outcomes, scratch, work));
                        }
                        let sent = job_sender.send((handed_over + slots.len(), job));
                        assert!(sent.is_ok(), "the receiver of jobs outlives the scope");
                        slots.push_back(None);
                    }
                    Some(Err(error)) => {
                        ending = Err(error);
                        taking = false;
                    }
                    None => taking = false,
                }
            }
            if slots.is_empty() {
                return ending;
            }
            let (number, outcome) = outcome_receiver
                .recv()
                .expect("the calling thread keeps a sender of outcomes");
            // Nothing behind a failed job will be handed over.
            taking &= matches!(outcome, Ok(Ok(_)));
            slots[number - handed_over] = Some(outcome);
            while let Some(outcome) = slots.front_mut().and_then(Option::take) {
                slots.pop_front();
                handed_over += 1;
                match outcome {
                    Ok(result) => sink(result?)?,
                    Err(panic) => resume_unwind(panic),
                }
            }
        }
    })
}

/// A worker: answers jobs until there are none, nobody listens, or one panics.
fn run<J, R, S, E>(
    jobs: &Mutex<Receiver<(usize, J)>>,
    outcomes: &Sender<(usize, Outcome<R, E>)>,
    scratch: &impl Fn() -> Result<S, E>,
    work: &impl Fn(&mut S, J) -> Result<R, E>,
) {
    let mut state = None;
    loop {
        // The lock is held while waiting: the other idle workers wait for the lock instead.
        let received = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, job)) = received else { return };
        // The scratch that a panic leaves behind is not used again.
        let outcome = catch_unwind(AssertUnwindSafe(|| compute(&mut state, scratch, work, job)));
        let panicked = outcome.is_err();
        if outcomes.send((number, outcome)).is_err() || panicked {
            return;
        }
    }
}

/// One job, with the scratch made if this is the first.
fn compute<J, R, S, E>(
    state: &mut Option<S>,
    scratch: &impl Fn() -> Result<S, E>,
    work: &impl Fn(&mut S, J) -> Result<R, E>,
    job: J,
) -> Result<R, E> {
    let state = match state {
        Some(state) => state,
        None => state.insert(scratch()?),
    };
    work(state, job)
}
