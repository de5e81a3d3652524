//! A task under way.

use std::sync::Arc;

use coldpress_history::{Status, Task};

use super::{TASKS_MAX, Timing};

/// A task under way; a task that is begun meanwhile is a part of it. Dropped without an end, it has
/// failed.
#[derive(Debug)]
pub struct Running {
    timing: Arc<Timing>,
    /// Its place in the list; `None` if it has ended, or there are too many.
    index: Option<usize>,
}

impl Running {
    /// Begins a task.
    ///
    /// * `label`: its kind, as a word.
    /// * `summary`: what it does, as a sentence.
    pub fn begin(timing: &Arc<Timing>, label: &str, summary: String) -> Self {
        // What threads did before is nobody's.
        timing.busy.take();
        let began_us = timing.elapsed_us();
        let mut noted = timing.noted();
        let index = Some(noted.tasks.len()).filter(|index| *index < TASKS_MAX);
        if index.is_some() {
            let task = Task {
                level: noted.level,
                label: label.replace(' ', "-"),
                summary,
                status: Some(Status::Doing),
                began_us,
                ..Task::default()
            };
            noted.tasks.push(task);
            noted.level += 1;
        }
        Self {
            timing: Arc::clone(timing),
            index,
        }
    }

    /// Adds what it is about to its summary.
    pub fn describe(&self, what: &str) {
        let mut noted = self.timing.noted();
        let task = self.index.and_then(|index| noted.tasks.get_mut(index));
        if let Some(task) = task {
            task.summary = format!("{}: {what}", task.summary);
        }
    }

    /// Ends it well.
    pub fn done(mut self) {
        self.end(Status::Done);
    }

    fn end(&mut self, status: Status) {
        let Some(index) = self.index.take() else {
            return;
        };
        let end_us = self.timing.elapsed_us();
        let mut noted = self.timing.noted();
        noted.level = noted.level.saturating_sub(1);
        let Some(task) = noted.tasks.get_mut(index) else {
            return;
        };
        let doing_us = end_us.saturating_sub(task.began_us);
        task.status = Some(status);
        task.doing_us = Some(doing_us);
        let level = task.level + 1;
        noted.tasks.extend(
            self.timing
                .busy
                .take()
                .into_iter()
                .map(|task| Task { level, ..task }),
        );
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end(Status::Error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_nested_as_they_are_begun_and_fail_if_they_are_dropped() {
        let timing = Arc::new(Timing::new());
        let outer = Running::begin(&timing, "first image", "Outer".to_owned());
        let inner = Running::begin(&timing, "inner", "Inner".to_owned());
        inner.describe("a part");
        drop(inner);
        outer.done();
        Running::begin(&timing, "last", "Last".to_owned()).done();
        let change = timing.change(Status::Error);
        let found: Vec<_> = change
            .tasks
            .iter()
            .map(|task| {
                let names = [&task.name, &task.label, &task.summary].map(String::as_str);
                (task.level, names, task.status)
            })
            .collect();
        let (done, error) = (Some(Status::Done), Some(Status::Error));
        let expected = [
            (0, ["1", "first-image", "Outer"], done),
            (1, ["", "inner", "Inner: a part"], error),
            (0, ["2", "last", "Last"], done),
        ];
        assert_eq!(found, expected);
        let aborted = timing.change(Status::Abort);
        let inner = aborted.tasks.get(1).and_then(|task| task.status);
        assert_eq!(inner, Some(Status::Abort));
    }
}
