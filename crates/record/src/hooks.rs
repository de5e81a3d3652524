//! What starts `coldpress-prefetch` in an initrd or in a system.
//!
//! Each kind of initrd has its own scripts, and calls them where the image is known and the boot
//! reads the first of it:
//!
//! | kind | called | image |
//! |---|---|---|
//! | live-boot | `live-realpremount`, before each image is attached | `$image` |
//! | casper | `casper-bottom`, after the mounts | `--at` |
//! | dracut | `pre-pivot`, after the mounts | `--at` |
//! | mkinitcpio | `run_latehook`, after the mounts | `--at` |
//! | systemd | a unit, in an initrd or in the system | `--at` |

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use coldpress_ahead::ExtentList;

use crate::cpio::Archive;

/// Where the program and the list are, from the root.
const HELPER: &str = "usr/lib/coldpress/coldpress-prefetch";
const LIST: &str = "usr/lib/coldpress/extents";

/// A kind of initrd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Debian live.
    LiveBoot,
    /// Ubuntu's live systems.
    Casper,
    /// Fedora's, and others.
    Dracut,
    /// Arch's.
    Mkinitcpio,
    /// A unit.
    Systemd,
}

/// A file to install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// From the root, without a slash in front.
    pub path: &'static str,
    /// Whether it can be executed.
    pub is_program: bool,
    /// What it has.
    pub content: Vec<u8>,
}

impl Kind {
    /// Where the image is while the boot reads it; `None` if the script is told.
    pub fn image(self) -> Option<&'static str> {
        match self {
            Self::LiveBoot => None,
            Self::Casper => Some("/cdrom/casper/filesystem.squashfs"),
            Self::Dracut => Some("/run/initramfs/live/LiveOS/squashfs.img"),
            Self::Mkinitcpio => Some("/run/archiso/bootmnt/arch/x86_64/airootfs.sfs"),
            Self::Systemd => Some("/run/live/medium/live/filesystem.squashfs"),
        }
    }

    /// What makes the next initrd have it.
    pub fn next_step(self) -> &'static str {
        match self {
            Self::LiveBoot | Self::Casper => "update-initramfs -u",
            Self::Dracut => "dracut --force --add coldpress",
            Self::Mkinitcpio => {
                "add `coldpress` to HOOKS after the hook that mounts; mkinitcpio -P"
            }
            Self::Systemd => "systemctl enable coldpress-prefetch.service",
        }
    }
}

/// The files of a hook.
///
/// * `helper`: the program, which must not need libraries.
/// * `at`: where the image is, if not where its kind has it.
pub fn files(kind: Kind, helper: Vec<u8>, list: &ExtentList, at: Option<&str>) -> Vec<Installed> {
    let program = |path, content: String| Installed {
        path,
        is_program: true,
        content: content.into_bytes(),
    };
    let text = |path, content: String| Installed {
        path,
        is_program: false,
        content: content.into_bytes(),
    };
    let mut files = vec![
        Installed {
            path: HELPER,
            is_program: true,
            content: helper,
        },
        text(LIST, list.text()),
    ];
    let at = at.or(kind.image()).unwrap_or("$image");
    let start = format!("/{HELPER} /{LIST} \"{at}\"");
    files.extend(match kind {
        Kind::LiveBoot => vec![
            program("etc/initramfs-tools/hooks/coldpress", initramfs_hook()),
            program(
                "etc/initramfs-tools/scripts/live-realpremount/coldpress",
                initramfs_script(&start),
            ),
        ],
        Kind::Casper => vec![
            program("etc/initramfs-tools/hooks/coldpress", initramfs_hook()),
            program(
                "etc/initramfs-tools/scripts/casper-bottom/90coldpress",
                initramfs_script(&start),
            ),
        ],
        Kind::Dracut => vec![
            program(
                "usr/lib/dracut/modules.d/90coldpress/module-setup.sh",
                dracut_module(),
            ),
            program(
                "usr/lib/dracut/modules.d/90coldpress/coldpress.sh",
                format!("#!/bin/sh\n{start}\n"),
            ),
        ],
        Kind::Mkinitcpio => vec![
            text(
                "usr/lib/initcpio/install/coldpress",
                format!(
                    "build() {{\n\
                     \x20   add_file /{HELPER} /{HELPER} 755\n\
                     \x20   add_file /{LIST}\n\
                     \x20   add_runscript\n\
                     }}\n"
                ),
            ),
            text(
                "usr/lib/initcpio/hooks/coldpress",
                format!("run_latehook() {{\n    {start}\n}}\n"),
            ),
        ],
        Kind::Systemd => vec![text(
            "usr/lib/systemd/system/coldpress-prefetch.service",
            unit(at),
        )],
    });
    files
}

/// What live-boot needs of it, as an archive to put behind an initrd that is there already.
pub fn appendix(files: &[Installed]) -> Vec<u8> {
    const SCRIPTS: &str = "etc/initramfs-tools/scripts/";
    let mut archive = Archive::default();
    for Installed {
        path,
        is_program,
        content,
    } in files
    {
        let mode = if *is_program { 0o755 } else { 0o644 };
        let Some(script) = path.strip_prefix(SCRIPTS) else {
            if !path.starts_with("etc/") {
                archive.file(path, mode, content);
            }
            continue;
        };
        let script = format!("scripts/{script}");
        archive.file(&script, mode, content);
        // initramfs-tools reads this list of what it calls; live-boot itself has none there.
        if let Some((directory, _)) = script.rsplit_once('/') {
            let order =
                format!("/{script} \"$@\"\n[ -e /conf/param.conf ] && . /conf/param.conf\n");
            archive.file(&format!("{directory}/ORDER"), 0o644, order.as_bytes());
        }
    }
    archive.finish()
}

/// Writes the files of a hook below a directory, each at once as a whole.
///
/// # Errors
///
/// The first that cannot be written.
pub fn install(files: &[Installed], root: &Path) -> io::Result<()> {
    for file in files {
        let path = root.join(file.path);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let beside = path.with_extension("coldpress-new");
        fs::write(&beside, &file.content)?;
        let mode = if file.is_program { 0o755 } else { 0o644 };
        fs::set_permissions(&beside, fs::Permissions::from_mode(mode))?;
        fs::File::open(&beside)?.sync_all()?;
        fs::rename(&beside, &path)?;
    }
    Ok(())
}

/// Puts program and list into an initrd of initramfs-tools.
fn initramfs_hook() -> String {
    format!(
        "#!/bin/sh\n\
         [ \"$1\" = prereqs ] && exit 0\n\
         . /usr/share/initramfs-tools/hook-functions\n\
         copy_exec /{HELPER}\n\
         copy_file extents /{LIST}\n\
         exit 0\n"
    )
}

fn initramfs_script(start: &str) -> String {
    format!(
        "#!/bin/sh\n\
         [ \"$1\" = prereqs ] && exit 0\n\
         {start}\n\
         exit 0\n"
    )
}

fn dracut_module() -> String {
    format!(
        "#!/bin/bash\n\
         check() {{ return 255; }}\n\
         depends() {{ return 0; }}\n\
         install() {{\n\
         \x20   inst_simple /{HELPER}\n\
         \x20   inst_simple /{LIST}\n\
         \x20   inst_hook pre-pivot 10 \"$moddir/coldpress.sh\"\n\
         }}\n"
    )
}

fn unit(at: &str) -> String {
    format!(
        "[Unit]\n\
         Description=Read ahead what the boot needs of its image\n\
         DefaultDependencies=no\n\
         ConditionKernelCommandLine=!coldpress.prefetch=0\n\
         ConditionPathExists={at}\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         RemainAfterExit=yes\n\
         KillMode=none\n\
         IOSchedulingClass=idle\n\
         ExecStart=-/{HELPER} /{LIST} {at}\n\
         \n\
         [Install]\n\
         WantedBy=sysinit.target\n"
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use coldpress_ahead::{Limits, SUPERBLOCK_BYTES};

    use super::*;

    fn list() -> ExtentList {
        ExtentList {
            image_bytes: 4096,
            superblock: [1; SUPERBLOCK_BYTES],
            limits: Limits {
                bytes: 1,
                bytes_per_s: None,
                time: Duration::from_secs(1),
            },
            extents: vec![0..48, 48..96],
        }
    }

    #[test]
    fn each_kind_starts_the_helper_with_the_list_and_an_image() {
        for kind in [
            Kind::LiveBoot,
            Kind::Casper,
            Kind::Dracut,
            Kind::Mkinitcpio,
            Kind::Systemd,
        ] {
            let files = files(kind, b"program".to_vec(), &list(), None);
            let image = kind.image().unwrap_or("$image");
            let starts = files.iter().filter(|file| {
                let text = String::from_utf8_lossy(&file.content);
                text.contains(&format!("/{HELPER} /{LIST} ")) && text.contains(image)
            });
            assert_eq!(starts.count(), 1, "{kind:?}");
        }
    }

    #[test]
    fn an_initrd_of_live_boot_gets_script_list_and_program() {
        let archive = appendix(&files(Kind::LiveBoot, b"program".to_vec(), &list(), None));
        let text = String::from_utf8_lossy(&archive);
        for name in [
            "scripts/live-realpremount/coldpress\0",
            "scripts/live-realpremount/ORDER\0",
            "usr/lib/coldpress/extents\0",
            "usr/lib/coldpress/coldpress-prefetch\0",
            "TRAILER!!!",
        ] {
            assert!(text.contains(name), "{name}");
        }
        assert!(!text.contains("initramfs-tools"));
    }
}
