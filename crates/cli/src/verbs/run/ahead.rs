//! What the profile says, read beside the command.
//!
//! Of a kernel mount the compressed blocks, from the file: decompressing them here as well would
//! take the processor, of which the kernel's decompressors are often one, from the command. Through
//! our own mount the pages: whoever decompresses first does it for both.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context as _;
use coldpress_image::open_file;
use coldpress_record::prefetching::{Fetched, Limits, Why, read_bytes, read_pages};
use coldpress_session::ui::Ui;
use coldpress_trace::{Profile, WorkingSet};

use super::mounted::Mounted;
use crate::image_file;
use crate::verbs::run::args::RunArgs;

/// A start that has not come to its end by then needs something else.
const TIME_MAX: Duration = Duration::from_mins(1);

/// A thread that reads ahead.
pub(super) struct Ahead {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Option<Fetched>>,
}

impl Ahead {
    /// Begins to read.
    ///
    /// # Errors
    ///
    /// If the image cannot be opened, or there is no thread to be had.
    pub(super) fn begin(
        profile: &Profile,
        args: &RunArgs,
        mounted: &Mounted,
    ) -> anyhow::Result<Self> {
        let set = profile.working_set(0.0);
        let stop = Arc::new(AtomicBool::new(false));
        let work = work(set, args, mounted, Arc::clone(&stop))?;
        let thread = thread::Builder::new().name("prefetch".to_owned());
        let thread = thread.spawn(work).context("cannot start a thread")?;
        Ok(Self { stop, thread })
    }

    /// Ends it with the command, and tells if it was in vain.
    pub(super) fn end(self, ui: &Ui) {
        self.stop.store(true, Ordering::Relaxed);
        let Ok(Some(fetched)) = self.thread.join() else {
            return;
        };
        if fetched.read_bytes == 0 && fetched.missing > 0 {
            ui.warn("nothing was read ahead: the profile is of another image");
        } else if fetched.given_up == Some(Why::Competes) {
            ui.warn(&fetched.sentence());
        }
    }
}

type Work = Box<dyn FnOnce() -> Option<Fetched> + Send>;

fn work(
    set: WorkingSet,
    args: &RunArgs,
    mounted: &Mounted,
    stop: Arc<AtomicBool>,
) -> anyhow::Result<Work> {
    let limits = Limits::new(None, None, TIME_MAX);
    match mounted {
        Mounted::Fuse { connection, .. } => {
            let root = connection.root().to_owned();
            Ok(Box::new(move || {
                read_pages(&root, &set, limits, &stop).ok()
            }))
        }
        Mounted::Kernel { .. } => {
            let opened = image_file::open(&args.image, &args.place)?;
            let file = open_file(&args.image).context("cannot open the image again")?;
            Ok(Box::new(move || {
                let (image, place) = (&opened.image, (&file, opened.start));
                Some(read_bytes(image, place, &set, limits, &stop))
            }))
        }
    }
}
