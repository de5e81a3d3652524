//! What a comparison says of itself as a study: its conditions, its contestants, its runs.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use coldpress_history::{
    Contestant as StudyContestant, Facts, Origin, Run as StudyRun, State, Study,
};
use coldpress_host::{Command, Device, Readahead, Via};
use coldpress_report::text::printable;
use coldpress_report::units::{as_f64, bytes_per_s, count};

use crate::error::Error;
use crate::machine_facts::machine_facts;
use crate::run::Run;
use crate::scenario::{Contestant, Scenario, What};
use crate::tree;

/// The fact of a contestant that was read whole: digests of the trees found, one as a rule.
pub(crate) const TREE_DIGEST: &str = "tree_digest";

/// The study of `scenario` before its first run.
pub(crate) fn begun(scenario: &Scenario, contestants: &[Contestant]) -> Result<Study, Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let began_unix_ms = now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
    let mut facts = machine_facts([]);
    facts.extend(conditions(scenario));
    Ok(Study {
        kind: scenario.kind,
        title: scenario.title.clone(),
        began_unix_ms,
        origin: Origin::Measured,
        state: State::Running,
        facts,
        contestants: contestants
            .iter()
            .map(described)
            .collect::<Result<_, _>>()?,
        runs: Vec::new(),
    })
}

/// What was found in `runs`, put into the study as it ended.
pub(crate) fn take_in(study: &mut Study, runs: &[Run], state: State) {
    study.state = state;
    study.runs = runs.iter().map(StudyRun::from).collect();
    let coldness = coldness(runs);
    study.facts.insert("proof_of_coldness".to_owned(), coldness);
    for (index, contestant) in study.contestants.iter_mut().enumerate() {
        let of_one = runs.iter().filter(|run| run.contestant == index);
        let mut digests: Vec<&str> = of_one
            .filter_map(|run| run.walk_digest.as_deref())
            .collect();
        digests.sort_unstable();
        digests.dedup();
        if !digests.is_empty() {
            let facts = &mut contestant.facts;
            facts.insert(TREE_DIGEST.to_owned(), digests.join(" "));
        }
    }
}

fn described(contestant: &Contestant) -> Result<StudyContestant, Error> {
    let path = contestant.what.path();
    let size_bytes = match &contestant.what {
        What::Image { .. } => {
            let metadata = fs::metadata(path).map_err(Error::io("look at", path))?;
            metadata.len()
        }
        What::Directory(directory) => tree::size_bytes(directory)?,
    };
    let mut facts = contestant.facts.clone();
    if let Some(readahead) = contestant.what.readahead() {
        facts.insert("readahead".to_owned(), readahead.to_string());
    }
    let mut figures = contestant.figures.clone();
    figures.insert("size_bytes".to_owned(), as_f64(size_bytes));
    Ok(StudyContestant {
        name: contestant.name.clone(),
        facts,
        figures,
    })
}

fn conditions(scenario: &Scenario) -> Facts {
    let command = &scenario.command;
    let root = if command.chroot {
        "the image"
    } else {
        "that of the machine"
    };
    let ready = command.ready.text();
    let facts = [
        ("command", line(command)),
        ("root_directory", root.to_owned()),
        ("time_limit", format!("{} s", command.timeout_s)),
        ("ready", printable(ready.as_bytes())),
        ("turns", scenario.runs.to_string()),
        ("seed", scenario.seed.to_string()),
        ("device", device(&scenario.device)),
        // Before the mount, unless the fact `readahead` of a contestant says otherwise.
        ("read_ahead_kib", Readahead::DISK_KIB.to_string()),
    ];
    let facts = facts.into_iter();
    facts
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// The command as a shell would take it; bytes that are not UTF-8 are written `\xNN`.
fn line(command: &Command) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%{}".contains(c);
    let quoted = command.args.iter().map(|arg| {
        let arg = printable(arg.as_encoded_bytes());
        if !arg.is_empty() && arg.chars().all(plain) {
            arg
        } else {
            format!("'{}'", arg.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn device(device: &Device) -> String {
    let via = match device.via {
        Via::Partition => "the image as a partition (direct I/O, the loop device throttled)",
        Via::File => "the image as a file (buffered, the disk below throttled)",
    };
    let rate = device.read_bytes_per_s.map(bytes_per_s);
    let iops = device
        .read_iops
        .map(|rate| format!("{} reads/s", count(rate)));
    let limits: Vec<String> = rate.into_iter().chain(iops).collect();
    let limits = if limits.is_empty() {
        "not throttled".to_owned()
    } else {
        limits.join(", ")
    };
    format!("{}: {limits}; {via}", device.name)
}

/// Counted from the runs, not asserted.
fn coldness(runs: &[Run]) -> String {
    let counted: Vec<&Run> = runs.iter().filter(|run| run.excluded.is_none()).collect();
    let count_of = |holds: fn(&Run) -> bool| counted.iter().filter(|run| holds(run)).count();
    let absent = count_of(|run| run.coldness.image_resident_pages == 0);
    let fresh = count_of(|run| run.coldness.fresh_superblock == Some(true));
    let again = count_of(|run| run.coldness.attempts > 1);
    format!(
        "of {} counted runs, {absent} began without a page of the image in the page cache \
         (cachestat), and {fresh} with a fresh mount of a fresh loop device; in {again} the caches \
         had to be dropped more than once",
        counted.len()
    )
}

impl From<&Run> for StudyRun {
    fn from(run: &Run) -> StudyRun {
        let figures = [
            ("cold_s", run.cold_s),
            ("warm_s", run.warm_s),
            ("walk_s", run.walk_s),
            ("cpu_s", run.cpu_s),
            ("reads", run.reads.map(as_f64)),
            ("read_bytes", run.read_bytes.map(as_f64)),
            ("mount_reads", run.mount_reads.map(as_f64)),
            ("mount_read_bytes", run.mount_read_bytes.map(as_f64)),
            ("page_cache_bytes", run.page_cache_bytes.map(as_f64)),
            ("readahead_bytes", run.readahead_bytes.map(as_f64)),
            (
                "resident_pages",
                Some(as_f64(run.coldness.image_resident_pages)),
            ),
        ];
        let measured = figures
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        StudyRun {
            contestant: run.contestant,
            turn: run.turn,
            excluded: run.excluded.map(|reason| reason.to_string()),
            figures: measured.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use coldpress_host::Ready;

    use super::*;
    use crate::example;
    use crate::run::Excluded;

    #[test]
    fn a_command_is_shown_as_a_shell_takes_it() {
        let args = ["{root}/bin/sh", "-c", "echo 'a b' <x>", ""];
        let command = Command {
            args: args.iter().map(Into::into).collect(),
            chroot: false,
            environment: Vec::new(),
            working_directory: None,
            timeout_s: 10,
            ready: Ready::Exit,
        };
        let expected = r"{root}/bin/sh -c 'echo '\''a b'\'' <x>' ''";
        assert_eq!(line(&command), expected);
    }

    #[test]
    fn a_device_is_named_with_its_limits() {
        for (named, expected) in [
            (
                "usb2",
                "usb2: 25.0 MB/s, 400 reads/s; the image as a partition",
            ),
            ("host", "host: not throttled; "),
        ] {
            let device = device(&Device::parse(named).expect("a device"));
            assert!(device.starts_with(expected), "{device}");
        }
    }

    #[test]
    fn a_study_takes_in_its_runs_and_counts_how_cold_they_were() {
        let mut runs = example::runs(2, 3);
        runs[1].excluded = Some(Excluded::TimedOut);
        runs[1].cold_s = None;
        for run in runs.iter_mut().filter(|run| run.contestant == 1) {
            run.walk_digest = Some(format!("tree-{}", run.turn / 2));
        }
        let mut study = example::study(&["plain", "ordered"], 3);
        take_in(&mut study, &runs, State::Done);
        assert_eq!(study.runs.len(), 6);
        assert_eq!(study.values(0, "cold_s").len(), 3);
        assert_eq!(study.values(1, "cold_s").len(), 2);
        let excluded = &study.runs[1];
        assert_eq!(
            excluded.excluded.as_deref(),
            Some("the command exceeded its time limit")
        );
        assert!(!excluded.figures.contains_key("cold_s"));
        assert!(study.facts["proof_of_coldness"].starts_with("of 5 counted runs, 5 began"));
        assert!(!study.contestants[0].facts.contains_key(TREE_DIGEST));
        assert_eq!(study.contestants[1].facts[TREE_DIGEST], "tree-0 tree-1");
    }
}
