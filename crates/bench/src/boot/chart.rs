//! A boot chart: what processors, disk and services did over the time of a boot.

use serde::{Deserialize, Serialize};

use super::backend::Boot;
use super::units::units;

/// One boot over its time, the median one of a contestant.
///
/// Processors and disk were looked at from outside, the rest is what the console said: nothing was
/// added to the image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BootChart {
    /// The contestant.
    pub name: String,
    /// How long the boot took.
    pub boot_s: f64,
    /// Processors of the guest.
    pub cpus: u32,
    /// Disk and processors, from the start on.
    pub samples: Vec<ChartSample>,
    /// Services as systemd told of them.
    pub units: Vec<Span>,
    /// Processes, of a further boot that was traced; empty if the kernel does not tell.
    pub processes: Vec<Span>,
    /// How long that boot took: longer, as each process writes two lines to the console.
    pub traced_boot_s: Option<f64>,
    /// The console.
    pub lines: Vec<ChartLine>,
}

/// What was used since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChartSample {
    /// When.
    pub at_s: f64,
    /// Processor time of all processors together.
    pub cpu_s: f64,
    /// Reads of the disk.
    pub reads: u64,
    /// Their bytes.
    pub read_bytes: u64,
}

/// Something that began and ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// What.
    pub name: String,
    /// When it began.
    pub began_s: f64,
    /// When it ended, at the latest when the guest was ready.
    pub ended_s: f64,
}

/// A line of the console.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartLine {
    /// When its end came.
    pub at_s: f64,
    /// The text without colors.
    pub text: String,
}

impl BootChart {
    pub(super) fn new(name: &str, cpus: u32, boot: Boot) -> Self {
        Self {
            name: name.to_owned(),
            boot_s: boot.time_s,
            cpus,
            samples: boot.samples,
            units: units(&boot.lines, boot.time_s),
            processes: Vec::new(),
            traced_boot_s: None,
            lines: boot.lines,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A console that says one line each second.
    pub(in crate::boot) fn a_line_a_second(said: &[&str]) -> Vec<ChartLine> {
        let line = |(at, text): (u32, &&str)| ChartLine {
            at_s: f64::from(at),
            text: (*text).to_owned(),
        };
        (0..).zip(said).map(line).collect()
    }

    /// Spans of names, beginnings and ends.
    pub(in crate::boot) fn spans(of: &[(&str, f64, f64)]) -> Vec<Span> {
        let span = |(name, began_s, ended_s): &(&str, f64, f64)| Span {
            name: (*name).to_owned(),
            began_s: *began_s,
            ended_s: *ended_s,
        };
        of.iter().map(span).collect()
    }
}
