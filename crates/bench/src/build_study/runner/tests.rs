use std::collections::BTreeMap;

use super::*;
use crate::build_study::{Compressor, Level, Lists, Maker, Unpacker};

/// What happens to a contestant, from its first run on; the last one happens ever after.
type Fate = Vec<fn() -> Attempt>;

/// Does what it was told, and notes what it was asked for.
#[derive(Default)]
struct FakeBackend {
    fates: BTreeMap<String, Fate>,
    asked: Vec<String>,
    image: Option<usize>,
    /// Whose run finds the disk full.
    fills: Option<&'static str>,
}

impl FakeBackend {
    fn attempt(&mut self, name: String) -> Result<Attempt, Error> {
        if self.fills == Some(name.as_str()) {
            return Err(Error::DiskFull {
                work: "/work".into(),
                told: "no room".to_owned(),
            });
        }
        let count = self.asked.iter().filter(|asked| **asked == name).count();
        let fate = self.fates.get(&name);
        let fate = fate.and_then(|fate| fate.get(count).or(fate.last()));
        self.asked.push(name);
        Ok(fate.map_or_else(done, |fate| fate()))
    }
}

impl Backend for FakeBackend {
    fn build(&mut self, build: &Build, _: &mut dyn FnMut() -> bool) -> Result<Attempt, Error> {
        assert_eq!(self.image, None, "the image before is removed first");
        self.image = Some(build.image);
        self.attempt(format!("build {}", build.image))
    }

    fn unpack(&mut self, unpack: &Unpack, _: &mut dyn FnMut() -> bool) -> Result<Attempt, Error> {
        assert_eq!(self.image, Some(unpack.image), "its image is there");
        self.attempt(format!("unpack {} {unpack}", unpack.image))
    }

    fn clear(&mut self) -> Result<(), Error> {
        self.image = None;
        Ok(())
    }
}

fn done() -> Attempt {
    measured(1.5)
}

fn measured(used_cores: f64) -> Attempt {
    Attempt::Done {
        figures: Figures::from([("used_cores".to_owned(), used_cores)]),
        warning: Some("it warns".to_owned()),
    }
}

fn failed() -> Attempt {
    Attempt::Failed {
        why: "it failed".to_owned(),
    }
}

/// Two images, each unpacked in two ways, three times.
fn study(
    fates: &[(&str, Fate)],
    fills: Option<&'static str>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> (Result<(), Error>, Vec<Run>, Vec<String>) {
    let lists = Lists {
        makers: vec![Maker::Coldpress],
        compressors: vec![Compressor::Zstd],
        levels: vec![Level::Default],
        block_sizes_bytes: vec![128 << 10, 1 << 20],
        threads: vec![2],
        unpackers: vec![Unpacker::Coldpress, Unpacker::Rdsquashfs],
        unpack_threads: vec![2],
    };
    let fates = fates
        .iter()
        .map(|(name, fate)| ((*name).to_owned(), fate.clone()));
    let mut kept = 0;
    let mut runner = Runner {
        backend: FakeBackend {
            fates: fates.collect(),
            fills,
            ..FakeBackend::default()
        },
        matrix: &lists.matrix(),
        turns: 3,
        seed: 1,
        cores: 2,
        watch: Watch {
            progress,
            ended: &mut |_| {
                kept += 1;
                Ok(())
            },
        },
        done: 0,
        warnings: BTreeSet::new(),
    };
    let mut runs = Vec::new();
    let result = runner.run_all(&mut runs);
    if result.is_ok() {
        assert_eq!(runner.done, 18, "progress reaches its end");
        assert_eq!(runner.warnings.len(), 1);
    }
    let asked = runner.backend.asked;
    assert_eq!(kept, runs.len(), "each run is kept when it is over");
    (result, runs, asked)
}

fn goes_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn everybody_runs_in_each_turn() {
    let (result, runs, _) = study(&[], None, &mut goes_on);
    result.expect("nothing fails");
    for turn in 0..3 {
        let mut contestants: Vec<_> = runs
            .iter()
            .filter(|run| run.turn == turn)
            .map(|run| run.contestant)
            .collect();
        contestants.sort_unstable();
        assert_eq!(contestants, [0, 1, 2, 3, 4, 5]);
    }
    assert!(runs.iter().all(|run| run.excluded.is_none()));
}

#[test]
fn who_failed_and_never_counted_does_not_run_again() {
    let (result, runs, asked) = study(
        &[
            ("build 0", vec![failed]),
            ("unpack 1 rdsquashfs", vec![failed]),
            ("unpack 1 coldpress j2", vec![done, failed, done]),
        ],
        None,
        &mut goes_on,
    );
    result.expect("it goes on");
    let count = |name: &str| asked.iter().filter(|asked| *asked == name).count();
    assert_eq!(count("build 0"), 1);
    assert_eq!(
        count("unpack 0 rdsquashfs") + count("unpack 0 coldpress j2"),
        0
    );
    assert_eq!(count("unpack 1 rdsquashfs"), 1);
    assert_eq!(count("unpack 1 coldpress j2"), 3);
    let excluded: Vec<_> = runs
        .iter()
        .filter_map(|run| run.excluded.as_deref())
        .collect();
    assert_eq!(excluded, ["it failed"; 3]);
}

#[test]
fn impossible_runs_are_named_and_tried_again() {
    let (result, runs, _) = study(
        &[("build 0", vec![|| measured(2.5), || measured(2.0)])],
        None,
        &mut goes_on,
    );
    result.expect("it goes on");
    let of_build: Vec<_> = runs.iter().filter(|run| run.contestant == 0).collect();
    assert_eq!(of_build.len(), 3);
    let excluded: Vec<_> = of_build.iter().map(|run| run.excluded.is_some()).collect();
    assert_eq!(excluded, [true, false, false]);
    assert_eq!(runs.len(), 18, "the image was there to be unpacked");
}

#[test]
fn a_stop_ends_it_with_the_runs_made_so_far() {
    let mut asked = 0;
    let (result, runs, _) = study(&[], None, &mut |progress| {
        asked += 1;
        assert_eq!(progress.total, 18);
        if progress.done == 4 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert!(matches!(result, Err(Error::Stopped)), "{result:?}");
    assert_eq!(runs.len(), 4);
    assert!(asked > 4);
}

#[test]
fn a_full_disk_ends_it() {
    let (result, runs, _) = study(&[], Some("build 1"), &mut goes_on);
    assert!(matches!(result, Err(Error::DiskFull { .. })), "{result:?}");
    assert!(runs.iter().all(|run| run.contestant != 1));
}
