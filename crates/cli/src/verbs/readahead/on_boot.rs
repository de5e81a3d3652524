//! What sets the readahead on the machine of a user: texts for udev, systemd and initramfs-tools.

use std::env;
use std::path::{Path, absolute};

use anyhow::{Context as _, anyhow};
use coldpress_report::failure::hint;
use coldpress_report::systemd::escaped;
use coldpress_report::text::quoted;

use crate::verbs::readahead::args::ReadaheadVerbArgs;

/// The text that is asked for, if one is.
///
/// # Errors
///
/// If the path of the target cannot be written in a rule.
pub(super) fn text(args: &ReadaheadVerbArgs, kib: Option<u64>) -> anyhow::Result<Option<String>> {
    let wanted = &args.on_boot;
    match (kib, &args.target) {
        (Some(kib), _) if wanted.initramfs => Ok(Some(initramfs(kib))),
        (Some(kib), Some(target)) if wanted.udev => udev(&absolute(target)?, kib).map(Some),
        (Some(kib), Some(target)) if wanted.systemd => systemd(&absolute(target)?, kib).map(Some),
        _ => Ok(None),
    }
}

/// A loop device changes when it gets its file. Characters that udev reads as a pattern, and those
/// that end its string, have no escape there.
fn udev(image: &Path, kib: u64) -> anyhow::Result<String> {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"\\*?[]|$%".contains(byte);
    let path = image
        .to_str()
        .filter(|path| path.as_bytes().iter().all(is_plain));
    let path = path.ok_or_else(|| {
        let error = anyhow!("a rule of udev cannot name {}", quoted(image));
        hint(
            error,
            "use a path of letters, digits and `/._-`, or `--systemd`",
        )
    })?;
    Ok(format!(
        "# SquashFS raises it to four blocks when it mounts.\n\
         ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"loop*\", \\\n\
         \x20 ATTR{{loop/backing_file}}==\"{path}\", ATTR{{queue/read_ahead_kb}}=\"{kib}\"\n"
    ))
}

fn systemd(mount: &Path, kib: u64) -> anyhow::Result<String> {
    let program = env::current_exe().context("cannot find this program")?;
    let [program, argument] = [&*program, mount].map(|word| escaped(word.as_os_str(), "$$"));
    let needed = escaped(mount.as_os_str(), "$");
    Ok(format!(
        "[Unit]\n\
         Description=Set how far the kernel reads ahead\n\
         RequiresMountsFor={needed}\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         ExecStart={program} -q readahead {argument} --set {kib}K\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n"
    ))
}

/// In the shell of an initramfs, without a program: `mountpoint` may not be there.
fn initramfs(kib: u64) -> String {
    format!(
        "#!/bin/sh\n\
         [ \"$1\" = prereqs ] && exit 0\n\
         while read -r _ _ device _ _ rest; do\n\
         \x20   case \" $rest\" in\n\
         \x20   *' - squashfs '*) echo {kib} >\"/sys/class/bdi/$device/read_ahead_kb\" ;;\n\
         \x20   esac\n\
         done </proc/self/mountinfo\n\
         exit 0\n"
    )
}
