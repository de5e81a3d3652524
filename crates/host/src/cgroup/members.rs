//! The processes of a cgroup, for those who do not own it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::Error;
use crate::launch::cpu_time_ns;

/// How long the members may take to die, [`END_PAUSE`] apart: 5 s in all.
const END_TRIES: u32 = 500;
const END_PAUSE: Duration = Duration::from_millis(10);

/// Whoever is in a cgroup at the moment.
#[derive(Debug, Clone)]
pub(crate) struct Members {
    cgroup: PathBuf,
}

impl Members {
    /// Those of the cgroup with this directory.
    pub(super) fn of(cgroup: &Path) -> Self {
        Self {
            cgroup: cgroup.to_owned(),
        }
    }

    /// Whether there are none, as far as can be read.
    pub(crate) fn are_gone(&self) -> bool {
        self.lines().is_ok_and(|lines| lines.trim().is_empty())
    }

    /// Sends a signal to the members there are, without waiting for what they do. Returns how many
    /// there were.
    pub(crate) fn signal(&self, signal: Signal) -> Result<usize, Error> {
        let mut count = 0;
        for line in self.lines()?.lines() {
            // 0 stands for a process of another pid namespace, which cannot be named from here.
            // This process is a member while it reads a tree itself.
            let pid = line.parse().ok().and_then(Pid::from_raw);
            if let Some(pid) = pid.filter(|_| line != process::id().to_string()) {
                let _ = kill_process(pid, signal);
            }
            count += 1;
        }
        Ok(count)
    }

    /// As [`crate::Cgroup::kill_all`].
    pub(crate) fn kill_all(&self) -> Result<(), Error> {
        for _ in 0..END_TRIES {
            if self.signal(Signal::KILL)? == 0 {
                return Ok(());
            }
            sleep(END_PAUSE);
        }
        Err(Error::Busy {
            path: self.cgroup.clone(),
            holder: "its processes do not end although they were killed",
        })
    }

    /// User and system time so far, in ns: of all that ever were members with cgroup v2, else of
    /// those that are and of the children that they waited for.
    pub(crate) fn cpu_ns(&self) -> Result<u64, Error> {
        let usage = fs::read_to_string(self.cgroup.join("cpu.stat"));
        if let Some(cpu_ns) = usage.ok().and_then(|text| parse_usage_ns(&text)) {
            return Ok(cpu_ns);
        }
        let lines = self.lines()?;
        Ok(lines.lines().filter_map(cpu_time_ns).sum())
    }

    fn lines(&self) -> Result<String, Error> {
        let path = self.cgroup.join("cgroup.procs");
        fs::read_to_string(&path).map_err(Error::io("read", &path))
    }
}

/// The line `usage_usec N` of `cpu.stat`.
fn parse_usage_ns(text: &str) -> Option<u64> {
    let usage = text
        .lines()
        .find_map(|line| line.strip_prefix("usage_usec "));
    usage?.parse::<u64>().ok()?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_the_first_line_of_the_statistics() {
        let text = "usage_usec 1234\nuser_usec 1000\nsystem_usec 234\n";
        assert_eq!(parse_usage_ns(text), Some(1_234_000));
        assert_eq!(parse_usage_ns("nr_periods 0\n"), None);
        assert_eq!(parse_usage_ns("usage_usec x\n"), None);
    }
}
