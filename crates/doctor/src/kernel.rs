//! A kernel as a reader of images: this one, or one whose configuration is at hand.

use std::path::Path;

use coldpress_host::KernelConfig;
use coldpress_report::text::quoted;

use super::reader::{COMPRESSORS, FILTERS, Known, Reader};
use super::trial;

/// How the abilities of this kernel were found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// From its configuration, or by trying if there is none.
    Configuration,
    /// By trying only.
    Trial,
}

/// This kernel.
///
/// # Errors
///
/// If it was to be tried, but cannot be.
pub fn this(means: Means) -> anyhow::Result<Reader> {
    let page_bytes = u32::try_from(rustix::param::page_size()).ok();
    if means == Means::Configuration
        && let Some((config, path)) = KernelConfig::running()
    {
        return Ok(Reader {
            page_bytes,
            ..of_config("this kernel", &config, &path)
        });
    }
    let nothing = Reader {
        page_bytes,
        ..Reader::unknown("this kernel", "its configuration cannot be read")
    };
    match trial::reader(&nothing) {
        Ok(reader) => Ok(reader),
        Err(error) if means == Means::Trial => Err(error),
        Err(_) => Ok(listed(nothing)),
    }
}

/// Who can neither read nor try still sees what file systems there are.
fn listed(reader: Reader) -> Reader {
    let list = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let is_listed = list.split_whitespace().any(|name| name == "squashfs");
    Reader {
        // A module that is not loaded is not listed.
        squashfs: if is_listed {
            Known::Yes
        } else {
            Known::Unknown
        },
        source: "/proc/filesystems; its configuration cannot be read, and only root can try"
            .to_owned(),
        ..reader
    }
}

/// The kernel with this configuration.
pub fn of_config(name: &str, config: &KernelConfig, path: &Path) -> Reader {
    let has = |option: &str| Known::from(config.has(option));
    Reader {
        is_kernel: true,
        squashfs: has("SQUASHFS"),
        compressors: COMPRESSORS.map(|compressor| {
            // The kernel calls gzip by the name of its library.
            let name = compressor.name().replace("gzip", "zlib");
            has(&format!("SQUASHFS_{}", name.to_uppercase()))
        }),
        filters: FILTERS.map(|(_, name)| has(&format!("XZ_DEC_{}", name.to_uppercase()))),
        xattrs: has("SQUASHFS_XATTR"),
        page_bytes: page_bytes(config),
        dm_verity: has("DM_VERITY"),
        ..Reader::unknown(name, quoted(path))
    }
}

/// Bytes of a page, as far as the configuration says.
fn page_bytes(config: &KernelConfig) -> Option<u32> {
    // Since Linux 6.9 for every architecture.
    if let Some(shift) = config.value("PAGE_SHIFT") {
        return shift
            .parse()
            .ok()
            .and_then(|shift| 1_u32.checked_shl(shift));
    }
    [
        ("X86", 4),
        ("ARM", 4),
        ("ARM64_4K_PAGES", 4),
        ("ARM64_16K_PAGES", 16),
        ("ARM64_64K_PAGES", 64),
        ("PPC_4K_PAGES", 4),
        ("PPC_64K_PAGES", 64),
        ("PAGE_SIZE_4KB", 4),
        ("PAGE_SIZE_16KB", 16),
        ("PAGE_SIZE_64KB", 64),
        ("RISCV", 4),
        ("S390", 4),
    ]
    .into_iter()
    .find(|(option, _)| config.has(option))
    .map(|(_, kib)| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abilities_follow_from_the_configuration() {
        let config = KernelConfig::parse(
            "CONFIG_X86=y\nCONFIG_SQUASHFS=m\nCONFIG_SQUASHFS_ZLIB=y\nCONFIG_SQUASHFS_XZ=y\n\
             # CONFIG_SQUASHFS_ZSTD is not set\nCONFIG_XZ_DEC_X86=y\nCONFIG_XZ_DEC_ARMTHUMB=y\n",
        );
        let reader = of_config("it", &config, Path::new("config"));
        assert_eq!(reader.squashfs, Known::Yes);
        assert_eq!(reader.compressors_that_are(Known::Yes), ["gzip", "xz"]);
        assert_eq!(
            reader.compressors_that_are(Known::No),
            ["lzo", "lz4", "zstd"]
        );
        assert_eq!(reader.filters_that_are(Known::Yes), ["x86", "armthumb"]);
        assert_eq!((reader.xattrs, reader.page_bytes), (Known::No, Some(4096)));
        assert_eq!(reader.source, "`config`");
    }

    #[test]
    fn pages_have_the_size_of_the_configuration() {
        for (config, expected) in [
            ("CONFIG_PAGE_SHIFT=16", Some(65_536)),
            ("CONFIG_PAGE_SHIFT=99", None),
            ("CONFIG_ARM64_16K_PAGES=y", Some(16_384)),
            ("CONFIG_PPC_64K_PAGES=y", Some(65_536)),
            ("CONFIG_SQUASHFS=y", None),
        ] {
            assert_eq!(
                page_bytes(&KernelConfig::parse(config)),
                expected,
                "{config}"
            );
        }
    }
}
