//! `coldpress profile`: recordings merged, shown, and matched with a release.

mod check;
mod merge;
mod plan;
mod show;

use crate::args::{ProfileArgs, ProfileVerb};
use crate::exit::Exit;
use crate::ui::Ui;

pub(super) fn run(args: &ProfileArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match &args.verb {
        ProfileVerb::Merge(args) => merge::run(args, ui),
        ProfileVerb::Show(args) => show::run(args, ui),
        ProfileVerb::Check(args) => check::run(args, ui),
        ProfileVerb::Plan(args) => plan::run(args, ui),
    }
}
