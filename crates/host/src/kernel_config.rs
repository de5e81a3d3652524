//! What the running kernel was built with.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::Error;

/// A kernel configuration has some 300 KB; more than this is not one.
const MAX_CONFIG_BYTES: u64 = 16 << 20;

/// The configuration of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelConfig {
    text: String,
}

impl KernelConfig {
    /// The configuration of the running kernel and the file that has it: `/proc/config.gz`, or
    /// where distributions install it; `None` if there is none that can be read.
    pub fn running() -> Option<(Self, PathBuf)> {
        let release = rustix::system::uname()
            .release()
            .to_string_lossy()
            .into_owned();
        let places = [
            PathBuf::from("/proc/config.gz"),
            format!("/boot/config-{release}").into(),
            format!("/lib/modules/{release}/config").into(),
            format!("/usr/lib/modules/{release}/config").into(),
        ];
        places
            .into_iter()
            .find_map(|path| Some((Self::read(&path).ok()?, path)))
    }

    /// Reads a configuration, compressed with gzip or not.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read or has more than 16 MiB; [`Error::Malformed`] if it
    /// names no option.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = read_text(path).map_err(Error::io("read", path))?;
        let config = Self { text };
        let is_config = config.text.lines().any(|line| line.starts_with("CONFIG_"));
        if is_config {
            return Ok(config);
        }
        Err(Error::Malformed {
            path: path.to_owned(),
            start_byte: 0,
            rule: "a kernel configuration has lines that begin with CONFIG_",
        })
    }

    /// A configuration from its text.
    pub fn parse(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// The value of `CONFIG_NAME`; `None` if it is not set.
    pub fn value(&self, name: &str) -> Option<&str> {
        let lines = self.text.lines();
        let mut values = lines.filter_map(|line| {
            let rest = line.strip_prefix("CONFIG_")?.strip_prefix(name)?;
            rest.strip_prefix('=')
        });
        // The last counts, as in a shell.
        values.next_back().filter(|value| *value != "n")
    }

    /// Whether `CONFIG_NAME` is built in or a module.
    pub fn has(&self, name: &str) -> bool {
        matches!(self.value(name), Some("y" | "m"))
    }

    /// How many threads `SquashFS` unpacks with: `single` (one for each mount), `multi` (up to two
    /// for each processor), `percpu`, `set by mount option`, or `unknown`.
    ///
    /// The choice of `fs/squashfs/Kconfig`; before Linux 6.2 there was no choice by mount.
    pub fn squashfs_decompressor(&self) -> &'static str {
        if self.has("SQUASHFS_CHOICE_DECOMP_BY_MOUNT") {
            return "set by mount option";
        }
        let modes = [
            ("MULTI_PERCPU", "percpu"),
            ("MULTI", "multi"),
            ("SINGLE", "single"),
        ];
        // What a mount without the choice uses is named by COMPILE_ where that is there.
        for prefix in ["SQUASHFS_COMPILE_DECOMP_", "SQUASHFS_DECOMP_"] {
            let set = |mode: &&(&str, _)| self.has(&format!("{prefix}{}", mode.0));
            if let Some((_, mode)) = modes.iter().find(set) {
                return mode;
            }
        }
        "unknown"
    }
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    // Opening a pipe would wait for its writer; /proc/config.gz is a regular file as well.
    if !path.metadata()?.is_file() {
        let rule = "it must be a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, rule));
    }
    let file = File::open(path)?;
    file.take(MAX_CONFIG_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.starts_with(b"\x1f\x8b") {
        let packed = std::mem::take(&mut bytes);
        let plain = MultiGzDecoder::new(packed.as_slice());
        plain.take(MAX_CONFIG_BYTES + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > MAX_CONFIG_BYTES {
        let rule = "it has more than 16 MiB, so it is no kernel configuration";
        return Err(io::Error::new(io::ErrorKind::InvalidData, rule));
    }
    // Values of other options may hold anything.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn the_decompressor_is_told_from_the_configuration() {
        for (config, expected) in [
            (
                "CONFIG_SQUASHFS_DECOMP_SINGLE=y\nCONFIG_SQUASHFS_COMPILE_DECOMP_SINGLE=y",
                "single",
            ),
            (
                "CONFIG_SQUASHFS_DECOMP_SINGLE=y\nCONFIG_SQUASHFS_DECOMP_MULTI=y\n\
                 CONFIG_SQUASHFS_COMPILE_DECOMP_SINGLE=y",
                "single",
            ),
            ("CONFIG_SQUASHFS_DECOMP_MULTI_PERCPU=y\n", "percpu"),
            (
                "# CONFIG_SQUASHFS_DECOMP_SINGLE is not set\nCONFIG_SQUASHFS_DECOMP_MULTI=y",
                "multi",
            ),
            (
                "CONFIG_SQUASHFS_CHOICE_DECOMP_BY_MOUNT=y\nCONFIG_SQUASHFS_COMPILE_DECOMP_MULTI=y",
                "set by mount option",
            ),
            ("CONFIG_SQUASHFS_DECOMP_SINGLE=n", "unknown"),
            ("", "unknown"),
        ] {
            let found = KernelConfig::parse(config).squashfs_decompressor();
            assert_eq!(found, expected, "{config}");
        }
    }

    #[test]
    fn options_have_values_or_are_not_set() {
        let config = KernelConfig::parse(
            "CONFIG_SQUASHFS=m\nCONFIG_SQUASHFS_FRAGMENT_CACHE_SIZE=3\n\
             # CONFIG_SQUASHFS_LZ4 is not set\nCONFIG_SQUASHFS_XZ=n\nCONFIG_TWICE=y\nCONFIG_TWICE=n\n",
        );
        for (name, value) in [
            ("SQUASHFS", Some("m")),
            ("SQUASHFS_FRAGMENT_CACHE_SIZE", Some("3")),
            ("SQUASHFS_FRAGMENT", None),
            ("SQUASHFS_LZ4", None),
            ("SQUASHFS_XZ", None),
            ("TWICE", None),
        ] {
            assert_eq!(config.value(name), value, "{name}");
        }
        assert!(config.has("SQUASHFS") && !config.has("SQUASHFS_FRAGMENT_CACHE_SIZE"));
    }

    #[test]
    fn a_configuration_is_read_packed_or_not_and_nothing_else_is_one() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let text = "# Linux\nCONFIG_SQUASHFS=y\n";
        std::fs::write(at("plain"), text).unwrap();
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        std::fs::write(at("packed.gz"), &packed).unwrap();
        std::fs::write(at("cut.gz"), &packed[..packed.len() / 2]).unwrap();
        std::fs::write(at("text"), "nothing of the kind").unwrap();
        std::fs::write(at("empty"), "").unwrap();
        for name in ["plain", "packed.gz"] {
            assert!(KernelConfig::read(&at(name)).unwrap().has("SQUASHFS"));
        }
        for name in ["cut.gz", "text", "empty", "missing", "."] {
            assert!(KernelConfig::read(&at(name)).is_err(), "{name}");
        }
    }
}
