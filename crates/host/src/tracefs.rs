//! The kernel's tracing files, and an instance of them that is ours alone.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::janitor::Line;
use crate::{Error, Janitor, Leftover};

/// What every trace instance and cgroup of ours begins with, followed by the process id, so that
/// those of the dead can be told from those of the living.
pub(crate) const NAME_PREFIX: &str = "coldpress-";

/// Where distributions mount it.
const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// A directory with the tracing files.
#[derive(Debug, Clone)]
pub(crate) struct Tracefs {
    path: PathBuf,
    /// A mount of our own, attached nowhere: it is seen by nobody else and vanishes with us.
    /// `path` leads through this descriptor.
    _mount: Option<Arc<OwnedFd>>,
}

impl Tracefs {
    /// Finds the tracing files where they are mounted, or else mounts them privately.
    pub(crate) fn open() -> Result<Self, Error> {
        for path in MOUNTED {
            if Path::new(path).join("instances").is_dir() {
                return Ok(Self {
                    path: path.into(),
                    _mount: None,
                });
            }
        }
        let mount = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)
            .and_then(|context| {
                fsconfig_create(&context)?;
                fsmount(
                    &context,
                    FsMountFlags::FSMOUNT_CLOEXEC,
                    MountAttrFlags::empty(),
                )
            })
            .map_err(|errno| Error::System {
                action: "mount tracefs (needs root and a kernel with tracing, \
                         CONFIG_FTRACE and CONFIG_EVENT_TRACING)",
                source: errno.into(),
            })?;
        Ok(Self {
            path: format!("/proc/self/fd/{}", mount.as_raw_fd()).into(),
            _mount: Some(Arc::new(mount)),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Names of the instances that coldpress processes made.
    pub(crate) fn instances(&self) -> Vec<String> {
        names_of_ours(&self.path.join("instances"))
    }

    pub(crate) fn remove_instance(&self, name: &str) {
        let path = self.path.join("instances").join(name);
        // A reader that still has it open makes it busy, which is right: it is not left behind.
        let _ = fs::write(path.join("tracing_on"), "0");
        let _ = fs::remove_dir(path);
    }
}

/// Directories whose name begins with [`NAME_PREFIX`]; none if the parent cannot be read.
pub(crate) fn names_of_ours(parent: &Path) -> Vec<String> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(NAME_PREFIX)).collect()
}

/// Whether a name is `coldpress-<pid>-...` of a process that is gone.
pub(crate) fn belongs_to_the_dead(name: &str) -> bool {
    let rest = name.strip_prefix(NAME_PREFIX).unwrap_or("");
    let pid = rest.split_once('-').and_then(|(pid, _)| pid.parse().ok());
    pid.is_some_and(|pid: u32| !Path::new("/proc").join(pid.to_string()).exists())
}

/// A ring buffer of our own, with its own switches for each event; removed on drop.
#[derive(Debug)]
pub(crate) struct Instance {
    tracefs: Tracefs,
    name: String,
    path: PathBuf,
    janitor: Line,
}

impl Instance {
    pub(crate) fn create(tracefs: &Tracefs, janitor: &Janitor) -> Result<Self, Error> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{NAME_PREFIX}{}-{count}", process::id());
        let path = tracefs.path.join("instances").join(&name);
        janitor.watch(Leftover::Trace(name.clone()));
        fs::create_dir(&path).map_err(Error::io("make the trace instance", &path))?;
        Ok(Self {
            tracefs: tracefs.clone(),
            name,
            path,
            janitor: janitor.line().clone(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one of its control files, in one write, as tracefs wants.
    pub(crate) fn set(&self, file: &str, value: &str) -> Result<(), Error> {
        let path = self.path.join(file);
        OpenOptions::new()
            .write(true)
            .open(&path)
            .and_then(|mut file: File| file.write_all(value.as_bytes()))
            .map_err(Error::io("write to", &path))
    }

    pub(crate) fn read(&self, file: &str) -> Result<String, Error> {
        let path = self.path.join(file);
        fs::read_to_string(&path).map_err(Error::io("read", &path))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.tracefs.remove_instance(&self.name);
        self.janitor.forget(&Leftover::Trace(self.name.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_dead_processes_are_taken_for_left_behind() {
        // Process ids end below 2^22.
        assert!(belongs_to_the_dead("coldpress-4194999-0"));
        assert!(!belongs_to_the_dead(&format!(
            "coldpress-{}-0",
            process::id()
        )));
        for name in [
            "",
            "coldpress-",
            "coldpress-x-0",
            "coldpress-4194999",
            "other-4194999-0",
        ] {
            assert!(!belongs_to_the_dead(name), "{name}");
        }
    }
}
