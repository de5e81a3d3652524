//! Whether reading ahead helps, found out over launches.
//!
//! Launches with and without it are kept in the history as one study, in turn: without, with, with,
//! without, so that neither always comes behind the other. Once there are enough of both, it goes
//! on only if it helped for sure.

use std::path::{Path, absolute};
use std::time::Duration;

use coldpress_bench::stats::{Ratio, unpaired_ratio};
use coldpress_history::{
    Contestant, Facts, Figures, History, Kind, Origin, Run, State, Study, StudyId,
};
use coldpress_report::text::{escaped, escaped_path};
use coldpress_report::units;
use coldpress_session::clock::now_unix_ms;
use coldpress_session::state;
use coldpress_session::ui::Ui;

use crate::image_file::Opened;
use crate::verbs::run::args::RunArgs;

/// Launches of each kind, after which it is decided: an effect of some percent shows by then, if
/// launches are alike.
const LAUNCHES_EACH: usize = 10;
const FIGURE: &str = "launch_s";
const WITHOUT: usize = 0;
const WITH: usize = 1;
const NAMES: [&str; 2] = ["without prefetch", "with prefetch"];

/// The launches of one command from one image with one profile.
pub(super) struct Trial {
    history: History,
    id: StudyId,
    study: Study,
}

impl Trial {
    /// Finds the launches there were, or begins.
    ///
    /// # Errors
    ///
    /// If there is no history, or it cannot be read or written.
    pub(super) fn open(args: &RunArgs, opened: &Opened) -> anyhow::Result<Self> {
        let fresh = fresh(args, opened)?;
        let mut history = state::open()?;
        let (id, study) = match find(&history, &fresh)? {
            Some(found) => found,
            None => (history.begin(&fresh)?, fresh),
        };
        Ok(Self { history, id, study })
    }

    /// Whether the launch that comes reads ahead; tells if that is decided.
    pub(super) fn reads_ahead(&self, ui: &Ui) -> bool {
        let Some(ratio) = verdict(&self.study) else {
            return is_with(self.study.runs.len());
        };
        let helps = ratio.interval.high < 1.0;
        let outcome = if helps {
            "reading ahead"
        } else {
            "not reading ahead"
        };
        let [value, low, high] =
            [ratio.value, ratio.interval.low, ratio.interval.high].map(units::ratio);
        ui.say(&format!(
            "{outcome}: launches with it took {value} ({low} to {high}) of the time of those \
            without; \
             `coldpress history forget {}` tries again",
            self.id
        ));
        helps
    }

    /// Keeps a launch that is over, unless it is decided.
    ///
    /// # Errors
    ///
    /// If the history cannot be written.
    pub(super) fn keep(mut self, took: Duration, status: u8) -> anyhow::Result<()> {
        if verdict(&self.study).is_some() {
            return Ok(());
        }
        let index = self.study.runs.len();
        let run = Run {
            contestant: if is_with(index) { WITH } else { WITHOUT },
            turn: u32::try_from(index / NAMES.len()).unwrap_or(u32::MAX),
            excluded: (status != 0).then(|| format!("exit status {status}")),
            figures: Figures::from([(FIGURE.to_owned(), took.as_secs_f64())]),
        };
        self.history.append(self.id, &run)?;
        self.history.finish(self.id, State::Done)?;
        Ok(())
    }
}

/// Which of the launches read ahead.
fn is_with(index: usize) -> bool {
    matches!(index % 4, 1 | 2)
}

/// What launches with it take of the time of those without, once there are enough.
fn verdict(study: &Study) -> Option<Ratio> {
    let [without, with] = [WITHOUT, WITH].map(|side| study.values(side, FIGURE));
    if without.len().min(with.len()) < LAUNCHES_EACH {
        return None;
    }
    unpaired_ratio(&without, &with)
}

/// A study without launches. Its facts tell it from those of other commands, and of other images of
/// the same name.
fn fresh(args: &RunArgs, opened: &Opened) -> anyhow::Result<Study> {
    let superblock = opened.image.superblock();
    let shown = |path: &Path| anyhow::Ok(escaped_path(&absolute(path)?));
    let command: Vec<String> = args
        .command
        .iter()
        .map(|word| escaped(word.as_encoded_bytes()))
        .collect();
    let command = command.join(" ");
    let mut facts = Facts::from([
        ("image".to_owned(), shown(&args.image)?),
        ("image_bytes".to_owned(), superblock.bytes_used.to_string()),
        (
            "image_time_s".to_owned(),
            superblock.modification_time_s.to_string(),
        ),
        (
            "mount".to_owned(),
            if args.kernel { "kernel" } else { "fuse" }.to_owned(),
        ),
        ("command".to_owned(), command.clone()),
    ]);
    if let Some(profile) = &args.profile {
        facts.insert("profile".to_owned(), shown(profile)?);
        facts.insert(
            "profile_bytes".to_owned(),
            profile.metadata()?.len().to_string(),
        );
    }
    Ok(Study {
        kind: Kind::Launch,
        title: format!("launches of {command} with and without prefetch"),
        began_unix_ms: now_unix_ms(),
        origin: Origin::Measured,
        state: State::Running,
        facts,
        contestants: NAMES
            .map(|name| Contestant {
                name: name.to_owned(),
                ..Contestant::default()
            })
            .to_vec(),
        runs: Vec::new(),
    })
}

/// The newest study of the same launches.
fn find(history: &History, fresh: &Study) -> anyhow::Result<Option<(StudyId, Study)>> {
    let listed = history.list()?;
    let alike = listed
        .iter()
        .rev()
        .filter(|other| other.kind == fresh.kind && other.title == fresh.title);
    for other in alike {
        if let Some(study) = history.study(other.id)?
            && study.facts == fresh.facts
        {
            return Ok(Some((other.id, study)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_alternate_and_neither_is_always_the_second() {
        let with: Vec<bool> = (0..8).map(is_with).collect();
        let expected = [false, true, true, false, false, true, true, false];
        assert_eq!(with, expected);
    }

    /// A study of launches that took so long, in turn.
    fn launches(count: usize, without_s: f64, with_s: f64) -> Study {
        let run = |index: usize| {
            let (contestant, took_s) = if is_with(index) {
                (WITH, with_s)
            } else {
                (WITHOUT, without_s)
            };
            // Launches differ a little.
            let took_s = took_s * if index.is_multiple_of(3) { 1.01 } else { 1.0 };
            Run {
                contestant,
                turn: 0,
                excluded: None,
                figures: Figures::from([(FIGURE.to_owned(), took_s)]),
            }
        };
        Study {
            kind: Kind::Launch,
            title: String::new(),
            began_unix_ms: 0,
            origin: Origin::Measured,
            state: State::Done,
            facts: Facts::new(),
            contestants: Vec::new(),
            runs: (0..count).map(run).collect(),
        }
    }

    #[test]
    fn it_is_decided_by_enough_launches() {
        for (count, without_s, with_s, helps) in [
            (2 * LAUNCHES_EACH - 1, 1.0, 0.5, None),
            (2 * LAUNCHES_EACH, 1.0, 0.5, Some(true)),
            (2 * LAUNCHES_EACH, 1.0, 0.9, Some(true)),
            (2 * LAUNCHES_EACH, 1.0, 1.0, Some(false)),
            (2 * LAUNCHES_EACH, 1.0, 1.5, Some(false)),
        ] {
            let found = verdict(&launches(count, without_s, with_s));
            assert_eq!(
                found.map(|ratio| ratio.interval.high < 1.0),
                helps,
                "{with_s}"
            );
        }
    }
}
