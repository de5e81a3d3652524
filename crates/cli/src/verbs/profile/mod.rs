//! `coldpress profile`: recordings merged, shown, matched with a release, taken from other tools
//! and given to them.

pub(crate) mod args;
mod check;
mod export;
mod import;
mod merge;
mod plan;
mod recording;
mod show;

use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;

use crate::verbs::profile::args::{ProfileArgs, ProfileVerb};

pub(super) fn run(args: &ProfileArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match &args.verb {
        ProfileVerb::Merge(args) => merge::run(args, ui),
        ProfileVerb::Show(args) => show::run(args, ui),
        ProfileVerb::Check(args) => check::run(args, ui),
        ProfileVerb::Plan(args) => plan::run(args, ui),
        ProfileVerb::Import(args) => import::run(args, ui),
        ProfileVerb::Export(args) => export::run(args, ui),
    }
}
