//! `coldpress extract`.

pub(super) mod report;

pub(crate) mod args;
mod extraction;

use std::cell::RefCell;
use std::io::ErrorKind;
use std::time::Instant;

use anyhow::anyhow;
use coldpress_format::Body;
use coldpress_host::threads;
use coldpress_image::{Choice, Error, ExtractOptions, Visited};
use coldpress_report::failure::hint;
use coldpress_report::text::{base_name, image_path, quoted, quoted_bytes};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_writer::{Descent, Fate};

use crate::image_file::open_image_at;
use crate::resolve;
use crate::verbs::extract::args::ExtractArgs;
use crate::verbs::extract::extraction::Extraction;

use report::Report;

pub(super) fn run(args: &ExtractArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let image = open_image_at(&args.image, &args.place)?;
    let extraction = Extraction::resolve(&args.choice, &args.changes, &image)?;
    let descent = RefCell::new(Descent::new(&extraction.selection));
    let choose = |visited: &Visited| choose(&mut descent.borrow_mut(), visited);
    let options = ExtractOptions {
        paths: args.paths.iter().map(|path| image_path(path)).collect(),
        choose: (!extraction.selection.is_everything()).then_some(&choose),
        max_depth: args.choice.max_depth,
        change: Some(&|inode, metadata| extraction.change(inode, metadata)),
        xattrs: !args.changes.no_xattrs,
        keep_xattr: Some(&|name| extraction.keeps_xattr(name)),
        overwrite: args.force,
        confine_symlinks: args.confine_symlinks,
        keep_going: args.keep_going,
        threads: threads(args.threads),
        memory_bytes: resolve::memory_bytes(args.memory),
        watch: Some(ui.timing.as_ref()),
        ..ExtractOptions::default()
    };
    let _hold = ui.interrupt.hold();
    // What the image decompresses to is not known before; a spinner turns.
    let step = ui.step("extracting", 0).about("files into the directory");
    let extracted = coldpress_image::extract(&image, &args.directory, &options, &mut |_| {
        ui.interrupt.poll()
    })
    .map_err(explained)?;
    step.finish("");
    let unused = descent.borrow().unused();
    let vain = extraction.missing.iter().map(Vec::as_slice).chain(unused);
    let is_vain = warn_of_vain(vain, ui);
    let is_whole = extracted.is_whole();
    let report = Report::new(&args.directory, extracted, started);
    report.tell_errors(ui);
    if args.json {
        ui.json(&report)?;
    } else {
        ui.say(&report.summary_line());
    }
    Ok(Exit::partial_if(!is_whole || is_vain))
}

/// What becomes of a path by the patterns.
fn choose(descent: &mut Descent, visited: &Visited) -> Choice {
    let is_directory = matches!(visited.inode.body, Body::Directory(_));
    let inode = (0, visited.at.word());
    match descent.enter(visited.depth, base_name(visited.path), is_directory, inode) {
        Fate::Kept | Fate::KeptEmpty => Choice::Take,
        Fate::Passage => Choice::Pass,
        Fate::Dropped => Choice::Leave,
    }
}

/// Warns of patterns that matched nothing; returns whether there are any.
fn warn_of_vain<'a>(patterns: impl Iterator<Item = &'a [u8]>, ui: &Ui) -> bool {
    let mut is_vain = false;
    for pattern in patterns {
        let pattern = quoted_bytes(pattern);
        ui.warn(&format!(
            "nothing that could be extracted matches {pattern}"
        ));
        is_vain = true;
    }
    is_vain
}

/// Adds what to do.
fn explained(error: Error) -> anyhow::Error {
    match error {
        Error::NotEmpty { path } => {
            let error = anyhow!("{} is not empty", quoted(&path));
            hint(
                error,
                "name another directory, or add to this one with `--force`",
            )
        }
        Error::NotFound { path } => {
            let error = anyhow!("the image has no {}", quoted_bytes(&path));
            hint(
                error,
                "`coldpress ls -R IMAGE` lists what it has; links are not followed here",
            )
        }
        Error::Write { ref source, .. } if source.kind() == ErrorKind::StorageFull => hint(
            anyhow!(error),
            "finished files stay; make room, and continue with `--force`",
        ),
        Error::InFile { .. } => hint(
            anyhow!(error),
            "`--keep-going` leaves out what is damaged and extracts the rest",
        ),
        error => anyhow!(error),
    }
}
