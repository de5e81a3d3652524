//! The requests of a mount of our own: every page and every lookup, without root.
//!
//! The first image is mounted in user space, and the kernel told to read nothing ahead and to keep
//! what it has: what it asks for is what the command needs for the first time. docs/mount.md, "As a
//! recorder".

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context as _, anyhow};
use coldpress_fuse::{Server, ServerOptions};
use coldpress_host::{FuseConnection, FuseOptions, cannot_mount_fuse, is_root, start};
use coldpress_image::Image;
use coldpress_mount::{FileSystem, Options, Recorder};
use coldpress_report::failure::hint;
use coldpress_report::text::plural;
use coldpress_trace::Trace;

use super::{About, FIRST_IMAGE, Stage, kernel};
use crate::image_file::open_image;

pub(super) const TITLE: &str = "fuse: requests of a mount in user space, without readahead";
/// For decompressed blocks: pages are asked for one by one, and most of those of a block sooner or
/// later.
const CACHE_BYTES: u64 = 64 << 20;

/// What of this recorder this process lacks.
pub(super) fn missing(chroot: bool) -> Option<String> {
    cannot_mount_fuse(chroot).map(str::to_owned)
}

/// Builds a first image of the source unless it is there, starts the command from it, and returns
/// what it accessed.
///
/// # Errors
///
/// If the image cannot be built or mounted, the command fails, or events were lost.
pub(super) fn record(stage: &Stage<'_>) -> anyhow::Result<Trace> {
    let image = open_image(&kernel::first_image(stage)?)?;
    let recorder = Arc::new(Recorder::new(&image)?);
    let step = stage.ui.step("recording", 0).about("a cold start");
    let mount = Mounted::new(stage, image, Some(Arc::clone(&recorder)))?;
    let (seen, outcome) = stage.run(
        |cgroup| start(stage.command, mount.root(), cgroup),
        || Ok(recorder.finish()),
    )?;
    mount.unmount()?;
    step.finish("");
    if seen.lost > 0 {
        let lost = plural(seen.lost, "event", "events");
        return Err(anyhow!("{lost} of the recording were lost"));
    }
    let header = stage.header(About {
        recorder: TITLE,
        cold: "fresh mount: no page, name or inode of the image known to the kernel".to_owned(),
        read_ahead_kib: Some(0),
        block_size: Some(stage.settings.block_size),
        lost_events: 0,
        wall_ns: outcome.wall_ns,
    });
    let events = seen.events;
    stage.demand_events(Trace { header, events })
}

/// The same start without a recorder, from a mount of the same kind.
///
/// # Errors
///
/// As [`record`].
pub(super) fn unrecorded(stage: &Stage<'_>) -> anyhow::Result<u64> {
    let image = open_image(&kernel::first_image(stage)?)?;
    let mount = Mounted::new(stage, image, None)?;
    let ((), outcome) = stage.run(
        |cgroup| start(stage.command, mount.root(), cgroup),
        || Ok(()),
    )?;
    mount.unmount()?;
    Ok(outcome.wall_ns)
}

/// The first image, mounted; what still uses it when it is dropped meets errors once this process
/// ends.
struct Mounted {
    connection: FuseConnection,
    /// What could not be read.
    troubles: Arc<Mutex<Vec<String>>>,
}

impl Mounted {
    fn new(
        stage: &Stage<'_>,
        image: Image,
        recorder: Option<Arc<Recorder>>,
    ) -> anyhow::Result<Self> {
        let troubles = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&troubles);
        let options = Options {
            cache_bytes: CACHE_BYTES,
            root: None,
            uid: None,
            gid: None,
        };
        let tell = Box::new(move |damage: &coldpress_mount::Damage| {
            let mut troubles = heard.lock().unwrap_or_else(PoisonError::into_inner);
            troubles.push(damage.to_string());
        });
        let file_system = FileSystem::new(image, options, tell)?;
        // The command may become another user, as services do.
        let fuse = FuseOptions {
            source: stage.work_dir.file(FIRST_IMAGE).into_os_string(),
            everyone: is_root(),
            checks_permissions: is_root(),
        };
        let (connection, device) = FuseConnection::mount(&stage.work_dir.mount_point(), &fuse)?;
        let server_options = ServerOptions {
            threads: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            everyone: fuse.everyone,
            recorder,
            mounted_on: None,
        };
        let server = Server::new(Arc::new(file_system), device, server_options)
            .context("the kernel cannot be answered")?;
        thread::Builder::new()
            .name("mount".to_owned())
            .spawn(move || server.run())
            .context("cannot start a thread")?;
        Ok(Self {
            connection,
            troubles,
        })
    }

    fn root(&self) -> &Path {
        self.connection.root()
    }

    /// Takes it out of sight. It is not waited for: what the command left running may hold it.
    fn unmount(self) -> anyhow::Result<()> {
        self.connection.detach()?;
        let troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        match troubles.first() {
            None => Ok(()),
            Some(damage) => {
                let error = anyhow!("the first image could not be read: {damage}");
                Err(hint(error, "check the disk, and record again"))
            }
        }
    }
}
