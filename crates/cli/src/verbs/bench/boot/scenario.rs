//! Arguments to what is booted, checked.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;

use anyhow::{Context as _, anyhow};
use coldpress_bench::{BootContestant, BootScenario};
use coldpress_host::{Device, DiskBus, GuestKernel, machine};
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped, quoted};

use crate::flags::guest::GuestArgs;
use crate::study;
use crate::verbs::bench::boot::args::BootArgs;

/// What every kernel is told: where to talk, to say only what matters, since a serial console is
/// slow, to end when it panics, which it does if it checks a timer that a busy machine imitates, and
/// systemd to name its units: it cuts descriptions, at another place when a unit begins than when it
/// ends.
const WORDS: &str =
    "ro console=ttyS0 loglevel=4 panic=-1 no_timer_check systemd.status_unit_format=name";

/// Processors of a guest, where there are as many: enough for a boot to be parallel.
const CPUS_MAX: u32 = 2;

/// Below this no kernel of today boots.
const MEMORY_MIB_MIN: u32 = 32;

/// The images by their names.
///
/// # Errors
///
/// If one cannot be read, or two have the same name.
pub(super) fn contestants(args: &BootArgs) -> anyhow::Result<Vec<BootContestant>> {
    if !args.name.is_empty() && args.name.len() != args.images.len() {
        let (names, images) = (args.name.len(), args.images.len());
        let error = anyhow!("{names} names for {images} images");
        return Err(hint(
            error,
            "give --name once for each image, or not at all",
        ));
    }
    let mut seen = BTreeSet::new();
    let images = args.images.iter().enumerate();
    images
        .map(|(index, image)| {
            let metadata =
                fs::metadata(image).with_context(|| format!("cannot look at {}", quoted(image)))?;
            if !metadata.is_file() && !metadata.file_type().is_block_device() {
                return Err(anyhow!("{} is neither a file nor a disk", quoted(image)));
            }
            let name = args.name.get(index).cloned();
            let name = name.unwrap_or_else(|| {
                let name = image.file_name().unwrap_or(image.as_os_str());
                escaped(name.as_encoded_bytes())
            });
            if !seen.insert(name.clone()) {
                let error = anyhow!("two images are called `{name}`");
                return Err(hint(error, "distinguish them with --name, once for each"));
            }
            let image = image.clone();
            Ok(BootContestant { name, image })
        })
        .collect()
}

/// What all of them have to do.
///
/// # Errors
///
/// If the device is none, or the memory too little or too much.
pub(super) fn scenario(args: &BootArgs) -> anyhow::Result<BootScenario> {
    let guest = &args.guest;
    let bus = DiskBus::from(guest.bus);
    let kernel = guest.kernel.as_ref().map(|kernel| GuestKernel {
        image: kernel.clone(),
        initrd: guest.initrd.clone(),
        command_line: command_line(&format!("root={}", bus.device_file()), &guest.append),
    });
    Ok(BootScenario {
        device: Device::parse(&args.device.name)?,
        runs: args.runs.number.get(),
        seed: args.study.seed.unwrap_or_else(study::seed),
        charts: args.chart.is_some(),
        ..one_boot(guest, kernel, args.timeout.get())?
    })
}

/// One boot, at the speed of this machine's disk.
///
/// # Errors
///
/// If the memory is too little.
pub(crate) fn one_boot(
    guest: &GuestArgs,
    kernel: Option<GuestKernel>,
    timeout_s: u64,
) -> anyhow::Result<BootScenario> {
    let memory_mib = u32::try_from(guest.memory >> 20).unwrap_or(u32::MAX);
    if memory_mib < MEMORY_MIB_MIN {
        let error = anyhow!("a machine of {memory_mib} MiB boots no kernel");
        return Err(hint(error, "--guest-memory takes a size: `1G`, `512M`"));
    }
    Ok(BootScenario {
        qemu: guest.qemu.clone(),
        accelerator: guest.accelerator.map(Into::into),
        kernel,
        bus: guest.bus.into(),
        device: Device::parse("host")?,
        memory_mib,
        cpus: guest
            .cpus
            .map_or_else(|| machine().cores.min(CPUS_MAX), Into::into),
        ready: guest.ready_line.clone(),
        timeout_s,
        runs: 1,
        seed: 0,
        charts: false,
    })
}

/// The words for the kernel: what it boots from, what every kernel is told, what is appended.
pub(crate) fn command_line(first: &str, more: &[String]) -> String {
    let mut words = format!("{first} {WORDS}");
    for word in more {
        words.push(' ');
        words.push_str(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_stands_behind_and_so_wins() {
        let more = ["quiet loglevel=7".to_owned(), "init=/bin/sh".to_owned()];
        assert_eq!(
            command_line("root=/dev/sda", &more),
            format!("root=/dev/sda {WORDS} quiet loglevel=7 init=/bin/sh")
        );
    }
}
