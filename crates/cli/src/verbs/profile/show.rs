//! `coldpress profile show`.

use std::io::Write as _;

use coldpress_describe::ProfileContents;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;

use crate::steps;
use crate::verbs::profile::args::ProfileShowArgs;

pub(super) fn run(args: &ProfileShowArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let contents = ProfileContents::new(&steps::read_profile(&args.profile)?);
    if args.json {
        ui.json(&contents)?;
        return Ok(Exit::Done);
    }
    let mut out = ui.out();
    contents.write(&mut out)?;
    out.flush()?;
    Ok(Exit::Done)
}
