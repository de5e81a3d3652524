//! When tasks began of which only durations are known.

use crate::change::Task;

/// Lays tasks one behind the other, nested ones from the start of theirs; returns the end of the
/// last.
pub(super) fn lay_out(tasks: &mut [Task]) -> u64 {
    let mut last_us = 0;
    // For each level where the next task of it begins.
    let mut next_us = vec![0_u64];
    for task in tasks {
        let level = usize::from(task.level);
        next_us.truncate(level + 1);
        // A level that was passed over has begun with the one above it.
        let above_us = next_us.last().copied().unwrap_or(0);
        next_us.resize(level + 1, above_us);
        let Some(next) = next_us.last_mut() else {
            continue;
        };
        task.began_us = *next;
        let took_us = task.doing_us.unwrap_or(0) + task.undoing_us.unwrap_or(0);
        *next += took_us;
        last_us = last_us.max(*next);
        let began_us = task.began_us;
        next_us.push(began_us);
    }
    last_us
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_follow_each_other_and_nested_ones_begin_with_theirs() {
        let mut tasks: Vec<Task> = [
            (0, 9),
            (1, 5),
            (2, 1),
            (2, 1),
            (1, 6),
            (0, 3),
            (3, 1),
            (1, 2),
        ]
        .map(|(level, doing_us)| Task {
            level,
            doing_us: Some(doing_us),
            ..Task::default()
        })
        .into();
        assert_eq!(lay_out(&mut tasks), 12);
        let began: Vec<u64> = tasks.iter().map(|task| task.began_us).collect();
        assert_eq!(began, [0, 0, 0, 1, 5, 9, 9, 9]);
    }
}
