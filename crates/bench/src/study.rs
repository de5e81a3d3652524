//! A comparison as a study, to be kept, compared and drawn like any other.

use coldpress_history::{Contestant, Facts, Figures, Kind, Origin, Run as StudyRun, State, Study};
use coldpress_report::units::{as_f64, bytes, bytes_per_s, count};

use crate::comparison::{Comparison, ContestantFacts, DeviceFacts, ViaFacts};
use crate::run::Run;

impl Comparison {
    /// The same as a study of starts.
    pub fn study(&self, title: &str) -> Study {
        Study {
            kind: Kind::Press,
            title: title.to_owned(),
            began_unix_ms: self.began_unix_s.saturating_mul(1000),
            origin: Origin::Measured,
            state: State::Done,
            facts: self.facts(),
            contestants: self
                .contestants
                .iter()
                .map(|one| Contestant {
                    name: one.name.clone(),
                    facts: one.facts.clone(),
                    figures: figures(one),
                })
                .collect(),
            runs: self.runs.iter().map(StudyRun::from).collect(),
        }
    }

    fn facts(&self) -> Facts {
        let machine = &self.machine;
        let root = if self.command.chroot {
            "the image"
        } else {
            "that of the machine"
        };
        let given = [
            ("command", self.command.line()),
            ("root_directory", root.to_owned()),
            ("time_limit", format!("{} s", self.command.timeout_s)),
            ("ready", self.command.ready.clone()),
            ("turns", self.turns.to_string()),
            ("seed", self.seed.to_string()),
            ("device", device(&self.device)),
            ("read_ahead_kib", self.read_ahead_kib.to_string()),
            ("cpu_model", machine.cpu_model.clone()),
            ("cores", machine.cores.to_string()),
            ("virtual_machine", machine.virtual_machine.to_string()),
            ("kernel", machine.kernel.clone()),
            (
                "squashfs_decompressor",
                machine.squashfs_decompressor.clone(),
            ),
            ("coldpress_version", env!("CARGO_PKG_VERSION").to_owned()),
            ("proof_of_coldness", self.coldness()),
        ];
        let known = [
            ("memory", machine.memory_bytes.map(bytes)),
            (
                "squashfs_cached_fragments",
                machine
                    .squashfs_cached_fragments
                    .map(|fragments| fragments.to_string()),
            ),
            (
                "squashfs_file_direct",
                machine
                    .squashfs_file_direct
                    .map(|is_direct| is_direct.to_string()),
            ),
        ];
        let known = known
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        let facts = given.into_iter().chain(known);
        facts
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// Counted from the runs, not asserted.
    fn coldness(&self) -> String {
        let counted: Vec<&Run> = self
            .runs
            .iter()
            .filter(|run| run.excluded.is_none())
            .collect();
        let count_of = |holds: fn(&Run) -> bool| counted.iter().filter(|run| holds(run)).count();
        let absent = count_of(|run| run.coldness.image_resident_pages == 0);
        let fresh = count_of(|run| run.coldness.fresh_superblock == Some(true));
        let again = count_of(|run| run.coldness.attempts > 1);
        format!(
            "of {} counted runs, {absent} began without a page of the image in the page cache (cachestat), and {fresh} with a \
             fresh mount of a fresh loop device; in {again} the caches had to be dropped more than once",
            counted.len()
        )
    }
}

/// What was known of a contestant, and its size.
fn figures(contestant: &ContestantFacts) -> Figures {
    let mut figures = contestant.figures.clone();
    figures.insert("size_bytes".to_owned(), as_f64(contestant.size_bytes));
    figures
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

fn device(device: &DeviceFacts) -> String {
    let via = match device.via {
        ViaFacts::Partition => "the image as a partition (direct I/O, the loop device throttled)",
        ViaFacts::File => "the image as a file (buffered, the disk below throttled)",
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

#[cfg(test)]
mod tests {
    use crate::example;
    use crate::run::Excluded;

    #[test]
    fn a_comparison_keeps_its_runs_and_says_what_they_depend_on() {
        let mut comparison = example::comparison(&["plain", "ordered"], 3);
        comparison.runs[1].excluded = Some(Excluded::TimedOut);
        comparison.runs[1].cold_s = None;
        let study = comparison.study("a start");
        assert_eq!(study.runs.len(), 6);
        assert_eq!(study.values(0, "cold_s").len(), 3);
        assert_eq!(study.values(1, "cold_s").len(), 2);
        let excluded = &study.runs[1];
        assert_eq!(
            excluded.excluded.as_deref(),
            Some("the command exceeded its time limit")
        );
        assert!(!excluded.figures.contains_key("cold_s"));
        let size_bytes = study.contestants[1].figures["size_bytes"];
        assert!((size_bytes - 336_000_000.0).abs() < 1.0);
        assert!(study.facts["device"].starts_with("usb2: 25.0 MB/s, 400 reads/s"));
        assert!(study.facts["proof_of_coldness"].starts_with("of 5 counted runs, 5 began"));
    }
}
