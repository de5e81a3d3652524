//! `coldpress prefetch`: what a start needs, read before it begins.

pub(crate) mod args;
mod unit;

use std::os::unix::fs::FileTypeExt as _;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use coldpress_image::open_file;
use coldpress_record::prefetching::{Fetched, Limits, read_bytes, read_pages};
use coldpress_report::failure::hint;
use coldpress_report::text::{plural, quoted};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_trace::WorkingSet;

use crate::verbs::prefetch::args::PrefetchArgs;
use crate::{image_file, steps};

pub(super) fn run(args: &PrefetchArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let profile = steps::read_profile(&args.profile)?;
    let found = args.target.metadata();
    let found = found.with_context(|| format!("cannot open {}", quoted(&args.target)))?;
    if found.file_type().is_block_device() {
        return Err(past_memory(args));
    }
    if args.systemd {
        return unit::print(args, ui);
    }
    let set = profile.working_set(args.share.min_share);
    let limits = Limits::new(
        args.memory,
        args.bandwidth,
        Duration::from_secs(args.limit_s.get()),
    );
    // Nothing has to be cleaned up: a signal ends the process.
    let never = AtomicBool::new(false);
    let fetched = if found.is_dir() {
        read_pages(&args.target, &set, limits, &never)
            .with_context(|| format!("cannot read {}", quoted(&args.target)))?
    } else {
        from_image(args, &set, limits, &never)?
    };
    ui.say(&fetched.sentence());
    let is_lost = is_lost(&fetched, &set);
    if fetched.missing > 0 {
        let files = plural(fetched.missing, "path", "paths");
        ui.warn(&format!(
            "{} lacks {files} of the profile",
            quoted(&args.target)
        ));
    }
    Ok(Exit::partial_if(is_lost))
}

fn from_image(
    args: &PrefetchArgs,
    set: &WorkingSet,
    limits: Limits,
    stop: &AtomicBool,
) -> anyhow::Result<Fetched> {
    let opened = image_file::open(&args.target, &args.place)?;
    let file =
        open_file(&args.target).with_context(|| format!("cannot open {}", quoted(&args.target)))?;
    Ok(read_bytes(
        &opened.image,
        (&file, opened.start),
        set,
        limits,
        stop,
    ))
}

/// Whether nothing of the profile is there: it is another image's.
fn is_lost(fetched: &Fetched, set: &WorkingSet) -> bool {
    let wanted = set.files.len().max(set.lookups.len()) as u64;
    wanted > 0 && fetched.read_bytes == 0 && fetched.missing > 0
}

/// Why bytes of a partition are not read ahead.
fn past_memory(args: &PrefetchArgs) -> anyhow::Error {
    let error = anyhow!(
        "{} is a block device: the kernel's SquashFS reads past the memory that this would fill",
        quoted(&args.target)
    );
    hint(error, "name the directory where it is mounted")
}
