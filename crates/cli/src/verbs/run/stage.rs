//! Where a command runs: namespaces of its own, and a directory in which everything is mounted.
//!
//! The directory lies in the machine's temporary directory and is empty there; what is mounted in
//! it only the command sees, and is gone with the last who does, however this process ends.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use coldpress_host::{
    Janitor, cannot_mount_fuse, detach, enter_own_namespaces, is_root, mount_empty, mount_overlay,
};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::privileges::FUSE_ADVICE;
use coldpress_session::work_dir::WorkDir;

use crate::verbs::run::args::{OverlayArg, RunArgs};

const NAMESPACE_ADVICE: &str = "the kernel must let everyone have user namespaces: see \
`sysctl user.max_user_namespaces kernel.unprivileged_userns_clone \
kernel.apparmor_restrict_unprivileged_userns`; \
     or run it as root, or use `coldpress mount`";
const OVERLAY_ADVICE: &str = "without root that needs Linux 5.11; DIR must lie on a file system \
with extended attributes, such as \
     ext4, xfs, btrfs or tmpfs, that is no overlay itself, as the root of a container is";

/// A directory in a mount namespace of its own. On drop nothing of it is seen any more.
pub(super) struct Stage<'a> {
    work_dir: WorkDir<'a>,
    /// Whether this user is the only one there is.
    pub(super) alone: bool,
}

impl<'a> Stage<'a> {
    /// Enters the namespaces. No thread may run.
    ///
    /// # Errors
    ///
    /// If this process may not have what is needed.
    pub(super) fn new(args: &RunArgs, janitor: &'a Janitor) -> anyhow::Result<Self> {
        if args.kernel && !is_root() {
            bail!(
                "mounting through the kernel needs root; without `--kernel-mount` it goes without"
            );
        }
        let work_dir = WorkDir::create(&env::temp_dir(), &[], Some(janitor))?;
        let alone = enter_own_namespaces().map_err(|error| hint(error, NAMESPACE_ADVICE))?;
        if let Some(what) = cannot_mount_fuse(args.chroot).filter(|_| !args.kernel) {
            let error = anyhow!("mounting in user space needs what this process lacks: {what}");
            let advice = format!("{FUSE_ADVICE}; root can do without: `--kernel-mount`");
            return Err(hint(error, advice));
        }
        mount_empty(work_dir.path()).map_err(|error| hint(error, NAMESPACE_ADVICE))?;
        let stage = Self { work_dir, alone };
        for name in ["image", "root", "changes"] {
            let path = stage.at(name);
            fs::create_dir(&path).with_context(|| format!("cannot create {}", quoted(&path)))?;
        }
        Ok(stage)
    }

    /// Where the image is mounted.
    pub(super) fn image(&self) -> PathBuf {
        self.at("image")
    }

    /// What the command is given as the image: that, or a writable view of it.
    ///
    /// # Errors
    ///
    /// If the kernel refuses the overlay.
    pub(super) fn root(&self, args: &RunArgs, image: &Path) -> anyhow::Result<PathBuf> {
        let changes = match &args.overlay {
            None => return Ok(image.to_owned()),
            Some(OverlayArg::Tmpfs) => self.at("changes"),
            Some(OverlayArg::Directory(directory)) => directory.clone(),
        };
        let root = self.at("root");
        mount_overlay(image, &changes, &root).map_err(|error| hint(error, OVERLAY_ADVICE))?;
        Ok(root)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.work_dir.path().join(name)
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // The directory below can then be removed; if not, the janitor does it.
        let _ = detach(self.work_dir.path());
    }
}
