//! The unit of systemd that reads ahead at each boot.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::absolute;

use anyhow::Context as _;
use coldpress_image::ImageOffset;
use coldpress_report::systemd::escaped;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;

use crate::verbs::prefetch::args::PrefetchArgs;

/// Prints it.
pub(super) fn print(args: &PrefetchArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let program = env::current_exe().context("cannot find this program")?;
    let target = absolute(&args.target)?.into_os_string();
    let profile = absolute(&args.profile)?.into_os_string();
    let words = words(args, program.into_os_string(), &target, &profile);
    let mut out = ui.out();
    out.write_all(text(&words, [&target, &profile]).as_bytes())?;
    out.flush()?;
    Ok(Exit::Done)
}

fn words(args: &PrefetchArgs, program: OsString, target: &OsStr, profile: &OsStr) -> Vec<OsString> {
    let mut words = vec![program, "-q".into(), "prefetch".into(), target.into()];
    words.extend(["--profile".into(), profile.into()]);
    let share = Some(args.share.min_share).filter(|share| *share > 0.0);
    let offset = args.place.offset.map(|offset| match offset {
        ImageOffset::Auto => "auto".to_owned(),
        ImageOffset::Bytes(bytes) => bytes.to_string(),
    });
    for (flag, value) in [
        ("--min-share", share.map(|share| share.to_string())),
        ("--max-read", args.memory.map(|bytes| bytes.to_string())),
        ("--bandwidth", args.bandwidth.map(|rate| rate.to_string())),
        ("--for", Some(args.limit_s.to_string())),
        ("--offset", offset),
    ] {
        if let Some(value) = value {
            words.extend([flag.into(), value.into()]);
        }
    }
    words
}

/// Begins as soon as the files are there, beside everything else, and gives way to it: nothing
/// waits for it.
fn text(words: &[OsString], needed: [&OsStr; 2]) -> String {
    let command: Vec<String> = words.iter().map(|word| escaped(word, "$$")).collect();
    let needed = needed.map(|path| escaped(path, "$"));
    format!(
        "[Unit]\n\
         Description=Read ahead what the start needs\n\
         DefaultDependencies=no\n\
         RequiresMountsFor={}\n\
         Conflicts=shutdown.target\n\
         Before=shutdown.target\n\
         \n\
         [Service]\n\
         Type=simple\n\
         ExecStart={}\n\
         Nice=19\n\
         IOSchedulingClass=idle\n\
         SuccessExitStatus=1\n\
         \n\
         [Install]\n\
         WantedBy=sysinit.target\n",
        needed.join(" "),
        command.join(" ")
    )
}
