//! Answering the kernel.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use coldpress_mount::{FileSystem, Helpers, Pusher, Recorder};
use fuser::{Config, Session, SessionACL};

use crate::activity::Activity;
use crate::adapter::Adapter;
use crate::own_mount;

/// Where a connection to the kernel is opened, and cloned for each thread.
const DEVICE: &str = "/dev/fuse";

/// How a [`Server`] answers the kernel.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Threads that answer requests, each of which decompresses what it answers with; unless there
    /// is a recorder, as many help them.
    pub threads: NonZeroUsize,
    /// Whether users other than the one who mounted are answered; the mount must allow it, too.
    pub everyone: bool,
    /// Sees all requests; the kernel is then told to ask for each page by itself.
    pub recorder: Option<Arc<Recorder>>,
    /// The directory on which it is mounted, as this process sees it. The kernel's page cache then
    /// takes whole blocks where the kernel asks for parts. Not with a recorder.
    pub mounted_on: Option<PathBuf>,
}

/// Answers the requests of a kernel.
#[derive(Debug)]
pub struct Server {
    session: Session<Adapter>,
    activity: Arc<Activity>,
    file_system: Arc<FileSystem>,
    /// How many, if the kernel reads ahead.
    helpers: Option<NonZeroUsize>,
    mounted_on: Option<PathBuf>,
}

impl Server {
    /// Agrees with the kernel on how to talk. The mount can be used from now on, its requests wait
    /// for [`Server::run`].
    ///
    /// * `device`: the open `/dev/fuse` with which the file system is mounted.
    ///
    /// # Errors
    ///
    /// If the kernel speaks no FUSE that is known, or has unmounted it already.
    pub fn new(
        file_system: Arc<FileSystem>,
        device: OwnedFd,
        options: ServerOptions,
    ) -> io::Result<Self> {
        let acl = if options.everyone {
            SessionACL::All
        } else {
            SessionACL::Owner
        };
        let mut config = Config::default();
        config.n_threads = Some(options.threads.get());
        // A queue for each thread. Who was given the device by a helper may not open it.
        let device_opens = || File::options().read(true).write(true).open(DEVICE).is_ok();
        config.clone_fd = options.threads.get() > 1 && device_opens();
        let activity = Arc::new(Activity::new());
        let mounted_on = options.mounted_on.filter(|_| options.recorder.is_none());
        let helpers = options.recorder.is_none().then_some(options.threads);
        let adapter = Adapter::new(
            Arc::clone(&file_system),
            Arc::clone(&activity),
            options.recorder,
        );
        let session = Session::from_fd(adapter, device, acl, config)?;
        Ok(Self {
            session,
            activity,
            file_system,
            helpers,
            mounted_on,
        })
    }

    /// When the last request came.
    pub fn activity(&self) -> Arc<Activity> {
        Arc::clone(&self.activity)
    }

    /// Answers requests until it is unmounted and nothing of it is in use any more.
    ///
    /// # Errors
    ///
    /// If the connection to the kernel is lost in another way, or there are no threads to be had.
    pub fn run(self) -> io::Result<()> {
        let start = |count| Helpers::start(&self.file_system, count);
        let _helpers = self.helpers.map(start).transpose()?;
        let start = |at| Pusher::start(&self.file_system, own_mount::reader_ahead(at));
        let _pusher = self.mounted_on.map(start).transpose()?;
        self.session.run()
    }
}
