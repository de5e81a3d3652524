//! Units of systemd that record a boot.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, absolute};

use anyhow::{Context as _, anyhow};
use coldpress_report::failure::hint;
use coldpress_report::systemd::escaped;
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_writer::Output;

use crate::steps;
use crate::verbs::record::args::RecordArgs;

const RECORD_UNIT: &str = "coldpress-record.service";
const END_UNIT: &str = "coldpress-record-end.service";

/// Writes the unit that records and the unit that ends it.
pub(super) fn write_units(
    directory: &Path,
    mounted: &Path,
    args: &RecordArgs,
    ui: &Ui,
) -> anyhow::Result<Exit> {
    check_unit(&args.stop_after)?;
    let program = env::current_exe().context("cannot find this program")?;
    let trace = absolute(args.output.as_deref().unwrap_or(Path::new("boot.trace")))?;
    let mounted = absolute(mounted)?;
    let limit_s = args.limit_s.map(|limit_s| limit_s.to_string());
    let mut words: Vec<&OsStr> = vec![program.as_os_str(), "record".as_ref()];
    words.extend([OsStr::new("--mounted"), mounted.as_os_str()]);
    words.extend([OsStr::new("-o"), trace.as_os_str()]);
    if let Some(limit_s) = &limit_s {
        words.extend([OsStr::new("--for"), limit_s.as_ref()]);
    }
    let units = [
        (RECORD_UNIT, record_unit(&words, &trace)),
        (END_UNIT, end_unit(&args.stop_after)),
    ];
    for (name, text) in units {
        let output = Output::create(&directory.join(name))?;
        steps::write_small(output, text.as_bytes())?;
    }
    ui.say(&format!(
        "two units are in {}; `systemctl daemon-reload`, `systemctl enable {RECORD_UNIT} \
         {END_UNIT}`, then restart the system",
        quoted(directory)
    ));
    Ok(Exit::Done)
}

/// Begins before nearly everything else: as soon as there is a place for the trace.
fn record_unit(words: &[&OsStr], trace: &Path) -> String {
    let command: Vec<String> = words.iter().map(|word| escaped(word, "$$")).collect();
    let directory = trace.parent().unwrap_or(Path::new("/")).as_os_str();
    format!(
        "[Unit]\n\
         Description=Record what the boot reads\n\
         DefaultDependencies=no\n\
         RequiresMountsFor={}\n\
         After=systemd-remount-fs.service\n\
         Before=sysinit.target shutdown.target\n\
         Conflicts=shutdown.target\n\
         \n\
         [Service]\n\
         Type=exec\n\
         ExecStartPre=mkdir -p -- {}\n\
         ExecStart={}\n\
         TimeoutStopSec=120\n\
         \n\
         [Install]\n\
         WantedBy=sysinit.target\n",
        escaped(trace.as_os_str(), "$"),
        escaped(directory, "$$"),
        command.join(" ")
    )
}

/// A unit of its own, since a service does not end when another has started.
fn end_unit(stop_after: &str) -> String {
    format!(
        "[Unit]\n\
         Description=End the recording of what the boot reads\n\
         After={RECORD_UNIT} {stop_after}\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         ExecStart=systemctl --no-block stop {RECORD_UNIT}\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n"
    )
}

/// Of the characters that systemd.unit(5) allows in names.
fn check_unit(name: &str) -> anyhow::Result<()> {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b":-_.\\@".contains(&byte);
    if name.contains('.') && name.bytes().all(is_legal) {
        return Ok(());
    }
    let error = anyhow!("{} is not the name of a unit", quoted(Path::new(name)));
    Err(hint(
        error,
        "write it with its suffix: `display-manager.service`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_units_are_taken() {
        for name in ["display-manager.service", "getty@tty1.service", "a.target"] {
            assert!(check_unit(name).is_ok(), "{name}");
        }
        for name in ["", "gdm", "a b.service", "a.service\nExecStart=/x"] {
            assert!(check_unit(name).is_err(), "{name}");
        }
    }
}
