use std::collections::VecDeque;

use super::*;

/// Writes down what it is asked, and answers from a script.
#[derive(Default)]
struct Mock {
    log: Vec<String>,
    /// Pages that stay resident, for each cooling; 0 afterwards.
    resident_pages: VecDeque<u64>,
    /// The starts; good ones afterwards.
    starts: VecDeque<Start>,
    mounted_before: bool,
    reads: u64,
}

fn good() -> Start {
    Start {
        wall_s: 2.0,
        cpu_s: 1.0,
        exit: Exit::Code(0),
        timed_out: false,
        stderr_tail: String::new(),
    }
}

impl Laboratory for &mut Mock {
    type Mounted = String;

    fn cool(&mut self, image: &Path) -> Result<u64, Error> {
        self.log.push(format!("cool {}", image.display()));
        Ok(self.resident_pages.pop_front().unwrap_or(0))
    }

    fn mount(&mut self, image: &Path) -> Result<Option<String>, Error> {
        self.log.push(format!("mount {}", image.display()));
        self.reads = 7;
        Ok((!self.mounted_before).then(|| image.display().to_string()))
    }

    fn counters(&mut self, _: &String) -> Result<(u64, u64), Error> {
        Ok((self.reads, self.reads * 4096))
    }

    fn start(
        &mut self,
        mounted: &String,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Start>, Error> {
        self.log.push(format!("start {mounted}"));
        self.reads += 100;
        Ok((!stop()).then(|| self.starts.pop_front().unwrap_or_else(good)))
    }

    fn page_cache_bytes(&mut self, mounted: &String) -> Result<u64, Error> {
        self.log.push(format!("walk {mounted}"));
        Ok(12_288)
    }

    fn unmount(&mut self, mounted: String) -> Result<(), Error> {
        self.log.push(format!("unmount {mounted}"));
        Ok(())
    }
}

fn run_mock(
    mock: &mut Mock,
    names: &[&str],
    turns: u32,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> (Vec<Run>, Result<(), Halt>) {
    let contestant = |name: &&str| Contestant {
        name: (*name).to_owned(),
        image: (*name).into(),
    };
    let contestants: Vec<Contestant> = names.iter().map(contestant).collect();
    let mut runs = Vec::new();
    let mut runner = Runner {
        laboratory: mock,
        contestants: &contestants,
        turns,
        cores: 2,
        timeout_s: 60,
        progress,
    };
    let ended = runner.run_all(&mut runs);
    (runs, ended)
}

fn run_all(mock: &mut Mock, names: &[&str], turns: u32) -> (Vec<Run>, Result<(), Halt>) {
    run_mock(mock, names, turns, &mut |_| ControlFlow::Continue(()))
}

#[test]
fn contestants_alternate_and_every_second_turn_runs_backwards() {
    let mut mock = Mock::default();
    let (runs, ended) = run_all(&mut mock, &["a", "b", "c"], 3);
    assert!(ended.is_ok());
    let order: Vec<(u32, usize)> = runs.iter().map(|run| (run.turn, run.contestant)).collect();
    let expected = [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 2),
        (1, 1),
        (1, 0),
        (2, 0),
        (2, 1),
        (2, 2),
    ];
    assert_eq!(order, expected);
}

#[test]
fn each_run_is_cooled_mounted_started_cold_and_warm_and_unmounted() {
    let mut mock = Mock::default();
    let (runs, _) = run_all(&mut mock, &["a"], 2);
    let first = [
        "cool a",
        "mount a",
        "start a",
        "start a",
        "walk a",
        "unmount a",
    ];
    let second = ["cool a", "mount a", "start a", "start a", "unmount a"];
    assert_eq!(mock.log, [&first[..], &second[..]].concat());
    // Of 7 reads while mounting and 100 in each start, those of the cold one count.
    assert_eq!((runs[0].mount_reads, runs[0].reads), (Some(7), Some(100)));
    assert_eq!(
        (runs[0].mount_read_bytes, runs[0].read_bytes),
        (Some(28_672), Some(409_600))
    );
    let page_cache: Vec<_> = runs.iter().map(|run| run.page_cache_bytes).collect();
    assert_eq!(page_cache, [Some(12_288), None]);
}

#[test]
fn cooling_is_retried_and_then_the_command_is_not_started() {
    let mut mock = Mock {
        resident_pages: [5, 4, 3, 0].into_iter().chain((6..26).rev()).collect(),
        ..Mock::default()
    };
    let (runs, ended) = run_all(&mut mock, &["a"], 2);
    assert!(ended.is_ok());
    assert_eq!((runs[0].excluded, runs[0].coldness.attempts), (None, 4));
    assert_eq!(runs[1].excluded, Some(Excluded::StartedWarm { pages: 6 }));
    assert_eq!(
        (runs[1].cold_s, runs[1].coldness.fresh_superblock),
        (None, None)
    );
    assert_eq!(mock.log.iter().filter(|line| *line == "start a").count(), 2);
}

#[test]
fn a_superblock_that_lived_before_is_excluded() {
    let mut mock = Mock {
        mounted_before: true,
        ..Mock::default()
    };
    let (runs, _) = run_all(&mut mock, &["a"], 1);
    assert_eq!(runs[0].excluded, Some(Excluded::MountedBefore));
    assert_eq!(runs[0].coldness.fresh_superblock, Some(false));
}

#[test]
fn failures_after_the_first_turn_are_excluded_runs() {
    let killed = Start {
        timed_out: true,
        exit: Exit::Signal(9),
        ..good()
    };
    let broken = Start {
        exit: Exit::Code(3),
        ..good()
    };
    let impossible = Start {
        wall_s: 1.0,
        cpu_s: 2.1,
        ..good()
    };
    let possible = Start {
        wall_s: 1.0,
        cpu_s: 2.0,
        ..good()
    };
    // Turn 0: good, good. Then: cold start killed; warm start broken; impossible; just possible.
    let starts = [
        good(),
        good(),
        killed,
        good(),
        broken,
        impossible,
        possible,
        good(),
    ];
    let mut mock = Mock {
        starts: starts.into(),
        ..Mock::default()
    };
    let (runs, ended) = run_all(&mut mock, &["a"], 5);
    assert!(ended.is_ok());
    let reasons: Vec<_> = runs.iter().map(|run| run.excluded).collect();
    let failed = Excluded::Failed {
        exit: Exit::Code(3),
    };
    let expected = [
        None,
        Some(Excluded::TimedOut),
        Some(failed),
        Some(Excluded::BelowCpuTime),
        None,
    ];
    assert_eq!(reasons, expected);
    // Each was unmounted nevertheless.
    assert_eq!(
        mock.log.iter().filter(|line| *line == "unmount a").count(),
        5
    );
}

#[test]
fn a_failure_in_the_first_turn_stops_with_the_last_words_of_the_command() {
    let broken = Start {
        exit: Exit::Code(3),
        stderr_tail: "no such tune\n".into(),
        ..good()
    };
    let mut mock = Mock {
        starts: [good(), good(), broken].into(),
        ..Mock::default()
    };
    let (_, ended) = run_all(&mut mock, &["a", "b"], 5);
    let Err(Halt::Error(error)) = ended else {
        panic!("{ended:?}")
    };
    let expected = "the command failed in its cold start from `b` (exit code 3); \
                    its last words were:\nno such tune";
    assert_eq!(error.to_string(), expected);

    let slow = Start {
        timed_out: true,
        ..good()
    };
    let mut mock = Mock {
        starts: [good(), slow].into(),
        ..Mock::default()
    };
    let (_, ended) = run_all(&mut mock, &["a"], 5);
    let Err(Halt::Error(error)) = ended else {
        panic!("{ended:?}")
    };
    let expected = "the command did not end within 60 s in its warm start from `a`; \
                    allow more time, or use a command that ends by itself";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn an_interrupt_keeps_the_finished_runs_and_is_not_a_failure_of_the_command() {
    let interrupted = Start {
        exit: Exit::Signal(2),
        ..good()
    };
    let mut mock = Mock {
        starts: [good(), good(), interrupted].into(),
        ..Mock::default()
    };
    let (runs, ended) = run_mock(&mut mock, &["a", "b"], 5, &mut |progress| match (
        progress.contestant,
        progress.step,
    ) {
        (1, Step::ColdStarted { .. }) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert!(matches!(ended, Err(Halt::Interrupted)), "{ended:?}");
    assert_eq!(runs.len(), 1);
}

#[test]
fn an_interrupt_during_a_start_ends_the_start() {
    let mut mock = Mock::default();
    let (runs, ended) = run_mock(&mut mock, &["a", "b"], 5, &mut |progress| match (
        progress.contestant,
        progress.step,
    ) {
        (1, Step::Starting) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert!(matches!(ended, Err(Halt::Interrupted)), "{ended:?}");
    assert_eq!(runs.len(), 1);
    assert_eq!(mock.log.last().map(String::as_str), Some("start b"));
}
