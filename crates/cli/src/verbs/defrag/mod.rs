//! `coldpress defrag`: files rewritten in one extent.

pub(crate) mod args;

use coldpress_files::{DefragRow, defragmented, explained};
use coldpress_host::{
    Defragmented, Error, Janitor, NamedFile, complete_names, defragment, named_files, relink,
};
use coldpress_report::text::{plural, quoted};
use coldpress_session::exit::Exit;
use coldpress_session::failure::unless_stdout_closed;
use coldpress_session::ui::Ui;

use crate::verbs::defrag::args::DefragArgs;

pub(super) fn run(args: &DefragArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let _hold = ui.interrupt.hold();
    let janitor = Janitor::start()?;
    let mut is_wrong = !end_what_was_begun(args, &janitor, ui);
    let (mut files, errors) = named_files(&args.files);
    for error in errors {
        if files.is_empty() {
            return Err(error.into());
        }
        ui.fail(&explained(error));
        is_wrong = true;
    }
    for directory in &args.links_in {
        complete_names(&mut files, directory)?;
    }
    let mut rows = Vec::new();
    for file in &files {
        match rewrite(file, args, &janitor, ui) {
            Ok(done) => {
                ui.say(&defragmented(file, &done));
                rows.push(DefragRow::new(file, &done));
            }
            Err(Error::Stopped) => return Err(Error::Stopped.into()),
            Err(error) => {
                ui.fail(&explained(error));
                is_wrong = true;
            }
        }
    }
    if args.json {
        unless_stdout_closed(ui.json(&rows))?;
    }
    Ok(Exit::partial_if(is_wrong))
}

/// Links names to one file again that a killed run left as two; returns whether all was well.
fn end_what_was_begun(args: &DefragArgs, janitor: &Janitor, ui: &Ui) -> bool {
    let mut is_well = true;
    for name in &args.files {
        match relink(name, janitor) {
            Ok(0) => {}
            Ok(linked) => {
                let names = plural(linked as u64, "name", "names");
                ui.say(&format!(
                    "{}: {names} linked to it again, as before a run that was killed",
                    quoted(name)
                ));
            }
            Err(error) => {
                ui.fail(&explained(error));
                is_well = false;
            }
        }
    }
    is_well
}

/// Rewrites one file, with a progress bar.
fn rewrite(
    file: &NamedFile,
    args: &DefragArgs,
    janitor: &Janitor,
    ui: &Ui,
) -> Result<Defragmented, Error> {
    let size_bytes = file.path().symlink_metadata().map_or(0, |it| it.len());
    // Copied and compared; less of a file with holes.
    let step = ui.step("rewriting", size_bytes.saturating_mul(2));
    let mut done_bytes: u64 = 0;
    let done = defragment(file, args.unshare, janitor, &mut |more_bytes| {
        done_bytes += more_bytes;
        step.set(done_bytes);
        ui.interrupt.poll()
    })?;
    step.finish("");
    Ok(done)
}
