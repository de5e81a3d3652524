//! Files into a directory, with the counts that unsquashfs prints.

use std::cell::RefCell;

use anyhow::{anyhow, bail};
use coldpress_dialects::unsquashfs::{
    Request, Selection, Work, change, choice, created, is_filled, kept_xattrs, read_limits,
};
use coldpress_format::Inode;
use coldpress_image::{Attribute, ExtractOptions, Extracted, Image, Metadata, ReadLimits, Visited};
use coldpress_report::failure::{sentence, without_os_number};
use coldpress_session::exit::Exit;
use coldpress_session::failure;
use coldpress_session::ui::Ui;
use coldpress_writer::Progress;
use rustix::process::geteuid;

use super::run::list;
use crate::verbs::pace::{Pace, Shown, print};

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
        let printed = list(image, request, selection, ui);
        failure::unless_stdout_closed(printed)?;
    }
    let kept = kept_xattrs(request)?;
    let keep_xattr = |name: &[u8]| kept.keeps(name);
    let cursor = RefCell::new(selection.cursor());
    let choose = |visited: &Visited| choice(&mut cursor.borrow_mut(), visited);
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
    let summary = created(&extracted);
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
        ui.error(&format!("and {} more of this kind", lacks.len() - TOLD_MAX));
    }
    if request.errors.strict && !lacks.is_empty() {
        bail!("not everything was restored (`-strict-errors`)");
    }
    Ok(Exit::partial_if(!lacks.is_empty()))
}
