//! A change: one operation, and the tasks that it consisted of.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::study::Origin;

/// One operation, such as a build, as timed tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What was asked for: `build`, `extract`.
    pub verb: String,
    /// The same as a sentence, for listings.
    pub summary: String,
    /// When it began, in milliseconds since 1970; when it was imported, if nobody stated it.
    pub began_unix_ms: u64,
    /// How long it took; `None` while it is under way, if its process was killed, or if nobody
    /// stated it.
    pub took_us: Option<u64>,
    /// Whose figures they are.
    pub origin: Origin,
    /// How it ended.
    pub status: Status,
    /// The tasks in the order of a listing: what a task consists of stands behind it, one level
    /// deeper.
    pub tasks: Vec<Task>,
}

/// A timed part of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// How deep it is nested; 0 for what the change itself consists of.
    pub level: u16,
    /// Its name in the first column of a listing; nested ones have none.
    pub name: String,
    /// What kind of task it is: `compressing`, `verifying`.
    pub label: String,
    /// What it did, as a sentence.
    pub summary: String,
    /// How it ended; nested ones need not have a status.
    pub status: Option<Status>,
    /// When it began, from the start of the change.
    pub began_us: u64,
    /// How long it took.
    pub doing_us: Option<u64>,
    /// How long it took to undo it again.
    pub undoing_us: Option<u64>,
    /// How many threads did it at times, whose times are summed; `None` if it was done in one go.
    pub threads: Option<u32>,
}

/// How far a change or a task is, in the words of snapd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// Not stated.
    Default,
    /// Ready to begin.
    Do,
    /// Under way, or its process was killed.
    Doing,
    /// Done.
    Done,
    /// Done but for what has to happen outside.
    Wait,
    /// Stopped by a person.
    Abort,
    /// To be undone.
    Undo,
    /// Being undone.
    Undoing,
    /// Undone.
    Undone,
    /// Not begun, because of what failed before.
    Hold,
    /// Failed.
    Error,
}

impl Status {
    const ALL: [Self; 11] = [
        Self::Default,
        Self::Do,
        Self::Doing,
        Self::Done,
        Self::Wait,
        Self::Abort,
        Self::Undo,
        Self::Undoing,
        Self::Undone,
        Self::Hold,
        Self::Error,
    ];

    /// Its word in listings and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "Default",
            Self::Do => "Do",
            Self::Doing => "Doing",
            Self::Done => "Done",
            Self::Wait => "Wait",
            Self::Abort => "Abort",
            Self::Undo => "Undo",
            Self::Undoing => "Undoing",
            Self::Undone => "Undone",
            Self::Hold => "Hold",
            Self::Error => "Error",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Status {
    type Err = UnknownStatus;

    fn from_str(word: &str) -> Result<Self, UnknownStatus> {
        let found = Self::ALL.into_iter().find(|status| status.name() == word);
        found.ok_or(UnknownStatus)
    }
}

/// A word that is no status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a status is one of Do, Doing, Done, Wait, Abort, Undo, Undoing, Undone, Hold, Error and \
    Default"
)]
pub struct UnknownStatus;

impl Change {
    /// The same as one activity: a single line for all of it that bears the name of the verb, with
    /// the tasks below it, as snapd lists what it does when it starts.
    #[must_use]
    pub fn as_activity(&self) -> Self {
        if self.is_activity() {
            return self.clone();
        }
        let whole = Task {
            name: self.verb.clone(),
            doing_us: self.took_us,
            ..Task::default()
        };
        let nested = self.tasks.iter().map(|task| Task {
            level: task.level.saturating_add(1),
            name: String::new(),
            status: None,
            ..task.clone()
        });
        Self {
            tasks: std::iter::once(whole).chain(nested).collect(),
            ..self.clone()
        }
    }

    fn is_activity(&self) -> bool {
        let mut outer = self.tasks.iter().filter(|task| task.level == 0);
        let is_whole = |task: &Task| task.name == self.verb && task.status.is_none();
        outer.next().is_some_and(is_whole) && outer.next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_read_as_it_is_written() {
        for status in Status::ALL {
            assert_eq!(status.to_string().parse(), Ok(status));
            let json = serde_json::to_string(&status).expect("a word");
            assert_eq!(json, format!("\"{status}\""));
        }
        assert_eq!("done".parse::<Status>(), Err(UnknownStatus));
    }

    #[test]
    fn a_change_becomes_an_activity_once() {
        let task = |level, name: &str| Task {
            level,
            name: name.to_owned(),
            status: (level == 0).then_some(Status::Done),
            ..Task::default()
        };
        let change = Change {
            verb: "build".to_owned(),
            summary: String::new(),
            began_unix_ms: 0,
            took_us: Some(9),
            origin: Origin::Measured,
            status: Status::Done,
            tasks: vec![task(0, "1"), task(1, ""), task(0, "2")],
        };
        let activity = change.as_activity();
        let levels: Vec<u16> = activity.tasks.iter().map(|task| task.level).collect();
        assert_eq!(levels, [0, 1, 2, 1]);
        assert_eq!(
            activity.tasks.first().map(|task| task.doing_us),
            Some(Some(9))
        );
        assert!(activity.tasks.iter().all(|task| task.status.is_none()));
        assert_eq!(activity.as_activity(), activity);
    }
}
