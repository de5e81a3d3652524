use std::collections::VecDeque;
use std::path::Path;

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
    /// Whether all files are read too.
    walks: bool,
    reads: u64,
}

fn good() -> Start {
    Start {
        wall_s: 2.0,
        cpu_s: 1.0,
        counters: None,
        exit: Exit::Code(0),
        became_ready: true,
        timed_out: false,
        stderr_tail: String::new(),
    }
}

impl Backend for &mut Mock {
    type Mounted = String;

    fn cool(&mut self, what: &What) -> Result<u64, Error> {
        self.log.push(format!("cool {}", what.path().display()));
        Ok(self.resident_pages.pop_front().unwrap_or(0))
    }

    fn readahead_bytes(&mut self, _: &String) -> Option<u64> {
        Some(512 << 10)
    }

    fn mount(&mut self, what: &What, _: &mut dyn FnMut() -> bool) -> Result<Option<String>, Error> {
        self.log.push(format!("mount {}", what.path().display()));
        self.reads = 7;
        Ok((!self.mounted_before).then(|| what.path().display().to_string()))
    }

    fn counters(&mut self, _: &String) -> Result<Option<(u64, u64)>, Error> {
        Ok(Some((self.reads, self.reads * 4096)))
    }

    fn start(
        &mut self,
        mounted: &String,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Start>, Error> {
        self.log.push(format!("start {mounted}"));
        self.reads += 100;
        let counters = Some((self.reads, self.reads * 4096));
        // A program that ends in its own way when it is ready reads some more.
        self.reads += 5;
        let start = self.starts.pop_front().unwrap_or_else(good);
        Ok((!stop()).then_some(Start { counters, ..start }))
    }

    fn page_cache_bytes(&mut self, mounted: &String) -> Result<u64, Error> {
        self.log.push(format!("look {mounted}"));
        Ok(12_288)
    }

    fn walk(
        &mut self,
        mounted: &String,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Walk>, Error> {
        self.log.push(format!("walk {mounted}"));
        Ok((!stop()).then_some(Walk {
            time_s: 9.0,
            digest: blake3::hash(mounted.as_bytes()),
        }))
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
    progress: &mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
) -> (Vec<Run>, Result<(), Halt>) {
    let contestant = |name: &&str| Contestant::image(name, Path::new(name));
    let contestants: Vec<Contestant> = names.iter().map(contestant).collect();
    let mut runs = Vec::new();
    let mock_walks = mock.walks;
    let mut runner = Runner {
        backend: mock,
        contestants: &contestants,
        turns,
        seed: 3,
        walks: mock_walks,
        cores: 2,
        timeout_s: 60,
        ready: "exit".to_owned(),
        progress,
    };
    let ended = runner.run_all(&mut runs);
    (runs, ended)
}

fn run_all(mock: &mut Mock, names: &[&str], turns: u32) -> (Vec<Run>, Result<(), Halt>) {
    run_mock(mock, names, turns, &mut |_| ControlFlow::Continue(()))
}

#[test]
fn every_second_turn_runs_backwards() {
    let mut mock = Mock::default();
    let (runs, ended) = run_all(&mut mock, &["a", "b", "c"], 3);
    assert!(ended.is_ok());
    let order: Vec<(u32, usize)> = runs.iter().map(|run| (run.turn, run.contestant)).collect();
    let expected: Vec<(u32, usize)> = (0..3)
        .flat_map(|turn| {
            let contestants = turns::order(3, turn, 3).into_iter();
            contestants.map(move |contestant| (turn, contestant))
        })
        .collect();
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
        "look a",
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
        became_ready: false,
        exit: Exit::Signal(9),
        ..good()
    };
    let broken = Start {
        exit: Exit::Code(3),
        became_ready: false,
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
        became_ready: false,
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
        became_ready: false,
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
                    allow more time, use a command that ends by itself, or state with `--ready` \
                    when it is ready";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn an_interrupt_keeps_the_finished_runs_and_is_not_a_failure_of_the_command() {
    let interrupted = Start {
        exit: Exit::Signal(2),
        became_ready: false,
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

#[test]
fn every_finished_run_is_told_at_once() {
    let failing = Start {
        exit: Exit::Code(1),
        became_ready: false,
        ..good()
    };
    let mut mock = Mock {
        starts: [good(), good(), failing].into(),
        ..Mock::default()
    };
    let mut told = Vec::new();
    let (runs, _) = run_mock(&mut mock, &["a"], 3, &mut |progress| {
        if let Step::Finished(run) = progress.step {
            told.push(run.clone());
        }
        ControlFlow::Continue(())
    });
    assert_eq!(told, runs.iter().map(StudyRun::from).collect::<Vec<_>>());
    assert!(told[1].excluded.is_some());
}

#[test]
fn a_walk_is_cold_again_and_a_failed_run_has_none() {
    let failing = Start {
        exit: Exit::Code(1),
        became_ready: false,
        ..good()
    };
    let mut mock = Mock {
        walks: true,
        starts: [good(), good(), failing].into(),
        ..Mock::default()
    };
    let (runs, _) = run_all(&mut mock, &["a"], 2);
    let walks: Vec<_> = runs.iter().map(|run| run.walk_s).collect();
    assert_eq!(walks, [Some(9.0), None]);
    let digest = blake3::hash(b"a").to_hex().to_string();
    assert_eq!(
        (&runs[0].walk_digest, &runs[1].walk_digest),
        (&Some(digest), &None)
    );
    let behind = ["unmount a", "cool a", "mount a", "walk a", "unmount a"];
    assert_eq!(mock.log[5..10], behind);
}

#[test]
fn a_walk_that_would_be_warm_is_not_made() {
    let warm = std::iter::repeat_n(3, usize::try_from(COOLING_ATTEMPTS).unwrap());
    let mut mock = Mock {
        walks: true,
        resident_pages: std::iter::once(0).chain(warm).collect(),
        ..Mock::default()
    };
    let (runs, _) = run_all(&mut mock, &["a"], 1);
    assert_eq!((runs[0].walk_s, runs[0].excluded), (None, None));
    assert_eq!(runs[0].coldness.attempts, 1);
}

#[test]
fn a_command_that_ends_before_it_is_ready_has_failed() {
    let early = Start {
        became_ready: false,
        stderr_tail: "bye".into(),
        ..good()
    };
    let mut mock = Mock {
        starts: [good(), good(), early.clone()].into(),
        ..Mock::default()
    };
    let (runs, _) = run_all(&mut mock, &["a"], 2);
    let exit = Exit::Code(0);
    assert_eq!(runs[1].excluded, Some(Excluded::NotReady { exit }));
    let mut mock = Mock {
        starts: [early].into(),
        ..Mock::default()
    };
    let (_, ended) = run_all(&mut mock, &["a"], 2);
    let Err(Halt::Error(error)) = ended else {
        panic!("{ended:?}")
    };
    let expected = "the command ended in its cold start from `a` (exit code 0) before it was ready (`exit`); \
                    its last words were:\nbye";
    assert_eq!(error.to_string(), expected);
}
