//! What a measurement has to say about the machine it was made on.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread;

use crate::KernelConfig;

/// The parts of a machine that change how long a cold start takes. What cannot be found out is
/// `unknown` or `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Release of the running kernel, as `uname -r` says.
    pub kernel: String,
    /// Architecture, as `uname -m` says.
    pub architecture: String,
    /// Model of the first processor.
    pub cpu_model: String,
    /// Processors that this process may use.
    pub cores: u32,
    /// Memory that the kernel manages.
    pub memory_bytes: Option<u64>,
    /// How many threads the kernel's `SquashFS` unpacks with: `single` (one per mount), `multi` (up
    /// to two per core), `percpu`, or `set by mount option`.
    pub squashfs_decompressor: String,
    /// Fragment blocks that the kernel keeps unpacked (`CONFIG_SQUASHFS_FRAGMENT_CACHE_SIZE`).
    pub squashfs_cached_fragments: Option<u32>,
    /// Whether data blocks are unpacked straight into the page cache
    /// (`CONFIG_SQUASHFS_FILE_DIRECT`) or through a buffer.
    pub squashfs_file_direct: Option<bool>,
    /// Read-ahead of the first loop device at the moment. What a run used is said by
    /// [`crate::LoopDevice::readahead_kib`].
    pub read_ahead_kib: Option<u64>,
    /// Whether a hypervisor shows itself.
    pub virtual_machine: bool,
}

/// As many threads as asked for, or as many processors as the affinity and the control group of
/// this process allow.
pub fn threads(asked: Option<NonZeroUsize>) -> NonZeroUsize {
    asked
        .or_else(|| thread::available_parallelism().ok())
        .unwrap_or(NonZeroUsize::MIN)
}

/// Looks at the machine. Needs no privilege.
pub fn machine() -> Machine {
    let uname = rustix::system::uname();
    let kernel = uname.release().to_string_lossy().into_owned();
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let config = KernelConfig::running().map(|(config, _)| config);
    let config = config.unwrap_or_else(|| KernelConfig::parse(""));
    let cores = thread::available_parallelism().ok();
    Machine {
        architecture: uname.machine().to_string_lossy().into_owned(),
        cpu_model: parse_cpu_model(&cpuinfo).unwrap_or("unknown").to_owned(),
        cores: cores.map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX)),
        memory_bytes: parse_memory(&read("/proc/meminfo")),
        squashfs_decompressor: config.squashfs_decompressor().to_owned(),
        squashfs_cached_fragments: config
            .value("SQUASHFS_FRAGMENT_CACHE_SIZE")
            .and_then(|value| value.parse().ok()),
        squashfs_file_direct: config
            .value("SQUASHFS")
            .map(|_| config.has("SQUASHFS_FILE_DIRECT")),
        read_ahead_kib: read("/sys/block/loop0/queue/read_ahead_kb")
            .trim()
            .parse()
            .ok(),
        virtual_machine: is_virtual(&cpuinfo),
        kernel,
    }
}

/// `model name` on x86, `Model` on boards, `cpu model` on MIPS.
fn parse_cpu_model(cpuinfo: &str) -> Option<&str> {
    ["model name", "Model", "cpu model", "cpu"]
        .iter()
        .find_map(|key| {
            cpuinfo.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                (name.trim_end() == *key).then(|| value.trim())
            })
        })
}

fn parse_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib = line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?;
    kib.checked_mul(1024)
}

fn is_virtual(cpuinfo: &str) -> bool {
    let mut flags = cpuinfo.lines().filter(|line| line.starts_with("flags"));
    flags.any(|line| line.split_whitespace().any(|flag| flag == "hypervisor"))
        || Path::new("/sys/hypervisor/type").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_and_memory_are_read() {
        let cpuinfo = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Fast CPU @ 2:00\n\
                       flags\t\t: fpu hypervisor\n";
        assert_eq!(parse_cpu_model(cpuinfo), Some("Fast CPU @ 2:00"));
        assert!(is_virtual(cpuinfo));
        assert_eq!(parse_cpu_model("Model\t\t: Board 4\n"), Some("Board 4"));
        assert_eq!(parse_cpu_model("no colon"), None);
        assert_eq!(parse_memory("MemTotal:       16000 kB\n"), Some(16_384_000));
        assert_eq!(parse_memory("MemTotal: x kB\nMemFree: 1 kB"), None);
    }

    #[test]
    fn this_machine_has_a_kernel_and_a_core() {
        let machine = machine();
        assert!(!machine.kernel.is_empty());
        assert!(machine.cores >= 1);
    }
}
