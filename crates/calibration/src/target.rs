//! The device that a start is predicted for, as a medium and a machine of the cost model.
//!
//! A preset says how a medium is slowed down. What it does not say is this machine's: its
//! processors, how fast its kernel decompresses, and the disk that is slowed down. `coldpress
//! calibrate` measured that, or defaults stand for it.

mod speeds;

use std::path::Path;

use anyhow::anyhow;
use coldpress_cost::{Decompressors, Machine, Medium, Reader};
use coldpress_host::{
    Calibration, Device, LoopDevice, MediumFigures, Readahead, ReaderFigures, Via, machine,
};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;

use crate::kept::{self, MEDIUM};

/// Several threads that are so many times as fast as one are not kept waiting by a single
/// decompressor.
const SEVERAL_GAIN: f64 = 1.3;
/// On a disk, where `/tmp` may be in memory.
const ON_DISK: &str = "/var/tmp";

/// What a start is predicted for.
#[derive(Clone, Debug)]
pub struct Target {
    /// As it was described.
    pub name: String,
    /// What holds the image.
    pub medium: Medium,
    /// This machine's disk as it is, from which starts are recorded.
    pub disk: Medium,
    /// What reads it.
    pub machine: Machine,
    /// This kernel as a reader of images.
    pub kernel: Reader,
    /// Whether decompression was measured in this kernel; if not, defaults stand for it.
    pub is_calibrated: bool,
    /// Whether it is of this machine, rather than the same everywhere.
    pub is_here: bool,
}

impl Target {
    /// Reads a description: `calibrated`, or what [`Device::parse`] knows; with what the user
    /// calibrated. Warns of a calibration of another machine or kernel, or one that cannot be read,
    /// which is passed over.
    ///
    /// # Errors
    ///
    /// If the description is wrong, or `calibrated` is asked for and nothing was measured.
    pub fn resolve(text: &str, ui: &Ui) -> anyhow::Result<Self> {
        Known::here(ui).target(text)
    }

    /// The same, if the kernel reads ahead so far in the mount. What a loop device has by itself is
    /// this machine's; root learns it from one over a file in `/var/tmp`, others from the first
    /// that there is.
    #[must_use]
    pub fn with_readahead(mut self, readahead: Readahead) -> Self {
        let bytes = |kib: u64| kib.saturating_mul(1024);
        match readahead {
            Readahead::Kib(kib) => self.medium.mounted_readahead_bytes = Some(bytes(kib)),
            Readahead::Kernel if self.is_here => {
                let kib = LoopDevice::default_readahead_kib(Path::new(ON_DISK)).ok();
                if let Some(kib) = kib.or(machine().read_ahead_kib) {
                    self.medium.readahead_bytes = bytes(kib);
                }
            }
            Readahead::Disk | Readahead::Kernel => {}
        }
        self
    }

    /// The same with a given calibration and nothing else of this machine; with none, all figures
    /// are defaults, the same everywhere.
    ///
    /// # Errors
    ///
    /// As [`Target::resolve`].
    pub fn of(text: &str, kept: Option<&Calibration>) -> anyhow::Result<Self> {
        let (device, is_asked) = parse(text)?;
        let disk = kept.and_then(|kept| kept.media.get(MEDIUM));
        if is_asked && disk.is_none() {
            let error = anyhow!("`{text}` is unknown: nothing was measured on this machine");
            return Err(hint(
                error,
                "`coldpress calibrate PATH` measures the disk under PATH and keeps it",
            ));
        }
        let mut machine = Machine::default();
        if let Some(kept) = kept {
            machine.cores = kept.machine.cores;
            speeds::apply(kept, &mut machine.speeds);
        }
        Ok(Self {
            name: text.to_owned(),
            medium: medium(&device, disk),
            disk: medium(&Device::parse("host")?, disk),
            machine,
            kernel: Reader::KERNEL,
            is_calibrated: reader(kept).is_some_and(|reader| reader.is_kernel),
            is_here: false,
        })
    }
}

/// What is known of this machine.
pub(crate) struct Known {
    machine: coldpress_host::Machine,
    kept: Option<Calibration>,
}

impl Known {
    pub(crate) fn here(ui: &Ui) -> Self {
        let machine = machine();
        let kept = match kept::read() {
            Ok(Some((kept, _))) if kept.is_of(&machine) => Some(kept),
            Ok(Some((_, path))) => {
                ui.warn(&format!(
                    "{} is of another machine or kernel, so predictions ignore it; `coldpress \
                     calibrate` measures this one",
                    quoted(&path)
                ));
                None
            }
            Ok(None) => None,
            Err(error) => {
                ui.warn(&coldpress_report::failure::sentence(&error));
                None
            }
        };
        Self { machine, kept }
    }

    pub(crate) fn target(&self, text: &str) -> anyhow::Result<Target> {
        let mut target = Target::of(text, self.kept.as_ref())?;
        target.machine.cores = self.machine.cores;
        target.kernel = kernel(&self.machine, self.kept.as_ref());
        target.is_here = true;
        Ok(target)
    }
}

/// The device, and whether the calibrated disk is asked for by name.
fn parse(text: &str) -> anyhow::Result<(Device, bool)> {
    let rest = text.strip_prefix(MEDIUM);
    let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(','));
    Ok(match rest {
        // The disk as it is, with what is said besides.
        Some(rest) => (Device::parse(&format!("host{rest}"))?, true),
        None => (Device::parse(text)?, false),
    })
}

/// * `disk`: what was measured of the disk as it is.
fn medium(device: &Device, disk: Option<&MediumFigures>) -> Medium {
    let mut medium = Medium::HOST;
    if let Some(disk) = disk {
        (medium.request_s, medium.bandwidth_bytes_per_s) = disk.request_and_bandwidth();
    }
    // A loop device reads ahead as it always does; a file as its disk does.
    medium.via_file = device.via == Via::File;
    if let Some(ahead_bytes) = disk.and_then(|disk| disk.read_ahead_bytes)
        && medium.via_file
    {
        medium.readahead_bytes = ahead_bytes;
    }
    #[expect(clippy::cast_precision_loss, reason = "rates of media")]
    let limit = |said: Option<u64>| said.map(|said| said as f64);
    // A throttle does what it says: what calibrate finds besides is what the last slice left over.
    medium.limit_bytes_per_s = limit(device.read_bytes_per_s);
    medium.reads_per_s = limit(device.read_iops);
    medium
}

fn reader(kept: Option<&Calibration>) -> Option<&ReaderFigures> {
    kept?.reader.as_ref()
}

/// This kernel, as far as its configuration says, else as it was found.
fn kernel(machine: &coldpress_host::Machine, kept: Option<&Calibration>) -> Reader {
    let has_several = reader(kept).is_some_and(|it| it.is_kernel && it.threads_gain > SEVERAL_GAIN);
    let decompressors = match machine.squashfs_decompressor.as_str() {
        "single" => Decompressors::Single,
        "multi" => Decompressors::Multi,
        "percpu" => Decompressors::PerCpu,
        _ if has_several => Decompressors::Multi,
        _ => Decompressors::Single,
    };
    let Reader::Kernel {
        fragment_slots,
        metadata_slots,
        ..
    } = Reader::KERNEL
    else {
        return Reader::KERNEL;
    };
    let slots = machine.squashfs_cached_fragments;
    Reader::Kernel {
        decompressors,
        fragment_slots: slots.map_or(fragment_slots, |slots| slots as usize),
        metadata_slots,
    }
}

#[cfg(test)]
mod tests;
