//! `coldpress run`: a command from an image that is mounted for it alone.
//!
//! ```text
//! stage    namespaces, and a directory for the mounts   run/stage.rs
//! mounted  the image, through FUSE or the kernel        run/mounted.rs
//! ahead    what the profile says, read beside it        run/ahead.rs
//! trial    whether that helps                           run/trial.rs
//! job      the command, its signals and its end         run/job.rs
//! ```

mod ahead;
pub(crate) mod args;
mod job;
mod mounted;
mod stage;
mod trial;

use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use coldpress_host::{Janitor, bind, furnish_root};
use coldpress_report::failure::hint;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;

use self::ahead::Ahead;
use self::mounted::Mounted;
use self::stage::Stage;
use self::trial::Trial;
use crate::verbs::run::args::RunArgs;
use crate::{image_file, steps};

pub(super) fn run(args: &RunArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let mut profile = args
        .profile
        .as_deref()
        .map(steps::read_profile)
        .transpose()?;
    let opened = image_file::open(&args.image, &args.place)?;
    let trial = args.prove.then(|| Trial::open(args, &opened)).transpose()?;
    if trial.as_ref().is_some_and(|trial| !trial.reads_ahead(ui)) {
        profile = None;
    }
    let _hold = ui.interrupt.hold();
    let janitor = Janitor::start()?;
    let stage = Stage::new(args, &janitor)?;
    // Signals that come from here on are the command's.
    let signals = job::signals()?;
    let mounted = Mounted::new(opened, args, &stage, ui)?;
    let root = stage.root(args, mounted.root())?;
    furnish(args, &root)?;
    if ui.interrupt.is_pending() {
        bail!("interrupted");
    }
    let began = Instant::now();
    let ahead = profile.map(|profile| Ahead::begin(&profile, args, &mounted));
    let ahead = ahead.transpose()?;
    let status = job::run(args, &root, signals, ui)?;
    let took = began.elapsed();
    if let Some(ahead) = ahead {
        ahead.end(ui);
    }
    // Out of sight first: what the command left running would keep the image from being unmounted.
    drop(stage);
    if let Some(trial) = trial {
        trial.keep(took, status)?;
    }
    Ok(Exit::As(status))
}

/// What the command finds in its root directory beside the image.
fn furnish(args: &RunArgs, root: &Path) -> anyhow::Result<()> {
    if args.chroot {
        furnish_root(root)?;
    }
    let seen_root = if args.chroot { root } else { Path::new("/") };
    for bound in &args.bind {
        let may_create = args.chroot && args.overlay.is_some();
        bind(&bound.source, seen_root, &bound.target, may_create).map_err(|error| {
            let advice = "both must be there, and be files or be directories; with --chroot and \
            --overlay DST is made";
            hint(error, advice)
        })?;
    }
    Ok(())
}
