//! The readers that are known by name: what is known of them, from where and when.
//!
//! What nobody stated is left out, and is then unknown: a wrong yes costs a boot.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::Context as _;
use coldpress_format::Compressor::{self, Gzip, Lz4, Lzo, Xz, Zstd};
use coldpress_host::KernelConfig;
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;

use super::kernel;
use super::reader::{COMPRESSORS, FILTERS, Known, Reader};

const ALL: &[Compressor] = &[Gzip, Lzo, Lz4, Xz, Zstd];

/// A reader that has a name.
#[derive(Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// What it is, for people.
    pub what: &'static str,
    is_kernel: bool,
    reads: &'static [Compressor],
    lacks: &'static [Compressor],
    /// The filters of xz that it has, and no others; `None` if that is not known.
    filters: Option<&'static [&'static str]>,
    xattrs: Known,
    page_bytes: Option<u32>,
    is_snap_store: bool,
    /// Where that was learnt, and when.
    pub source: &'static str,
}

/// A kernel of which nothing is known, from which the others differ.
const KERNEL: Target = Target {
    name: "",
    what: "",
    is_kernel: true,
    reads: &[],
    lacks: &[],
    filters: None,
    xattrs: Known::Unknown,
    page_bytes: None,
    is_snap_store: false,
    source: "",
};

/// A program, for which pages do not matter.
const PROGRAM: Target = Target {
    is_kernel: false,
    ..KERNEL
};

/// Every target, by name.
pub const TARGETS: [Target; 12] = [
    Target {
        name: "appimage",
        what: "the type 2 runtime that appimagetool puts at the beginning of an AppImage",
        reads: &[Gzip, Zstd],
        lacks: &[Lzo, Lz4, Xz],
        source: "src/runtime/Makefile of AppImage/type2-runtime (links -lzstd -lz), read 2026-11; \
        the older \
                 runtime of AppImageKit reads gzip and xz instead",
        ..PROGRAM
    },
    Target {
        name: "apptainer",
        what: "Apptainer and SingularityCE, by the kernel or squashfuse_ll",
        reads: &[Gzip],
        source: "Apptainer builds with -comp gzip and warns of others (917d665, 2026-08); what \
        reads them \
                 is the site's kernel or squashfuse_ll",
        ..KERNEL
    },
    Target {
        name: "buildroot",
        what: "a kernel that Buildroot builds from its defaults",
        reads: &[Gzip],
        source: "SQUASHFS_ZLIB is on by default (fs/squashfs/Kconfig, Linux 6.18); the board's \
                 configuration decides all else",
        ..KERNEL
    },
    Target {
        name: "debian-11",
        what: "Linux 5.10 of Debian 11, amd64",
        page_bytes: Some(4096),
        source: "not looked up: pass its /boot/config-* as the target",
        ..KERNEL
    },
    Target {
        name: "debian-12",
        what: "Linux 6.1 of Debian 12, amd64",
        reads: ALL,
        filters: Some(&["x86"]),
        xattrs: Known::Yes,
        page_bytes: Some(4096),
        source: "package linux-config-6.1 6.1.192-2, read 2026-11",
        ..KERNEL
    },
    Target {
        name: "debian-13",
        what: "Linux 6.12 of Debian 13, amd64",
        reads: ALL,
        xattrs: Known::Yes,
        page_bytes: Some(4096),
        source: "debian/config/config of Debian's kernel team, as of Linux 6.12 or later, read \
        2026-11",
        ..KERNEL
    },
    Target {
        name: "enroot",
        what: "enroot and pyxis, by the kernel or squashfuse",
        reads: &[Gzip],
        source: "enroot 4 (8ea147d, 2026-04) leaves it to the node's kernel or squashfuse; lzo \
        images are \
                 known that no node could read",
        ..KERNEL
    },
    Target {
        name: "openwrt",
        what: "OpenWrt with Linux 6.6",
        reads: &[Xz],
        lacks: &[Gzip, Lzo, Lz4, Zstd],
        xattrs: Known::No,
        page_bytes: Some(4096),
        source: "target/linux/generic/config-6.6 of openwrt/openwrt (001128e), read 2026-11; \
        filters depend \
                 on the architecture",
        ..KERNEL
    },
    Target {
        name: "snap-store",
        what: "the review of the snap store",
        reads: &[Xz, Lzo],
        lacks: &[Gzip, Lz4, Zstd],
        xattrs: Known::Yes,
        is_snap_store: true,
        source: "review-tools 0.48+2022023 (5a406a7, 2022-02), snap pack of snapd (bee548f, \
        2026-08)",
        ..PROGRAM
    },
    Target {
        name: "ubuntu-20.04",
        what: "Linux of Ubuntu 20.04, amd64",
        reads: ALL,
        xattrs: Known::Yes,
        page_bytes: Some(4096),
        source: "debian.master/config/config.common.ubuntu of Ubuntu's kernel (08e1991), read \
        2026-11",
        ..KERNEL
    },
    Target {
        name: "ubuntu-22.04",
        what: "Linux 5.15 of Ubuntu 22.04, amd64",
        reads: &[Xz, Lzo],
        page_bytes: Some(4096),
        source: "it mounts snaps, which are xz or lzo; its configuration was not looked up: pass \
        its \
                 /boot/config-* as the target",
        ..KERNEL
    },
    Target {
        name: "ubuntu-24.04",
        what: "Linux 6.8 of Ubuntu 24.04, amd64",
        reads: ALL,
        xattrs: Known::Yes,
        page_bytes: Some(4096),
        source: "debian.master/config/annotations of Ubuntu's kernel (28ce79f), read 2026-11",
        ..KERNEL
    },
];

/// The target of this name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// The target of this name, or the kernel with the configuration in this file.
///
/// # Errors
///
/// If it is neither.
pub fn reader(target: &OsStr) -> anyhow::Result<Reader> {
    if let Some(target) = target.to_str().and_then(find) {
        return Ok(target.reader());
    }
    let path = Path::new(target);
    let name = quoted(path);
    let config = KernelConfig::read(path)
        .with_context(|| format!("{name} is neither a target nor the configuration of a kernel"))
        .map_err(|error| hint(error, "`coldpress doctor --target list` names the targets"))?;
    Ok(kernel::of_config(
        &format!("the kernel of {name}"),
        &config,
        path,
    ))
}

impl Target {
    /// It as a reader.
    pub fn reader(&self) -> Reader {
        let known = |compressor| {
            if self.reads.contains(&compressor) {
                Known::Yes
            } else if self.lacks.contains(&compressor) {
                Known::No
            } else {
                Known::Unknown
            }
        };
        // Programs have the filters of liblzma, which has them all.
        let filter = |name: &str| match self.filters {
            _ if !self.is_kernel => Known::Yes,
            None => Known::Unknown,
            Some(filters) => Known::from(filters.contains(&name)),
        };
        Reader {
            is_kernel: self.is_kernel,
            squashfs: if self.reads.is_empty() {
                Known::Unknown
            } else {
                Known::Yes
            },
            compressors: COMPRESSORS.map(known),
            filters: FILTERS.map(|(_, name)| filter(name)),
            xattrs: if self.is_kernel {
                self.xattrs
            } else {
                Known::Yes
            },
            page_bytes: self.page_bytes,
            is_snap_store: self.is_snap_store,
            ..Reader::unknown(self.name, self.source)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_every_row_says_where_it_comes_from() {
        assert!(TARGETS.is_sorted_by_key(|target| target.name));
        for target in &TARGETS {
            let name = target.name;
            assert!(
                !target.what.is_empty() && !target.source.is_empty(),
                "{name}"
            );
            assert!(
                target
                    .reads
                    .iter()
                    .all(|known| !target.lacks.contains(known)),
                "{name}"
            );
            let is_known = |name: &&str| FILTERS.iter().any(|(_, known)| known == name);
            assert!(
                target.filters.unwrap_or_default().iter().all(is_known),
                "{name}"
            );
            assert_eq!(find(name).map(|found| found.name), Some(name));
        }
        assert!(find("windows").is_none());
    }
}
