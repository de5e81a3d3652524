//! The tasks of a change, as they are drawn.

use coldpress_history::{Change, Task};
use coldpress_report::units::as_f64;

/// The tasks of one change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waterfall {
    /// What was done.
    pub title: String,
    /// Its tasks, each behind the one that it is a part of.
    pub spans: Vec<TaskSpan>,
}

/// A task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskSpan {
    /// What it is called.
    pub label: String,
    /// How many tasks it is a part of.
    pub depth: u32,
    /// When it began, from the start of the change.
    pub began_s: f64,
    /// How long it took.
    pub duration_s: f64,
}

impl From<&Change> for Waterfall {
    fn from(change: &Change) -> Waterfall {
        Waterfall {
            title: change.summary.clone(),
            spans: change.tasks.iter().map(TaskSpan::from).collect(),
        }
    }
}

impl From<&Task> for TaskSpan {
    /// The time that several threads spent together would not fit into that of the task around it,
    /// so it is drawn as what each of them spent on average.
    fn from(task: &Task) -> TaskSpan {
        let name = if task.label.is_empty() {
            &task.name
        } else {
            &task.label
        };
        let threads = task.threads.unwrap_or(1).max(1);
        let label = if threads > 1 {
            format!("{name}, in each of {threads} threads")
        } else {
            name.clone()
        };
        let spent_us = [task.doing_us, task.undoing_us].into_iter().flatten();
        let spent_us = spent_us.fold(0_u64, u64::saturating_add);
        TaskSpan {
            label,
            depth: u32::from(task.level),
            began_s: as_f64(task.began_us) / 1e6,
            duration_s: as_f64(spent_us) / 1e6 / f64::from(threads),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_spent_together_is_drawn_as_the_part_of_each() {
        let task = Task {
            level: 2,
            name: "160165".to_owned(),
            label: "hash".to_owned(),
            began_us: 500_000,
            doing_us: Some(3_000_000),
            undoing_us: Some(1_000_000),
            threads: Some(4),
            ..Task::default()
        };
        let span = TaskSpan::from(&task);
        assert_eq!(span.label, "hash, in each of 4 threads");
        assert_eq!((span.depth, span.began_s, span.duration_s), (2, 0.5, 1.0));
        let alone = Task {
            label: String::new(),
            threads: None,
            ..task
        };
        let span = TaskSpan::from(&alone);
        assert_eq!((span.label.as_str(), span.duration_s), ("160165", 4.0));
    }
}
