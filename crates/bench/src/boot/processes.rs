//! Processes as the kernel tells of them on the console.
//!
//! No program is put into the image for it: the kernel writes two of its tracepoints to its log
//! (`tp_printk`), one when a process becomes a program and one when it ends. That slows a boot
//! down, so it is done in a boot that does not count.

use std::collections::HashMap;

use super::chart::{ChartLine, Span};

/// What is added to the command line. Tracepoints are warnings to the log, which a quiet console
/// does not show.
pub(super) const WORDS: &str =
    " trace_event=sched:sched_process_exec,sched:sched_process_exit tp_printk loglevel=5";

/// Processes by their program, in the order in which they began; those that go on last until the
/// guest was ready.
pub(super) fn processes(lines: &[ChartLine], boot_s: f64) -> Vec<Span> {
    let mut processes: Vec<Span> = Vec::new();
    let mut running: HashMap<u32, usize> = HashMap::new();
    for line in lines {
        match told(&line.text) {
            Some(Event::Exec { pid, program }) => {
                // A process that becomes another program is another bar.
                if let Some(index) = running.insert(pid, processes.len()) {
                    processes[index].ended_s = line.at_s;
                }
                processes.push(Span {
                    name: program.to_owned(),
                    began_s: line.at_s,
                    ended_s: boot_s,
                });
            }
            Some(Event::Exit { pid }) => {
                if let Some(index) = running.remove(&pid) {
                    processes[index].ended_s = line.at_s;
                }
            }
            None => {}
        }
    }
    processes
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event<'a> {
    Exec { pid: u32, program: &'a str },
    Exit { pid: u32 },
}

/// `sched_process_exec: filename=/bin/sh pid=12 old_pid=12`, `sched_process_exit: comm=sh pid=12
/// prio=120`, behind the time stamp of the log. Names may hold anything, also blanks and what looks
/// like a field.
fn told(line: &str) -> Option<Event<'_>> {
    if let Some((_, fields)) = line.split_once("sched_process_exec: filename=") {
        let (fields, _) = fields.rsplit_once(" old_pid=")?;
        let (path, pid) = fields.rsplit_once(" pid=")?;
        let program = path.rsplit('/').find(|name| !name.is_empty())?;
        return Some(Event::Exec {
            pid: pid.parse().ok()?,
            program,
        });
    }
    let (_, fields) = line.split_once("sched_process_exit: comm=")?;
    let (_, fields) = fields.rsplit_once(" pid=")?;
    let pid = fields.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Event::Exit { pid })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boot::chart::tests::{a_line_a_second, spans};

    #[test]
    fn programs_are_spans_from_exec_to_exit() {
        let said = [
            "[    0.9] sched_process_exec: filename=/init pid=1 old_pid=1",
            "[    1.0] sched_process_exec: filename=/usr/bin/a pid=3 b pid=40 old_pid=40",
            "[    1.1] sched_process_exit: comm=a pid=3 b pid=40 prio=120",
            "[    1.2] sched_process_exit: comm=kworker pid=7 prio=120",
            "[    1.3] sched_process_exec: filename=/sbin/systemd pid=1 old_pid=1",
            "sched_process_exec: filename= pid=x old_pid=1",
            "sched_process_exit: comm=",
        ];
        let found = processes(&a_line_a_second(&said), 9.0);
        let expected = [
            ("init", 0.0, 4.0),
            ("a pid=3 b", 1.0, 2.0),
            ("systemd", 4.0, 9.0),
        ];
        assert_eq!(found, spans(&expected));
    }
}
