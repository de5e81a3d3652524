//! Files into a directory, with the counts that unsquashfs prints.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::{anyhow, bail};
use coldpress_build::Progress;
use coldpress_format::{Body, Inode};
use coldpress_image::{
    Attribute, Choice, ExtractOptions, Extracted, Image, Metadata, ReadLimits, Visited, walk_chosen,
};
use coldpress_report::failure::{hint, sentence, without_os_number};
use coldpress_report::text::{base_name, quoted};
use rustix::process::geteuid;

use super::counts::{self, Work};
use super::cursor::Verdict;
use super::image::read_limits;
use super::request::Request;
use super::selection::Selection;
use super::{listing, xattrs};
use crate::exit::Exit;
use crate::failure;
use crate::squashfs_tools::{Pace, Shown, print};
use crate::ui::Ui;

/// How many things that could not be restored are told.
const TOLD_MAX: usize = 20;

/// Extracts the paths that are selected.
///
/// # Errors
///
/// If the image is damaged or a file cannot be written, unless errors are to be ignored; if
/// anything cannot be restored and errors are to be strict.
pub(crate) fn extract(
    image: &Image,
    request: &Request,
    selection: &Selection,
    ui: &Ui,
) -> anyhow::Result<Exit> {
    let owners = &request.owners;
    if (owners.uid.is_some() || owners.gid.is_some()) && !geteuid().is_root() {
        bail!("only root may use `-force-uid` and `-force-gid`");
    }
    let is_filled = is_filled(image, request, selection)?;
    let work = Work::scan(image, selection)?;
    let ReadLimits {
        threads,
        memory_bytes,
    } = read_limits(request)?;
    if !request.talk.quiet {
        print(ui, &work.text(threads.get()))?;
    }
    if request.listing.info {
        let printed = listing::print(image, request, selection, ui);
        failure::unless_stdout_closed(printed)?;
    }
    let kept = xattrs::kept(&request.xattrs)?;
    let keep_xattr = |name: &[u8]| kept.keeps(name);
    let cursor = RefCell::new(selection.cursor());
    let choose = |visited: &Visited| choice(cursor.borrow_mut().visit(visited));
    let change = |inode: &Inode, metadata: &mut Metadata| change(request, inode, metadata);
    let options = ExtractOptions {
        threads,
        memory_bytes,
        xattrs: request.xattrs.restored,
        keep_xattr: Some(&keep_xattr),
        overwrite: is_filled,
        restore_existing: true,
        choose: (!selection.is_everything()).then_some(&choose),
        max_depth: selection.max_depth,
        change: Some(&change),
        keep_going: request.errors.ignore,
        watch: Some(ui.timing.as_ref()),
        ..ExtractOptions::default()
    };
    let extracted = run(image, request, &options, work.content_bytes, ui)?;
    let summary = counts::created(&extracted);
    let exit = tell(request, extracted, ui)?;
    if !request.talk.quiet {
        print(ui, &summary)?;
    }
    Ok(exit)
}

/// Extracts into the destination that is asked for.
fn run(
    image: &Image,
    request: &Request,
    options: &ExtractOptions<'_>,
    total_bytes: u64,
    ui: &Ui,
) -> anyhow::Result<Extracted> {
    let _hold = ui.interrupt.hold();
    let mut pace = Pace::new(
        "extracting",
        Shown::percents(request.talk.percentage),
        0,
        ui,
    );
    let extracted = coldpress_image::extract(image, &request.destination, options, &mut |done| {
        pace.advance(Progress {
            done_bytes: done,
            total_bytes,
        })
    })?;
    pace.finish();
    Ok(extracted)
}

const fn choice(verdict: Verdict) -> Choice {
    match verdict {
        Verdict::Leave => Choice::Leave,
        Verdict::Take | Verdict::Enter => Choice::Take,
    }
}

/// Replaces what the command line replaces.
fn change(request: &Request, inode: &Inode, metadata: &mut Metadata) {
    let owners = &request.owners;
    metadata.uid = owners.uid.or(metadata.uid);
    metadata.gid = owners.gid.or(metadata.gid);
    metadata.mtime_s = request.time_s.unwrap_or(metadata.mtime_s);
    let is_directory = matches!(inode.body, Body::Directory(_));
    let mode = if is_directory {
        &owners.directory_mode
    } else {
        &owners.file_mode
    };
    if let Some(mode) = mode {
        metadata.mode = mode.apply(metadata.mode, is_directory);
    }
}

/// Whether the destination holds something. What is in the way of the extraction must be replaced.
///
/// Only the entries of the root directory are looked for: a directory that is there is in the way
/// too.
///
/// # Errors
///
/// If something is in the way and may not be replaced.
fn is_filled(image: &Image, request: &Request, selection: &Selection) -> anyhow::Result<bool> {
    let destination = &request.destination;
    let Ok(mut there) = destination.read_dir() else {
        return Ok(false);
    };
    if there.next().is_none() {
        return Ok(false);
    }
    if request.force {
        return Ok(true);
    }
    let mut cursor = selection.cursor();
    walk_chosen(image, &mut |visited| -> anyhow::Result<bool> {
        let is_taken = cursor.visit(visited) != Verdict::Leave;
        if visited.depth == 0 {
            return Ok(true);
        }
        let path = destination.join(OsStr::from_bytes(base_name(visited.path)));
        if is_taken && path.symlink_metadata().is_ok() {
            let error = anyhow!("{} exists", quoted(&path));
            return Err(hint(
                error,
                "add -force to replace files and add to directories",
            ));
        }
        Ok(false)
    })?;
    Ok(true)
}

/// Tells what was left out or could not be restored.
fn tell(request: &Request, extracted: Extracted, ui: &Ui) -> anyhow::Result<Exit> {
    let left_out = extracted.left_out.into_iter();
    // As in unsquashfs it goes without saying that files of the caller lose these bits.
    let not_restored = extracted.not_restored.iter();
    let not_restored = not_restored.filter(|lack| lack.what != Attribute::SetIdBits);
    let lacks: Vec<String> = left_out
        .map(|error| sentence(&anyhow!(error)))
        .chain(not_restored.map(|lack| without_os_number(&lack.to_string())))
        .collect();
    for lack in lacks.iter().take(TOLD_MAX) {
        ui.error(lack);
    }
    if lacks.len() > TOLD_MAX {
        ui.error(&format!("and {} more of the kind", lacks.len() - TOLD_MAX));
    }
    if request.errors.strict && !lacks.is_empty() {
        bail!("not everything was restored (`-strict-errors`)");
    }
    Ok(Exit::wrong_if(!lacks.is_empty()))
}
