//! A change in Chrome's trace event format, which Perfetto and `chrome://tracing` open.
//!
//! <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>

use serde::Serialize;

use crate::change::{Change, Task};

/// The only process; a change runs in one.
const PROCESS: u32 = 1;
/// The lane of the change and all that was done in one go.
const MAIN: u32 = 1;

/// A file of trace events.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceEvents {
    trace_events: Vec<TraceEvent>,
    display_time_unit: &'static str,
}

/// One event: a duration (`X`), or a name (`M`).
#[derive(Debug, PartialEq, Eq, Serialize)]
struct TraceEvent {
    name: String,
    ph: char,
    pid: u32,
    tid: u32,
    /// Microseconds from the start of the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<u64>,
    args: Args,
}

/// What a viewer shows of an event that is chosen.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Args {
    /// The name that a metadata event gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// The sum over the threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    busy_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<u32>,
}

impl Change {
    /// The change and its tasks as trace events.
    ///
    /// Nested tasks lie within theirs by time. One that several threads did at times has a lane of
    /// its own and the mean of their times for its duration, since the sum may reach beyond the
    /// end.
    pub fn trace_events(&self) -> TraceEvents {
        // What only looks at something has no verb.
        let name = format!("coldpress {}", self.verb).trim_end().to_owned();
        let mut events = vec![
            named("process_name", MAIN, name.clone()),
            named("thread_name", MAIN, "tasks".to_owned()),
            TraceEvent {
                name,
                ph: 'X',
                pid: PROCESS,
                tid: MAIN,
                ts: Some(0),
                dur: Some(self.took_us.unwrap_or_else(|| self.last_us())),
                args: Args {
                    summary: Some(self.summary.clone()),
                    status: Some(self.status.to_string()),
                    ..Args::default()
                },
            },
        ];
        let mut lanes = Lanes::default();
        for task in &self.tasks {
            let tid = lanes.of(task, &mut events);
            events.push(duration(task, tid));
        }
        TraceEvents {
            trace_events: events,
            display_time_unit: "ms",
        }
    }

    fn last_us(&self) -> u64 {
        let ends = self
            .tasks
            .iter()
            .map(|task| task.began_us + lasted_us(task));
        ends.max().unwrap_or(0)
    }
}

/// The labels of tasks that several threads did; each has a lane.
#[derive(Default)]
struct Lanes(Vec<String>);

impl Lanes {
    /// The lane of a task; a new one is named.
    fn of(&mut self, task: &Task, events: &mut Vec<TraceEvent>) -> u32 {
        if task.threads.is_none() {
            return MAIN;
        }
        let known = self.0.iter().position(|label| *label == task.label);
        let index = known.unwrap_or(self.0.len());
        let tid = MAIN + 1 + u32::try_from(index).unwrap_or(0);
        if known.is_none() {
            self.0.push(task.label.clone());
            let name = format!("{}, mean of the threads", task.label);
            events.push(named("thread_name", tid, name));
        }
        tid
    }
}

fn named(what: &str, tid: u32, name: String) -> TraceEvent {
    TraceEvent {
        name: what.to_owned(),
        ph: 'M',
        pid: PROCESS,
        tid,
        ts: None,
        dur: None,
        args: Args {
            name: Some(name),
            ..Args::default()
        },
    }
}

fn duration(task: &Task, tid: u32) -> TraceEvent {
    let name = [&task.label, &task.name, &task.summary];
    let name = name.into_iter().find(|name| !name.is_empty());
    TraceEvent {
        name: name.cloned().unwrap_or_default(),
        ph: 'X',
        pid: PROCESS,
        tid,
        ts: Some(task.began_us),
        dur: Some(lasted_us(task)),
        args: Args {
            summary: Some(task.summary.clone()),
            status: task.status.map(|status| status.to_string()),
            busy_us: task.threads.and(task.doing_us),
            threads: task.threads,
            ..Args::default()
        },
    }
}

/// How long a task was on its lane.
fn lasted_us(task: &Task) -> u64 {
    let took_us = task.doing_us.unwrap_or(0) + task.undoing_us.unwrap_or(0);
    took_us / u64::from(task.threads.unwrap_or(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Status;
    use crate::study::Origin;

    #[test]
    fn tasks_of_several_threads_lie_on_lanes_of_their_own() {
        let task = |level, label: &str, doing_us, threads| Task {
            level,
            label: label.to_owned(),
            began_us: 5,
            doing_us: Some(doing_us),
            threads,
            ..Task::default()
        };
        let change = Change {
            verb: "build".to_owned(),
            summary: "Build `a`".to_owned(),
            began_unix_ms: 0,
            took_us: None,
            origin: Origin::Measured,
            status: Status::Error,
            tasks: vec![
                task(0, "compressing", 100, None),
                task(1, "read", 40, Some(4)),
                task(1, "compress", 320, Some(4)),
                task(0, "again", 7, None),
                task(1, "read", 6, Some(2)),
            ],
        };
        let json = serde_json::to_value(change.trace_events()).expect("plain values");
        let all = json["traceEvents"].as_array().expect("a list");
        let found: Vec<_> = all
            .iter()
            .filter(|event| event["ph"] == "X")
            .map(|event| {
                let number = |name: &str| event[name].as_u64().expect("a number");
                (event["name"].as_str(), number("tid"), number("dur"))
            })
            .collect();
        let expected = [
            (Some("coldpress build"), 1, 105),
            (Some("compressing"), 1, 100),
            (Some("read"), 2, 10),
            (Some("compress"), 3, 80),
            (Some("again"), 1, 7),
            (Some("read"), 2, 3),
        ];
        assert_eq!(found, expected);
        let names = all.iter().filter(|event| event["ph"] == "M");
        let names: Vec<_> = names
            .filter_map(|event| event["args"]["name"].as_str())
            .collect();
        let lane = |label| format!("{label}, mean of the threads");
        let (read, compress) = (lane("read"), lane("compress"));
        assert_eq!(names, ["coldpress build", "tasks", &read, &compress]);
    }
}
