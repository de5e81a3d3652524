//! How an image is mounted, checked.

use std::ffi::OsString;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use coldpress_dialects::squashfuse::MountOption;
use coldpress_format::Body;
use coldpress_fuse::ServerOptions;
use coldpress_host::{FuseOptions, is_root};
use coldpress_image::{Image, image_path};
use coldpress_mount::{Options, PrefetchLimits};
use coldpress_report::text::{image_path as absolute, quoted_bytes};

use crate::flags::place::PlaceArgs;
use crate::verbs::mount::args::MountArgs;

/// Threads unless told otherwise: one may be decompressing a large block.
const THREADS_MIN: usize = 2;

/// Flags and options together.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) place: PlaceArgs,
    subdir: Option<OsString>,
    uid: Option<u32>,
    gid: Option<u32>,
    /// After how long without a request it is unmounted.
    pub(super) idle: Option<Duration>,
    everyone: bool,
    checks_permissions: bool,
    cache_bytes: u64,
    threads: NonZeroUsize,
    prefetch_bytes_per_s: Option<NonZeroU64>,
}

impl Settings {
    /// Puts together what was asked for.
    ///
    /// # Errors
    ///
    /// If something is asked for by a flag and by an option.
    pub(super) fn resolve(args: &MountArgs) -> anyhow::Result<Self> {
        let mut settings = Self {
            place: args.place,
            subdir: args.subdir.clone(),
            uid: None,
            gid: None,
            idle: None,
            everyone: false,
            // The image belongs to whoever mounts it, whatever it says; root is to see what the
            // kernel would show.
            checks_permissions: is_root(),
            cache_bytes: args.cache,
            threads: args.threads.unwrap_or_else(threads),
            prefetch_bytes_per_s: args.prefetch_bandwidth,
        };
        for option in &args.options {
            match option {
                MountOption::Offset(_) if settings.place.offset.is_some() => {
                    bail!("the offset is given twice");
                }
                MountOption::Subdir(_) if settings.subdir.is_some() => {
                    bail!("the directory that becomes the root is given twice");
                }
                MountOption::Offset(offset) => settings.place.offset = Some(*offset),
                MountOption::Subdir(path) => settings.subdir = Some(path.clone()),
                MountOption::Uid(uid) => settings.uid = Some(*uid),
                MountOption::Gid(gid) => settings.gid = Some(*gid),
                MountOption::Timeout(seconds) => {
                    settings.idle = (*seconds > 0).then(|| Duration::from_secs(*seconds));
                }
                MountOption::AllowOther => {
                    settings.everyone = true;
                    settings.checks_permissions = true;
                }
                MountOption::DefaultPermissions => settings.checks_permissions = true,
                // The pipe does not change how it is mounted.
                MountOption::NotifyPipe(_) | MountOption::Usual => {}
            }
        }
        Ok(settings)
    }

    /// How the image is shown.
    ///
    /// # Errors
    ///
    /// If it lacks the directory that becomes the root.
    pub(super) fn file_system(&self, image: &Image) -> anyhow::Result<Options> {
        let mut root = None;
        if let Some(typed) = &self.subdir {
            let path = absolute(typed);
            let quoted = quoted_bytes(&path);
            let found = image_path::resolve(image, &path, true)
                .with_context(|| format!("cannot find {quoted}"))?
                .ok_or_else(|| anyhow!("the image has no {quoted}"))?;
            let Body::Directory(_) = found.inode.body else {
                bail!("{quoted} is not a directory of the image");
            };
            root = Some(found.at);
        }
        Ok(Options {
            cache_bytes: self.cache_bytes,
            root,
            uid: self.uid,
            gid: self.gid,
        })
    }

    /// How it is mounted.
    ///
    /// * `image`: as it was typed.
    pub(super) fn fuse(&self, image: &Path) -> FuseOptions {
        let source = image.canonicalize().unwrap_or_else(|_| image.to_owned());
        FuseOptions {
            source: source.into_os_string(),
            everyone: self.everyone,
            checks_permissions: self.checks_permissions,
        }
    }

    /// What prefetching may take.
    pub(super) fn prefetch(&self) -> PrefetchLimits {
        PrefetchLimits {
            // One processor has nothing left when it answers, however many threads there are.
            threads: self.threads.min(available()),
            bytes_per_s: self.prefetch_bytes_per_s,
        }
    }

    /// How requests are answered.
    ///
    /// * `root`: where it is mounted.
    pub(super) fn server_options(&self, root: &Path) -> ServerOptions {
        ServerOptions {
            threads: self.threads,
            everyone: self.everyone,
            recorder: None,
            mounted_on: Some(root.to_owned()),
        }
    }
}

fn threads() -> NonZeroUsize {
    NonZeroUsize::new(available().get().max(THREADS_MIN)).unwrap_or(NonZeroUsize::MIN)
}

fn available() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
