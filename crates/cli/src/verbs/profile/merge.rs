//! `coldpress profile merge`.

use coldpress_report::text::{escaped_path, plural};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_trace::{Profile, WorkingSet};
use coldpress_writer::Output;

use crate::verbs::profile::args::ProfileMergeArgs;
use crate::{profiles, resolve, steps};

pub(super) fn run(args: &ProfileMergeArgs, ui: &Ui) -> anyhow::Result<Exit> {
    resolve::check_outputs(&[&args.output], args.source.as_slice())?;
    let inputs = args.inputs.iter().map(|path| steps::read_profile(path));
    let inputs: Vec<_> = inputs.collect::<Result<_, _>>()?;
    let _hold = ui.interrupt.hold();
    let output = Output::create(&args.output)?;
    let mut profile = Profile::combine(&inputs);
    if let Some(path) = &args.source {
        let (_, source) = steps::scan(path, ui)?;
        profiles::fill(&mut profile, &source, ui)?;
    }
    profiles::write(&profile, output)?;
    let set = profile.working_set(0.0);
    let recordings = plural(profile.recordings.into(), "recording", "recordings");
    let output = escaped_path(&args.output);
    ui.say(&format!("{output}: {recordings}: {}", summary(&set)));
    Ok(Exit::Done)
}

/// `152 files read, 730 lookups, 41 directories searched`
fn summary(set: &WorkingSet) -> String {
    format!(
        "{} read, {}, {} searched",
        plural(set.files.len() as u64, "file", "files"),
        plural(set.lookups.len() as u64, "lookup", "lookups"),
        plural(set.lists.len() as u64, "directory", "directories"),
    )
}
