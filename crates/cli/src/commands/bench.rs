//! `coldpress bench`: contestants measured in turn.

mod boot;
mod build;
mod compare;
mod kept;
mod launch;

use crate::args::{BenchArgs, BenchVerb};
use crate::exit::Exit;
use crate::ui::Ui;

pub(super) fn run(args: &BenchArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match &args.verb {
        BenchVerb::Build(args) => build::run(args, ui),
        BenchVerb::Boot(args) => boot::run(args, ui),
        BenchVerb::Compare(args) => compare::run(args, ui),
        BenchVerb::Launch(args) => launch::run(args, ui),
    }
}
