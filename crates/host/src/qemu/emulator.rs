//! What a QEMU can do on this machine.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use super::guest::{self, Accelerator};
use super::{Heard, Qemu, refused};
use crate::Error;

/// Firmware takes 0.2 s where processors are imitated; no machine is so slow.
const FIRMWARE_PATIENCE: Duration = Duration::from_secs(20);

/// KVM takes as long as an imitated processor for firmware, which is mostly waiting for devices.
/// Where it cannot use the processor and imitates every instruction itself it took 18 times as
/// long, and for a kernel more than 60 times.
const KVM_SLOWNESS_MAX: u32 = 6;
const KVM_PATIENCE_MIN: Duration = Duration::from_secs(1);
const KVM_IS_SLOW: &str = "KVM runs firmware several times slower than an imitated processor does";

/// What a QEMU is, and what it can do here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emulator {
    /// Its version: `7.2.22`.
    pub version: String,
    /// What runs the processors of its guests.
    pub accelerator: Accelerator,
    /// Why that is not KVM, in the words of QEMU.
    pub without_kvm: Option<String>,
}

impl Emulator {
    /// Finds out what a QEMU can do by making an empty machine and letting its firmware run: there
    /// are machines whose `/dev/kvm` can be opened and is of no use, as inside some virtual
    /// machines, where an imitated processor is faster by far.
    ///
    /// * `accelerator`: the one to use; `None` is KVM where that works.
    ///
    /// # Errors
    ///
    /// [`Error::CannotRun`] if there is no such program, [`Error::Emulator`] if it makes no
    /// machine.
    ///
    /// # Cost
    ///
    /// Starts QEMU once, or three times: some 200 ms each, a second or two where KVM is of no use.
    pub fn find(program: &OsString, accelerator: Option<Accelerator>) -> Result<Self, Error> {
        if let Some(accelerator) = accelerator {
            return Self::with(program, accelerator);
        }
        let found = match Self::with(program, Accelerator::Kvm) {
            Err(Error::Emulator { said, .. }) => {
                return Ok(Self {
                    without_kvm: Some(said),
                    ..Self::with(program, Accelerator::Tcg)?
                });
            }
            found => found?,
        };
        let Some(tcg) = firmware_time(program, Accelerator::Tcg, FIRMWARE_PATIENCE)? else {
            return Ok(found);
        };
        let limit = (tcg * KVM_SLOWNESS_MAX).max(KVM_PATIENCE_MIN);
        Ok(match firmware_time(program, Accelerator::Kvm, limit)? {
            Some(_) => found,
            None => Self {
                accelerator: Accelerator::Tcg,
                without_kvm: Some(KVM_IS_SLOW.to_owned()),
                ..found
            },
        })
    }

    fn with(program: &OsString, accelerator: Accelerator) -> Result<Self, Error> {
        let words = |socket| Ok(guest::common(accelerator, socket));
        let (_qemu, mut monitor) = Qemu::start(program, None, words)?;
        let answer = monitor.ask("query-version").map_err(refused(program))?;
        let number = |name: &str| answer["qemu"][name].as_u64().unwrap_or(0).to_string();
        Ok(Self {
            version: ["major", "minor", "micro"].map(number).join("."),
            accelerator,
            without_kvm: None,
        })
    }
}

/// How long the firmware of an empty machine takes to find nothing to boot; `None` if that is more
/// than `limit`.
fn firmware_time(
    program: &OsString,
    accelerator: Accelerator,
    limit: Duration,
) -> Result<Option<Duration>, Error> {
    let words = |socket| {
        let mut words = guest::common(accelerator, socket);
        // It then resets the machine, which ends it.
        words.extend(["-boot", "reboot-timeout=1"].map(OsString::from));
        Ok(words)
    };
    let (mut qemu, mut monitor) = Qemu::start(program, None, words)?;
    let begun = Instant::now();
    monitor.ask("cont").map_err(refused(program))?;
    while begun.elapsed() < limit {
        if let Heard::End = qemu.listen(limit.saturating_sub(begun.elapsed()))? {
            return Ok(Some(begun.elapsed()));
        }
    }
    Ok(None)
}
