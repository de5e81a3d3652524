//! Platforms: which of the images of an index is the one for a machine.

use std::env::consts::ARCH;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::document::empty_is_none;
use crate::error::Error;

/// An operating system and a processor, by Go's names (`linux/arm64/v8`).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Platform {
    /// `linux`.
    #[serde(default)]
    pub os: String,
    /// `amd64`, `arm64`, `arm`, `riscv64`.
    #[serde(default)]
    pub architecture: String,
    /// `v7` of `arm`, `v3` of `amd64`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "empty_is_none"
    )]
    pub variant: Option<String>,
}

impl Platform {
    /// That of this machine.
    pub fn host() -> Self {
        let (architecture, variant) = match ARCH {
            "x86_64" => ("amd64", None),
            "x86" => ("386", None),
            "aarch64" => ("arm64", None),
            "arm" => ("arm", Some("v7".to_owned())),
            "powerpc64" if cfg!(target_endian = "little") => ("ppc64le", None),
            "powerpc64" => ("ppc64", None),
            "loongarch64" => ("loong64", None),
            other => (other, None),
        };
        Self {
            os: "linux".to_owned(),
            architecture: architecture.to_owned(),
            variant,
        }
    }

    /// Whether nothing that runs is meant: attestations are listed so.
    pub fn is_unknown(&self) -> bool {
        self.os == "unknown" || self.architecture == "unknown"
    }

    /// How well this serves a machine of the wanted platform: `None` not at all, else the more the
    /// better.
    pub fn fitness(&self, wanted: &Self) -> Option<u32> {
        let is_same = self.os == wanted.os && self.architecture == wanted.architecture;
        if !is_same {
            return None;
        }
        match (self.version(), wanted.version()) {
            (Some(found), Some(wanted)) => (found <= wanted).then_some(found + 1),
            // Variants without numbers are the same or not.
            _ => (self.variant == wanted.variant).then_some(1),
        }
    }

    /// The number of the variant, with what a missing one means.
    fn version(&self) -> Option<u32> {
        match &self.variant {
            Some(variant) => variant
                .strip_prefix('v')?
                .parse::<u16>()
                .ok()
                .map(u32::from),
            None => Some(match self.architecture.as_str() {
                "arm64" => 8,
                "arm" => 7,
                "amd64" => 1,
                _ => 0,
            }),
        }
    }
}

impl FromStr for Platform {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parts: Vec<&str> = text.split('/').collect();
        let is_word = |part: &&str| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|it| it.is_ascii_alphanumeric() || it == b'_')
        };
        let (os, architecture, variant) = match parts[..] {
            [architecture] => ("linux", architecture, None),
            [os, architecture] => (os, architecture, None),
            [os, architecture, variant] => (os, architecture, Some(variant)),
            _ => ("", "", None),
        };
        if ![os, architecture].iter().chain(&variant).all(is_word) {
            return Err(Error::Reference {
                text: text.to_owned(),
                rule: "a platform is like `linux/amd64` or `linux/arm/v7`",
            });
        }
        // As the kernel and compilers call them.
        let architecture = match architecture {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        Ok(Self {
            os: os.to_owned(),
            architecture: architecture.to_owned(),
            variant: variant.map(str::to_owned),
        })
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.os, self.architecture)?;
        match &self.variant {
            Some(variant) => write!(formatter, "/{variant}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform(text: &str) -> Platform {
        text.parse().unwrap()
    }

    #[test]
    fn a_machine_runs_its_own_variant_and_older_ones() {
        for (found, wanted, fitness) in [
            ("linux/amd64", "linux/amd64", Some(2)),
            ("linux/amd64/v2", "linux/amd64", None),
            ("linux/amd64/v2", "linux/amd64/v3", Some(3)),
            ("linux/arm64", "linux/arm64/v8", Some(9)),
            ("linux/arm64/v8", "arm64", Some(9)),
            ("linux/arm/v6", "linux/arm/v7", Some(7)),
            ("linux/arm/v7", "linux/arm", Some(8)),
            ("linux/arm/v7", "linux/arm/v6", None),
            ("linux/arm64", "linux/arm", None),
            ("windows/amd64", "linux/amd64", None),
            ("linux/s390x", "s390x", Some(1)),
        ] {
            assert_eq!(
                platform(found).fitness(&platform(wanted)),
                fitness,
                "{found} {wanted}"
            );
        }
        assert_eq!(platform("x86_64"), platform("linux/amd64"));
        assert!(platform("unknown/unknown").is_unknown());
        assert!(Platform::host().fitness(&Platform::host()).is_some());
    }

    #[test]
    fn a_platform_has_up_to_three_words() {
        for text in ["", "linux/", "/amd64", "a/b/c/d", "linux/am d64"] {
            assert!(text.parse::<Platform>().is_err(), "{text}");
        }
        assert_eq!(platform("linux/arm/v7").to_string(), "linux/arm/v7");
    }
}
