//! `coldpress bench`: contestants measured in turn.

pub(crate) mod args;
pub(crate) mod boot;
mod build;
mod compare;
mod launch;
mod study_store;

use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;

use crate::verbs::bench::args::{BenchArgs, BenchVerb};

pub(super) fn run(args: &BenchArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match &args.verb {
        BenchVerb::Build(args) => build::run(args, ui),
        BenchVerb::Boot(args) => boot::run(args, ui),
        BenchVerb::Compare(args) => compare::run(args, ui),
        BenchVerb::Launch(args) => launch::run(args, ui),
    }
}
