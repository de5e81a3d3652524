//! How much memory this process may use, by its control group.
//!
//! A build in a container of 512 MiB must not plan with the memory of the whole machine: the
//! kernel would end it without a word.

use std::fs;
use std::path::Path;

use crate::Error;

/// Memory for blocks in flight where nothing limits it: enough for two threads at 1 MiB blocks
/// several times over, and little for any machine that builds images.
const DEFAULT_BYTES: u64 = 256 << 20;
/// What part of the limit blocks in flight may take; the tree, the page cache of what is being
/// written and other processes of the group need the rest.
const SHARE: u64 = 4;

/// Where the kernel states the memory of the machine.
const MEMINFO: &str = "/proc/meminfo";

/// A limit of the memory for blocks in flight that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A number.
    Bytes(u64),
    /// Of the machine's.
    Percent(u32),
}

impl Limit {
    /// The limit in bytes.
    ///
    /// # Errors
    ///
    /// If the memory of the machine is not known.
    pub fn bytes(self) -> Result<u64, Error> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Percent(percent) => Ok(machine_bytes()? / 100 * u64::from(percent)),
        }
    }
}

/// The default of `--memory`, in bytes.
pub fn default_bytes() -> u64 {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limit = limit_bytes(&groups, Path::new("/sys/fs/cgroup"));
    limit.map_or(DEFAULT_BYTES, |limit| DEFAULT_BYTES.min(limit / SHARE))
}

/// The memory of the machine in bytes, for limits that are a part of it.
fn machine_bytes() -> Result<u64, Error> {
    let text = fs::read_to_string(MEMINFO).map_err(|source| Error::Io {
        action: "read",
        path: MEMINFO.into(),
        source,
    })?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|total| total.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    let kib = kib.ok_or_else(|| Error::Malformed {
        path: MEMINFO.into(),
        start_byte: 0,
        rule: "`MemTotal:` and a number of kB must be there",
    })?;
    Ok(kib << 10)
}

/// The least memory limit of a process's control groups and of all that contain them.
///
/// * `groups`: the content of `/proc/<pid>/cgroup`.
/// * `mount`: where the cgroup file systems are mounted.
///
/// Source: the kernel's `Documentation/admin-guide/cgroup-v2.rst` (`memory.max`) and
/// `cgroup-v1/memory.rst` (`memory.limit_in_bytes`); "no limit" is the word `max` in the former,
/// a number over any memory in the latter.
fn limit_bytes(groups: &str, mount: &Path) -> Option<u64> {
    groups
        .lines()
        .filter_map(|line| group_limit_bytes(line, mount))
        .min()
}

/// The limit of one line, `hierarchy:controllers:path`.
fn group_limit_bytes(line: &str, mount: &Path) -> Option<u64> {
    let mut parts = line.splitn(3, ':');
    let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let (root, file) = if controllers.is_empty() {
        (mount.to_path_buf(), "memory.max")
    } else if controllers
        .split(',')
        .any(|controller| controller == "memory")
    {
        (mount.join("memory"), "memory.limit_in_bytes")
    } else {
        return None;
    };
    // In a container the path may be that of the host and lead nowhere here; the ancestors that
    // exist, down to the root of the mount, are the ones that can be asked.
    let group = root.join(path.trim_start_matches('/'));
    let ancestors = group
        .ancestors()
        .take_while(|ancestor| ancestor.starts_with(&root));
    let limits = ancestors.filter_map(|directory| fs::read_to_string(directory.join(file)).ok());
    limits.filter_map(|text| text.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_of_a_group_and_its_ancestors_counts() {
        let mount = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = mount.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/memory.max", "1000000\n");
        write("a/b/memory.max", "max\n");
        write("memory/c/memory.limit_in_bytes", "9223372036854771712\n");
        write("memory/memory.limit_in_bytes", "2000000\n");
        for (groups, limit) in [
            ("0::/a/b\n", Some(1_000_000)),
            ("0::/elsewhere\n", None),
            ("5:cpu,memory:/c\n", Some(2_000_000)),
            ("5:cpu:/c\n0::/a\n", Some(1_000_000)),
            ("5:memory:/c\n0::/a\n", Some(1_000_000)),
            ("nonsense\n", None),
            ("", None),
        ] {
            assert_eq!(limit_bytes(groups, mount.path()), limit, "{groups:?}");
        }
    }
}
