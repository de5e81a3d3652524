//! What a cgroup has read from a disk, as far as the kernel charges it.

use std::fs;

use super::{Cgroup, Version};
use crate::{Counters, Error};

impl Cgroup {
    /// What its processes have read from a block device since it was made: what reached the device,
    /// not what the page cache had.
    ///
    /// * `device_number`: major and minor number of a whole disk.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the kernel's counters cannot be read.
    pub fn counters(&self, device_number: (u32, u32)) -> Result<Counters, Error> {
        let device = format!("{}:{}", device_number.0, device_number.1);
        let read = |name: &str| {
            let path = self.path.join(name);
            fs::read_to_string(&path).map_err(Error::io("read", &path))
        };
        Ok(match self.version {
            Version::V1 => Counters {
                reads: v1_reads(&read("blkio.throttle.io_serviced")?, &device),
                read_bytes: v1_reads(&read("blkio.throttle.io_service_bytes")?, &device),
            },
            Version::V2 => v2_counters(&read("io.stat")?, &device),
        })
    }
}

/// The line `MAJOR:MINOR Read N`; a device without one was not read.
fn v1_reads(text: &str, device: &str) -> u64 {
    let count = |line: &str| {
        let rest = line.strip_prefix(device)?;
        rest.strip_prefix(" Read ")?.trim_end().parse().ok()
    };
    text.lines().find_map(count).unwrap_or(0)
}

/// The line `MAJOR:MINOR rbytes=N wbytes=N rios=N ...`; a device without one was not read.
fn v2_counters(text: &str, device: &str) -> Counters {
    let rest = text
        .lines()
        .find_map(|line| line.strip_prefix(device)?.strip_prefix(' '));
    let field = |name: &str| {
        let mut words = rest.unwrap_or("").split(' ');
        let value = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        value.and_then(|value| value.parse().ok()).unwrap_or(0)
    };
    Counters {
        reads: field("rios"),
        read_bytes: field("rbytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_those_of_the_device() {
        let text = "7:1 Read 5\n7:1 Write 6\n7:10 Read 8\n7:1 Total 11\nTotal 19\n";
        let cases = [("7:1", 5), ("7:10", 8), ("7:2", 0), ("7:", 0)];
        for (device, expected) in cases {
            assert_eq!(v1_reads(text, device), expected, "{device}");
        }
        let text = "8:0 rbytes=4096 wbytes=7 rios=2 wios=1 dbytes=0 dios=0\n8:16 rios=3 rbytes=9\n";
        let cases = [("8:0", 2, 4096), ("8:16", 3, 9), ("8:1", 0, 0)];
        for (device, reads, read_bytes) in cases {
            let expected = Counters { reads, read_bytes };
            assert_eq!(v2_counters(text, device), expected, "{device}");
        }
    }
}
