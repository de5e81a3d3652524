//! The image, mounted for a command.

use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use anyhow::{Context as _, bail};
use coldpress_fuse::{Server, ServerOptions};
use coldpress_host::{FuseConnection, FuseOptions, LoopDevice, Mount, is_root};
use coldpress_mount::{FileSystem, Options, PackPrefetch};
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;
use rustix::process::{getegid, geteuid};

use super::stage::Stage;
use crate::image_file::Opened;
use crate::start_pack;
use crate::verbs::run::args::RunArgs;

/// Through FUSE, answered by threads of this process, or through the kernel.
pub(super) enum Mounted {
    Fuse {
        _pack_prefetch: Option<PackPrefetch>,
        connection: FuseConnection,
    },
    /// Dropped from first to last.
    Kernel { mount: Mount, _device: LoopDevice },
}

impl Mounted {
    /// Mounts the image.
    ///
    /// # Errors
    ///
    /// If the kernel refuses it.
    pub(super) fn new(
        opened: Opened,
        args: &RunArgs,
        stage: &Stage<'_>,
        ui: &Ui,
    ) -> anyhow::Result<Self> {
        let cannot = || format!("cannot mount {}", quoted(&args.image));
        if args.kernel {
            return through_kernel(opened.start, args, stage).with_context(cannot);
        }
        // Where there is no other user, nobody else can be the owner of anything: what the command
        // makes of it would belong to nobody.
        let owner = stage
            .alone
            .then(|| (geteuid().as_raw(), getegid().as_raw()));
        let options = Options {
            cache_bytes: args.cache,
            root: None,
            uid: owner.map(|(uid, _)| uid),
            gid: owner.map(|(_, gid)| gid),
        };
        let tell = Box::new(|damage: &coldpress_mount::Damage| {
            let _ = writeln!(io::stderr().lock(), "error: {damage}");
        });
        let pack = start_pack::of(&opened.image, ui);
        let has_pack = pack.is_some();
        let mut file_system = FileSystem::new(opened.image, options, tell).with_context(cannot)?;
        if let Some(pack) = pack {
            file_system = file_system.with_start_pack(pack);
        }
        let file_system = Arc::new(file_system);
        // As root the command may become another user, and owners and modes count.
        let fuse = FuseOptions {
            source: args.image.clone().into_os_string(),
            everyone: is_root(),
            checks_permissions: is_root(),
        };
        let (connection, device) = FuseConnection::mount(&stage.image(), &fuse)?;
        let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let server_options = ServerOptions {
            threads: threads.max(THREADS_MIN),
            everyone: fuse.everyone,
            recorder: None,
            mounted_on: Some(connection.root().to_owned()),
        };
        let server = Server::new(Arc::clone(&file_system), device, server_options)
            .context("the kernel cannot be answered")?;
        let thread = thread::Builder::new().name("mount".to_owned());
        thread
            .spawn(move || server.run())
            .context("cannot start a thread")?;
        // Ends with its last piece, or with this process.
        let pack_prefetch = has_pack
            .then(|| start_pack::prefetch(&file_system, threads, connection.root()))
            .transpose()
            .context("cannot start a thread")?;
        Ok(Self::Fuse {
            connection,
            _pack_prefetch: pack_prefetch,
        })
    }

    /// Where it is mounted.
    pub(super) fn root(&self) -> &Path {
        match self {
            Self::Fuse { connection, .. } => connection.root(),
            Self::Kernel { mount, .. } => mount.root(),
        }
    }
}

/// One may be decompressing a large block.
const THREADS_MIN: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

/// * `start`: byte of the file at which the image begins.
fn through_kernel(start: u64, args: &RunArgs, stage: &Stage<'_>) -> anyhow::Result<Mounted> {
    if start > 0 {
        bail!(
            "the image begins at byte {start} of its file; `--kernel-mount` mounts files that are \
            images"
        );
    }
    // Not directly: what is read ahead is to be found in memory.
    let device = LoopDevice::attach(&args.image, false)?;
    let mount = Mount::squashfs(&device, &stage.image())?;
    Ok(Mounted::Kernel {
        mount,
        _device: device,
    })
}
