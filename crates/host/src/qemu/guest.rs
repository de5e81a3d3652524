//! A virtual machine as it is asked for, and the words that QEMU takes for it.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::{Device, Error};

/// What the disk is called in QEMU's answers.
pub(super) const DISK: &str = "disk";

/// A virtual machine with one disk, which it can only read, and a serial console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    /// The program of QEMU, a path or a name to be looked up.
    pub program: OsString,
    /// What runs the processors.
    pub accelerator: Accelerator,
    /// What to boot; `None` is the loader on the disk itself.
    pub kernel: Option<GuestKernel>,
    /// The file that the disk shows.
    pub disk: PathBuf,
    /// How the disk is attached.
    pub bus: DiskBus,
    /// How fast the disk is. Where its image lies ([`crate::Via`]) has no meaning here.
    pub device: Device,
    /// Main memory, in MiB.
    pub memory_mib: u32,
    /// Number of processors.
    pub cpus: u32,
}

/// What runs the processors of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    /// The processor of this machine.
    Kvm,
    /// QEMU imitates one, which is slower by far.
    Tcg,
}

impl Accelerator {
    /// `kvm` or `tcg`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
        }
    }
}

/// A kernel that QEMU puts into the memory of the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestKernel {
    /// The kernel, a bzImage.
    pub image: PathBuf,
    /// The first root file system.
    pub initrd: Option<PathBuf>,
    /// The words for the kernel.
    pub command_line: String,
}

/// How a disk is attached to a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskBus {
    /// virtio: `/dev/vda`.
    Virtio,
    /// A stick on USB 3: `/dev/sda`.
    Usb,
    /// A drive for CDs and DVDs: `/dev/sr0`.
    Cdrom,
}

impl DiskBus {
    /// The name of the disk in the guest.
    pub fn device_file(self) -> &'static str {
        match self {
            Self::Virtio => "/dev/vda",
            Self::Usb => "/dev/sda",
            Self::Cdrom => "/dev/sr0",
        }
    }

    fn devices(self) -> &'static [&'static str] {
        match self {
            Self::Virtio => &["virtio-blk-pci,drive=disk,bootindex=1"],
            Self::Usb => &["qemu-xhci", "usb-storage,drive=disk,bootindex=1"],
            Self::Cdrom => &["ide-cd,drive=disk,bootindex=1"],
        }
    }
}

/// What is said to every QEMU: nothing but what is named, no window, an end instead of a second
/// boot, and to wait until it is told to go on, where the clock of a boot begins.
const ALWAYS: [&str; 8] = [
    "-nodefaults",
    "-no-user-config",
    "-no-reboot",
    "-S",
    "-display",
    "none",
    // All that the processor can do.
    "-cpu",
    "max",
];

impl Guest {
    /// The words for QEMU.
    ///
    /// * `monitor`: the number of a connected socket, for its control.
    ///
    /// # Errors
    ///
    /// If the working directory is gone, to which the path of the disk is relative.
    pub(super) fn words(&self, monitor: i32) -> Result<Vec<OsString>, Error> {
        let mut words = common(self.accelerator, monitor);
        let mut push = |option: &str, value: OsString| words.extend([option.into(), value]);
        push("-smp", self.cpus.to_string().into());
        push("-m", format!("{}M", self.memory_mib).into());
        push("-chardev", "stdio,id=console,signal=off".into());
        push("-serial", "chardev:console".into());
        push("-drive", self.drive()?);
        for device in self.bus.devices() {
            push("-device", device.into());
        }
        if let Some(kernel) = &self.kernel {
            push("-kernel", kernel.image.clone().into());
            push("-append", kernel.command_line.clone().into());
            if let Some(initrd) = &kernel.initrd {
                push("-initrd", initrd.clone().into());
            }
        }
        Ok(words)
    }

    /// The disk: read directly, so that the memory of this machine does not serve it, and slowed
    /// down by QEMU itself, which needs no privilege.
    fn drive(&self) -> Result<OsString, Error> {
        let media = if self.bus == DiskBus::Cdrom {
            "cdrom"
        } else {
            "disk"
        };
        let mut words =
            format!("if=none,id={DISK},format=raw,media={media},readonly=on,cache=none");
        let rates = [
            ("bps", self.device.read_bytes_per_s),
            ("iops", self.device.read_iops),
        ];
        for (name, rate) in rates {
            if let Some(rate) = rate {
                let _ = write!(words, ",throttling.{name}-read={rate}");
            }
        }
        let mut words = words.into_bytes();
        words.extend_from_slice(b",file=");
        // An absolute path has no protocol (`http:`) in the eyes of QEMU.
        let path = std::path::absolute(&self.disk).map_err(Error::io("find", &self.disk))?;
        words.extend(escaped(&path));
        Ok(OsString::from_vec(words))
    }
}

/// The words that all machines have, which are enough to see whether there can be one.
pub(super) fn common(accelerator: Accelerator, monitor: i32) -> Vec<OsString> {
    let mut words: Vec<OsString> = ALWAYS.map(OsString::from).to_vec();
    let machine = format!("q35,accel={}", accelerator.name());
    words.extend(["-machine".into(), machine.into()]);
    let socket = format!("socket,id=monitor,fd={monitor}");
    words.extend(["-chardev".into(), socket.into()]);
    words.extend(["-mon", "chardev=monitor,mode=control"].map(OsString::from));
    words
}

/// In a list of QEMU's a comma in a value is written twice.
fn escaped(path: &Path) -> Vec<u8> {
    let commas = |&byte: &u8| std::iter::repeat_n(byte, if byte == b',' { 2 } else { 1 });
    path.as_os_str()
        .as_bytes()
        .iter()
        .flat_map(commas)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn guest(device: &str, bus: DiskBus, disk: &[u8]) -> Guest {
        Guest {
            program: "qemu".into(),
            accelerator: Accelerator::Tcg,
            kernel: None,
            disk: OsStr::from_bytes(disk).into(),
            bus,
            device: Device::parse(device).expect("a device"),
            memory_mib: 512,
            cpus: 2,
        }
    }

    #[test]
    fn the_disk_is_read_only_direct_and_as_slow_as_the_device() {
        let common = "if=none,id=disk,format=raw,media=";
        for (device, bus, disk, expected) in [
            (
                "usb2",
                DiskBus::Virtio,
                &b"/i/a b.sqfs"[..],
                "disk,readonly=on,cache=none,throttling.bps-read=25000000,throttling.iops-read=400,file=/i/a b.sqfs",
            ),
            (
                "iops=9",
                DiskBus::Usb,
                b"/i/a,b=c:d",
                "disk,readonly=on,cache=none,throttling.iops-read=9,file=/i/a,,b=c:d",
            ),
            (
                "host",
                DiskBus::Cdrom,
                b"/i",
                "cdrom,readonly=on,cache=none,file=/i",
            ),
        ] {
            let drive = guest(device, bus, disk).drive().expect("a path");
            assert_eq!(drive, OsString::from(format!("{common}{expected}")));
        }
        let odd = guest("host", DiskBus::Virtio, b"/\xff,").drive();
        assert!(odd.expect("a path").as_bytes().ends_with(b"file=/\xff,,"));
        let relative = guest("host", DiskBus::Virtio, b"nbd:x").drive();
        let relative = relative.expect("a path").into_vec();
        assert!(relative.windows(6).any(|piece| piece == b"file=/"));
    }

    #[test]
    fn a_kernel_is_given_with_its_words() {
        let mut guest = guest("host", DiskBus::Virtio, b"/i");
        guest.kernel = Some(GuestKernel {
            image: "/k".into(),
            initrd: Some("/r".into()),
            command_line: "root=/dev/vda quiet".into(),
        });
        let words = guest.words(7).expect("words");
        let value = |option: &str| {
            let at = words.iter().position(|word| word == option)?;
            words.get(at + 1).cloned()
        };
        for (option, expected) in [
            ("-kernel", "/k"),
            ("-initrd", "/r"),
            ("-append", "root=/dev/vda quiet"),
            ("-smp", "2"),
            ("-m", "512M"),
            ("-machine", "q35,accel=tcg"),
            ("-chardev", "socket,id=monitor,fd=7"),
            ("-device", "virtio-blk-pci,drive=disk,bootindex=1"),
        ] {
            assert_eq!(value(option), Some(expected.into()), "{option}");
        }
        for option in ["-S", "-no-reboot", "-nodefaults"] {
            assert!(words.iter().any(|word| word == option), "{option}");
        }
    }
}
