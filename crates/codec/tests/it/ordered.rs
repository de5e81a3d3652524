//! The ordered map against a plain loop.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Barrier, Mutex};

use coldpress_codec::{Workers, ordered};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    Job(usize),
    Scratch,
    Work(usize),
    Sink(usize),
}

fn workers(threads: usize, window: usize) -> Workers {
    Workers {
        threads: NonZeroUsize::new(threads).unwrap(),
        window: NonZeroUsize::new(window).unwrap(),
    }
}

/// Work whose time differs from job to job, so that results arrive out of order.
fn square(number: usize) -> usize {
    for _ in 0..(number * 7919) % 64 {
        std::thread::yield_now();
    }
    number * number
}

/// What a loop without threads does: the results handed over, and the first error.
fn model(count: usize, failures: &[Failure]) -> (Vec<usize>, Result<(), Failure>) {
    let mut handed_over = Vec::new();
    for number in 0..count {
        for failure in [
            Failure::Job(number),
            Failure::Work(number),
            Failure::Sink(number),
        ] {
            if failures.contains(&failure) {
                return (handed_over, Err(failure));
            }
        }
        handed_over.push(number * number);
    }
    (handed_over, Ok(()))
}

/// The same through `ordered`, checking the bound on the way.
fn run(count: usize, failures: &[Failure], workers: Workers) -> (Vec<usize>, Result<(), Failure>) {
    let fail = |failure| {
        if failures.contains(&failure) {
            Err(failure)
        } else {
            Ok(())
        }
    };
    let handed_over = RefCell::new(Vec::new());
    let in_flight = Cell::new(0);
    let jobs = (0..count).map(|number| {
        fail(Failure::Job(number))?;
        in_flight.set(in_flight.get() + 1);
        assert!(in_flight.get() <= workers.window.get());
        Ok(number)
    });
    let result = ordered(
        jobs,
        &workers,
        || fail(Failure::Scratch),
        |(), number| fail(Failure::Work(number)).map(|()| (number, square(number))),
        |(number, square)| {
            in_flight.set(in_flight.get() - 1);
            fail(Failure::Sink(number))?;
            handed_over.borrow_mut().push(square);
            Ok(())
        },
    );
    (handed_over.into_inner(), result)
}

fn failures(count: usize) -> impl Strategy<Value = Vec<Failure>> {
    let failure = (0..=count, 0..3).prop_map(|(number, kind)| match kind {
        0 => Failure::Job(number),
        1 => Failure::Work(number),
        _ => Failure::Sink(number),
    });
    prop::collection::vec(failure, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_number_of_threads_does_what_a_loop_does(
        (count, failures) in (0_usize..120).prop_flat_map(|count| (Just(count), failures(count))),
        threads in 1_usize..9,
        window in 1_usize..20,
    ) {
        prop_assert_eq!(run(count, &failures, workers(threads, window)), model(count, &failures));
    }
}

#[test]
fn a_failing_scratch_is_the_error_of_the_first_job() {
    for threads in [1, 4] {
        let workers = workers(threads, 8);
        assert_eq!(
            run(20, &[Failure::Scratch], workers),
            (vec![], Err(Failure::Scratch))
        );
        assert_eq!(run(0, &[Failure::Scratch], workers), (vec![], Ok(())));
    }
}

#[test]
fn the_first_error_is_first_by_job_and_not_by_time() {
    // Job 0 fails only after job 1 has failed.
    let (sender, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver);
    let result = ordered(
        (0..10).map(Ok),
        &workers(2, 4),
        || Ok(()),
        |(), number| {
            match number {
                0 => receiver.lock().unwrap().recv().unwrap(),
                1 => sender.send(()).unwrap(),
                _ => {}
            }
            Err::<(), _>(number)
        },
        |()| Ok(()),
    );
    assert_eq!(result, Err(0));
}

#[test]
fn all_threads_work_at_the_same_time() {
    // Nobody passes the barrier unless four jobs are being worked on at once.
    let barrier = Barrier::new(4);
    let scratches = AtomicUsize::new(0);
    let mut count = 0;
    let result = ordered(
        (0..40).map(Ok::<_, ()>),
        &workers(4, 4),
        || Ok(scratches.fetch_add(1, Ordering::Relaxed)),
        |_, _| Ok(barrier.wait()),
        |_| {
            count += 1;
            Ok(())
        },
    );
    assert_eq!((result, count), (Ok(()), 40));
    assert_eq!(scratches.into_inner(), 4, "one scratch per thread");
}

#[test]
fn one_thread_runs_on_the_calling_thread() {
    let caller = std::thread::current().id();
    let result = ordered(
        [Ok::<_, ()>(())].into_iter(),
        &workers(1, 3),
        || Ok(()),
        |(), ()| Ok(std::thread::current().id()),
        |worker| {
            assert_eq!(worker, caller);
            Ok(())
        },
    );
    assert_eq!(result, Ok(()));
}

#[test]
fn an_endless_supply_of_jobs_ends_with_the_sink() {
    for threads in [1, 3] {
        let result = ordered(
            (0_u64..).map(Ok),
            &workers(threads, 5),
            || Ok(()),
            |(), number| Ok(number),
            |number| if number == 1000 { Err(number) } else { Ok(()) },
        );
        assert_eq!(result, Err(1000));
    }
}

/// Runs 30 jobs, of which those named panic in the named place, and returns the message.
fn panic_message(place: &str, numbers: &[usize], workers: Workers) -> (String, usize) {
    let panic_in = |here: &str, number: usize| {
        assert!(
            here != place || !numbers.contains(&number),
            "{here} {number}"
        );
    };
    let mut handed_over = 0;
    let result = catch_unwind(AssertUnwindSafe(|| {
        ordered(
            (0..30).map(|number| {
                panic_in("job", number);
                Ok::<_, ()>(number)
            }),
            &workers,
            || Ok(()),
            |(), number| {
                panic_in("work", number);
                Ok(number)
            },
            |number| {
                panic_in("sink", number);
                handed_over += 1;
                Ok(())
            },
        )
    }));
    (
        *result.unwrap_err().downcast::<String>().unwrap(),
        handed_over,
    )
}

#[test]
fn a_panic_reaches_the_caller_when_its_job_has_its_turn() {
    for workers in [workers(1, 1), workers(2, 2), workers(2, 16), workers(6, 30)] {
        for numbers in [&[0][..], &[7], &[11, 9, 10], &[29]] {
            let first = *numbers.iter().min().unwrap();
            for place in ["work", "sink"] {
                let expected = (format!("{place} {first}"), first);
                assert_eq!(
                    panic_message(place, numbers, workers),
                    expected,
                    "{workers:?}"
                );
            }
            let (message, _) = panic_message("job", numbers, workers);
            assert_eq!(message, format!("job {first}"));
        }
    }
}
