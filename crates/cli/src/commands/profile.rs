//! `coldpress profile`: what starts touched, from and for other tools.

mod export;
mod import;
mod recording;
mod settle;

use crate::args::{ProfileArgs, ProfileVerb};
use crate::exit::Exit;
use crate::ui::Ui;

pub(super) fn run(args: &ProfileArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match &args.verb {
        ProfileVerb::Import(args) => import::run(args, ui),
        ProfileVerb::Export(args) => export::run(args, ui),
    }
}
