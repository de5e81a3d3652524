//! `coldpress profile check`.

use std::io::Write as _;

use coldpress_describe::ProfileCheck;
use coldpress_report::text::escaped_path;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;

use crate::profiles::OrderingProfile;
use crate::steps;
use crate::verbs::profile::args::ProfileCheckArgs;

pub(super) fn run(args: &ProfileCheckArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let profile = OrderingProfile::with_limits(args.profile.clone(), &args.limits)?;
    let (_, source) = steps::scan(&args.source, ui)?;
    let matching = profile.matched(&source, ui)?;
    let too_stale = profile.too_stale(&matching);
    let mut check = ProfileCheck::new(&matching);
    check.profile = escaped_path(profile.path());
    check.source = escaped_path(&args.source);
    check.recordings = profile.recordings();
    check.fail_stale_percent = args.limits.fail_stale;
    check.too_stale = too_stale.is_some();
    if args.json {
        ui.json(&check)?;
    } else {
        let mut out = ui.out();
        check.write(&mut out)?;
        out.flush()?;
    }
    if let Some(why) = &too_stale {
        ui.error(&format!("{why}; record again"));
    }
    Ok(Exit::partial_if(too_stale.is_some()))
}
