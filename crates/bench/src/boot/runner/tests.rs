use std::collections::{BTreeMap, VecDeque};

use coldpress_history::{Contestant, Facts, Kind, Origin, State};

use super::*;
use crate::boot::chart::{ChartLine, ChartSample};

/// Boots from a script; good ones afterwards.
#[derive(Default)]
struct Script {
    boots: BTreeMap<usize, VecDeque<Boot>>,
    /// (contestant, traced).
    booted: Vec<(usize, bool)>,
}

fn boot(time_s: f64) -> Boot {
    Boot {
        end: End::Ready,
        time_s,
        kernel_s: Some(0.5),
        samples: vec![ChartSample {
            at_s: time_s,
            cpu_s: 1.0,
            reads: 10,
            read_bytes: 40_960,
        }],
        lines: vec![ChartLine {
            at_s: time_s / 2.0,
            text: format!("[  OK  ] Started unit-of-{time_s}."),
        }],
        console_tail: "last words".to_owned(),
    }
}

impl Backend for &mut Script {
    fn boot(
        &mut self,
        contestant: usize,
        traced: bool,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Boot>, Error> {
        self.booted.push((contestant, traced));
        let boots = self.boots.get_mut(&contestant);
        let next = boots.and_then(VecDeque::pop_front);
        Ok((!stop()).then(|| next.unwrap_or_else(|| boot(4.0))))
    }
}

fn study() -> Study {
    Study {
        kind: Kind::Boot,
        title: "boots".to_owned(),
        began_unix_ms: 0,
        origin: Origin::Measured,
        state: State::Running,
        facts: Facts::new(),
        contestants: vec![Contestant::default(); 2],
        runs: Vec::new(),
    }
}

/// Runs three turns of two contestants.
fn run(
    script: &mut Script,
    charts: bool,
    progress: &mut dyn FnMut(BootProgress) -> ControlFlow<()>,
) -> (Study, Result<Vec<BootChart>, Error>) {
    let mut study = study();
    let mut runner = Runner {
        backend: script,
        names: ["xz", "zstd"].map(str::to_owned).to_vec(),
        turns: 3,
        seed: 1,
        cpus: 2,
        charts,
        is_traceable: true,
        progress,
    };
    let charts = runner.run_all(&mut study);
    (study, charts)
}

fn go_on(_: BootProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn every_contestant_runs_in_every_turn_and_is_told_when_it_is_over() {
    let mut script = Script::default();
    let mut told = Vec::new();
    let (study, charts) = run(&mut script, false, &mut |progress| {
        if let BootProgress::Ended { run, .. } = progress {
            told.push(run.clone());
        }
        ControlFlow::Continue(())
    });
    assert_eq!(charts.expect("good boots"), []);
    assert_eq!(study.runs, told);
    for turn in study.runs.chunks(2) {
        assert_eq!(turn[0].contestant + turn[1].contestant, 1);
        assert_eq!(turn[0].turn, turn[1].turn);
    }
    let figures = &study.runs[0].figures;
    for (name, value) in [
        ("boot_s", 4.0),
        ("kernel_s", 0.5),
        ("cpu_s", 1.0),
        ("reads", 10.0),
        ("read_bytes", 40_960.0),
    ] {
        assert_eq!(figures.get(name), Some(&value), "{name}");
    }
}

#[test]
fn a_boot_that_fails_is_no_sample_and_in_the_first_turn_the_end() {
    let lost = Boot {
        end: End::Lost("Kernel panic - not syncing".to_owned()),
        ..boot(4.0)
    };
    let mut script = Script::default();
    script.boots.insert(0, [boot(4.0), lost.clone()].into());
    let (study, end) = run(&mut script, false, &mut go_on);
    assert!(end.is_ok());
    assert_eq!(study.counted(0).count(), 2);
    let excluded: Vec<_> = study
        .runs
        .iter()
        .filter_map(|run| run.excluded.as_deref())
        .collect();
    assert_eq!(excluded, ["the guest gave up: Kernel panic - not syncing"]);

    let mut script = Script::default();
    script.boots.insert(1, [lost].into());
    let (_, end) = run(&mut script, false, &mut go_on);
    let error = end.expect_err("the first turn").to_string();
    assert_eq!(
        error,
        "`zstd` does not boot: the guest gave up: Kernel panic - not syncing; its console ended with:\nlast words"
    );
}

#[test]
fn each_kind_of_failure_has_its_words() {
    for (end, cpu_s, words) in [
        (End::Ready, 1.0, None),
        (
            End::Ready,
            9.0,
            Some("the boot took less time than its processors worked"),
        ),
        (
            End::SwitchedOff,
            1.0,
            Some("the guest ended before it was ready"),
        ),
        (
            End::TimedOut,
            1.0,
            Some("the guest was not ready after 4 s"),
        ),
    ] {
        let mut boot = Boot { end, ..boot(4.0) };
        boot.samples[0].cpu_s = cpu_s;
        assert_eq!(why_not_counted(&boot, 2).as_deref(), words);
    }
}

#[test]
fn the_median_boot_is_drawn_with_the_processes_of_a_traced_one() {
    let mut script = Script::default();
    let traced = Boot {
        lines: vec![ChartLine {
            at_s: 1.0,
            text: "sched_process_exec: filename=/bin/sh pid=1 old_pid=1".to_owned(),
        }],
        ..boot(9.0)
    };
    let boots = [boot(7.0), boot(5.0), boot(6.0), traced];
    script.boots.insert(0, boots.into());
    let lost = Boot {
        end: End::TimedOut,
        ..boot(9.0)
    };
    let boots = [boot(1.0), boot(1.0), boot(1.0), lost];
    script.boots.insert(1, boots.into());
    let (study, charts) = run(&mut script, true, &mut go_on);
    let charts = charts.expect("good boots");
    assert_eq!(study.runs.len(), 6, "what is traced does not count");
    assert_eq!(script.booted[6..], [(0, true), (1, true)]);
    assert_eq!(
        (charts[0].boot_s, charts[0].traced_boot_s),
        (6.0, Some(9.0))
    );
    assert_eq!(charts[0].units[0].name, "unit-of-6");
    assert_eq!(charts[0].processes[0].name, "sh");
    assert_eq!(
        (charts[1].traced_boot_s, charts[1].processes.len()),
        (None, 0)
    );
}

#[test]
fn it_can_be_interrupted_before_and_in_a_boot() {
    for which in 0..3 {
        let (study, end) = run(&mut Script::default(), false, &mut |progress| {
            let is_it = match progress {
                BootProgress::Began(_) => which == 0,
                BootProgress::Booting { turn, .. } => which == 1 && turn == 1,
                BootProgress::Waiting => which == 2,
                _ => false,
            };
            if is_it {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert!(matches!(end, Err(Error::Stopped)), "{which}");
        assert_eq!(study.runs.len(), if which == 1 { 2 } else { 0 });
    }
}
