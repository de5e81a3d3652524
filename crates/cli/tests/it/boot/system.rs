//! A small system to boot: a kernel of Debian, an initrd with its modules, and a root of one
//! program.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What disk and file system of a guest need, in the order of loading.
const MODULES: [&str; 7] = [
    "drivers/virtio/virtio_ring.ko",
    "drivers/virtio/virtio.ko",
    "drivers/virtio/virtio_pci_legacy_dev.ko",
    "drivers/virtio/virtio_pci_modern_dev.ko",
    "drivers/virtio/virtio_pci.ko",
    "drivers/block/virtio_blk.ko",
    "fs/squashfs/squashfs.ko",
];

/// What dm-verity needs besides.
const VERITY_MODULES: [&str; 4] = [
    "drivers/md/dm-mod.ko",
    "drivers/md/dm-bufio.ko",
    "lib/reed_solomon/reed_solomon.ko",
    "drivers/md/dm-verity.ko",
];

const INITRD_INIT: &str = "#!/bin/sh
/bin/busybox mount -t devtmpfs dev /dev
for module in /modules/*; do /bin/busybox insmod $module; done
# What udev does.
if [ -e /etc/udev/rules.d/99-coldpress-record.rules ]; then
    /bin/busybox mount -t sysfs sysfs /sys
    echo 0 >/sys/block/vda/queue/read_ahead_kb
fi
/bin/busybox mount -t squashfs -o ro /dev/vda /root
exec /bin/busybox switch_root /root /sbin/init
";

const INIT: &str = "#!/bin/sh
/bin/busybox mount -t devtmpfs dev /dev
exec </dev/console >/dev/console 2>&1
echo '         Starting data.service - Data...'
/bin/cat /read >/dev/null
/bin/busybox dd if=/pages of=/dev/null bs=4096 skip=5 count=1 2>/dev/null
/bin/busybox dd if=/pages of=/dev/null bs=4096 skip=40 count=3 2>/dev/null
/bin/busybox stat /bin/no-such-name 2>/dev/null
echo '[  OK  ] Started data.service - Data.'
/bin/busybox printf 'small login: '
exec /bin/busybox sleep 1000
";

/// What systems are made of, as it lies on this machine.
#[derive(Debug)]
pub(crate) struct Parts {
    kernel: PathBuf,
    modules: PathBuf,
    busybox: PathBuf,
}

impl Parts {
    /// In the directory that `COLDPRESS_GUEST_KERNEL` names, an unpacked package, or on this
    /// machine itself.
    pub(crate) fn find() -> Option<Self> {
        Self::find_with(&MODULES)
    }

    /// Those whose kernel has dm-verity.
    pub(crate) fn find_with_verity() -> Option<Self> {
        Self::find_with(&[&MODULES[..], &VERITY_MODULES].concat())
    }

    fn find_with(needed: &[&str]) -> Option<Self> {
        let unpacked = env::var_os("COLDPRESS_GUEST_KERNEL").map(PathBuf::from);
        let root = unpacked.unwrap_or_else(|| "/".into());
        let busybox = PathBuf::from("/bin/busybox");
        // One that needs libraries finds none.
        let is_static = !asks_for_an_interpreter(&fs::read(&busybox).ok()?);
        let kernels = fs::read_dir(root.join("boot")).ok()?.flatten();
        let mut parts = kernels.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix("vmlinuz-")?;
            let modules = root.join("lib/modules").join(version).join("kernel");
            let is_complete = needed.iter().all(|module| modules.join(module).is_file());
            is_complete.then(|| Self {
                kernel: entry.path(),
                modules,
                busybox: busybox.clone(),
            })
        });
        parts.find(|_| is_static)
    }
}

/// Whether one of the program headers of an ELF file is `PT_INTERP`.
fn asks_for_an_interpreter(elf: &[u8]) -> bool {
    let number = |at: usize| usize::from(elf[at]) | usize::from(elf[at + 1]) << 8;
    let (table, size, count) = (number(32), number(54), number(56));
    (0..count).any(|header| number(table + header * size) == 3)
}

/// A system of such parts.
#[derive(Debug)]
pub(super) struct System<'a>(&'a Parts);

impl<'a> System<'a> {
    /// What it reads when it boots, in one file.
    pub(super) const READ_BYTES: u32 = 4 << 20;
    /// What it does not read.
    pub(super) const NOT_READ_BYTES: u32 = 16 << 20;

    pub(super) fn of(parts: &'a Parts) -> Self {
        Self(parts)
    }

    /// Puts `vmlinuz`, `initrd` and a directory `root` into a directory.
    pub(super) fn write(&self, directory: &Path) {
        fs::copy(&self.0.kernel, directory.join("vmlinuz")).unwrap();
        fs::write(
            directory.join("initrd"),
            self.initrd(INITRD_INIT, &MODULES, &[]),
        )
        .unwrap();
        let root = directory.join("root");
        for name in ["bin", "sbin", "dev"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::copy(&self.0.busybox, root.join("bin/busybox")).unwrap();
        for name in ["sh", "cat"] {
            symlink("busybox", root.join("bin").join(name)).unwrap();
        }
        fs::write(root.join("sbin/init"), INIT).unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(root.join("sbin/init"), executable).unwrap();
        fs::write(root.join("read"), noise(1, Self::READ_BYTES)).unwrap();
        fs::write(root.join("pages"), noise(3, 64 * 4096 + 1)).unwrap();
        fs::write(root.join("unread"), noise(2, Self::NOT_READ_BYTES)).unwrap();
    }

    /// The kernel, and an initrd whose `init` runs a program of this machine with dm-verity.
    pub(super) fn write_with_verity(&self, directory: &Path, init: &str, program: &Path) {
        fs::copy(&self.0.kernel, directory.join("vmlinuz")).unwrap();
        let modules = [&MODULES[..], &VERITY_MODULES].concat();
        let files = with_libraries(program);
        fs::write(
            directory.join("initrd"),
            self.initrd(init, &modules, &files),
        )
        .unwrap();
    }

    fn initrd(&self, init: &str, modules: &[&str], files: &[PathBuf]) -> Vec<u8> {
        let mut archive = Vec::new();
        let mut directories =
            BTreeSet::from(["bin", "dev", "root", "sys", "modules"].map(PathBuf::from));
        for file in files {
            let parents = file
                .ancestors()
                .skip(1)
                .filter_map(|it| it.strip_prefix("/").ok());
            directories.extend(parents.map(Path::to_path_buf));
        }
        directories.remove(Path::new(""));
        for directory in &directories {
            entry(&mut archive, directory.to_str().unwrap(), 0o040_755, b"");
        }
        for file in files {
            let name = file.strip_prefix("/").unwrap().to_str().unwrap();
            entry(&mut archive, name, 0o100_755, &fs::read(file).unwrap());
        }
        entry(&mut archive, "init", 0o100_755, init.as_bytes());
        let busybox = fs::read(&self.0.busybox).unwrap();
        entry(&mut archive, "bin/busybox", 0o100_755, &busybox);
        entry(&mut archive, "bin/sh", 0o120_777, b"busybox");
        for (number, module) in modules.iter().enumerate() {
            let bytes = fs::read(self.0.modules.join(module)).unwrap();
            entry(
                &mut archive,
                &format!("modules/{number:02}"),
                0o100_644,
                &bytes,
            );
        }
        entry(&mut archive, "TRAILER!!!", 0, b"");
        archive
    }
}

/// A program and the libraries that it is linked with, under the paths by which it finds them.
fn with_libraries(program: &Path) -> Vec<PathBuf> {
    let listed = Command::new("ldd").arg(program).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let libraries = listed
        .split_whitespace()
        .filter(|word| word.starts_with('/'));
    let libraries: BTreeSet<PathBuf> = libraries.map(PathBuf::from).collect();
    [program.to_path_buf()]
        .into_iter()
        .chain(libraries)
        .collect()
}

/// An entry of a cpio archive in its "new ASCII" format, as the kernel's `initramfs-buffer-format`
/// states it.
fn entry(archive: &mut Vec<u8>, name: &str, mode: u32, content: &[u8]) {
    let inode = archive.len();
    let fields = [
        inode,
        mode as usize,
        0,
        0,
        1,
        0,
        content.len(),
        0,
        0,
        0,
        0,
        name.len() + 1,
        0,
    ];
    archive.extend_from_slice(b"070701");
    for field in fields {
        archive.extend(format!("{field:08X}").bytes());
    }
    archive.extend_from_slice(name.as_bytes());
    archive.push(0);
    archive.resize(archive.len().next_multiple_of(4), 0);
    archive.extend_from_slice(content);
    archive.resize(archive.len().next_multiple_of(4), 0);
}

/// Bytes that no compressor shrinks, the same each time (Marsaglia's xorshift).
pub(super) fn noise(seed: u64, len: u32) -> Vec<u8> {
    let mut state = seed;
    let words = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    words.flatten().take(len as usize).collect()
}
