//! Which processes use a file.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A process that has a file open or mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its number.
    pub pid: u32,
    /// Its name, of 15 bytes at most, as it chose it.
    pub name: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name.escape_debug(), self.pid)
    }
}

/// The processes that have a file open or mapped, by their numbers; at most `max` of them.
///
/// Without root, only those of this user are found. What is found may have ended since, so this
/// names culprits and proves nothing: [`crate::LeasedFile`] does.
///
/// * `device`, `inode`: of the file, as `stat(2)` tells them.
///
/// # Cost
///
/// Looks at the descriptors and mappings of all processes: some ms for each hundred.
pub fn holders(device: u64, inode: u64, max: usize) -> Vec<Holder> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    pids.sort_unstable();
    let own = std::process::id();
    let others = pids.into_iter().filter(|pid| *pid != own);
    let holding = others.filter(|pid| {
        let process = Path::new("/proc").join(pid.to_string());
        ["fd", "map_files"]
            .iter()
            .any(|what| leads_to(&process.join(what), device, inode))
    });
    let named = holding.map(|pid| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let name = name.trim_end().to_owned();
        Holder { pid, name }
    });
    named.take(max).collect()
}

/// Whether a link of a directory leads to the file. Of others' processes, and of those that end,
/// nothing is listed.
fn leads_to(directory: &Path, device: u64, inode: u64) -> bool {
    let links = fs::read_dir(directory).into_iter().flatten().flatten();
    links
        .filter_map(|link| fs::metadata(link.path()).ok())
        .any(|found| found.ino() == inode && found.dev() == device)
}
