//! How an image is to be compressed, on one scale for all tools.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A compressor of `SquashFS`, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of the compressors")]
pub enum Compressor {
    Gzip,
    Lzo,
    Lz4,
    Xz,
    Zstd,
    None,
}

impl Compressor {
    /// All of them.
    pub const ALL: [Compressor; 6] = [
        Compressor::Gzip,
        Compressor::Lzo,
        Compressor::Lz4,
        Compressor::Xz,
        Compressor::Zstd,
        Compressor::None,
    ];

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Compressor::Gzip => "gzip",
            Compressor::Lzo => "lzo",
            Compressor::Lz4 => "lz4",
            Compressor::Xz => "xz",
            Compressor::Zstd => "zstd",
            Compressor::None => "none",
        }
    }

    /// The levels that it has with any tool; `None` without levels. Of lzo, 0 is LZO1X-1; of lz4, 0
    /// is the fast one and 1 to 12 are LZ4 HC; of gzip, 10 to 12 are those of libdeflate.
    pub fn levels(self) -> Option<RangeInclusive<i32>> {
        match self {
            Compressor::Gzip => Some(1..=12),
            Compressor::Lzo | Compressor::Xz => Some(0..=9),
            Compressor::Lz4 => Some(0..=12),
            Compressor::Zstd => Some(-131_072..=22),
            Compressor::None => None,
        }
    }

    /// What `coldpress build` takes, and mksquashfs as well but for lz4, where it is the fast one.
    fn default_level(self) -> Option<i32> {
        match self {
            Compressor::Gzip => Some(9),
            Compressor::Lzo => Some(8),
            Compressor::Lz4 => Some(HIGH_COMPRESSION),
            Compressor::Xz => Some(6),
            Compressor::Zstd => Some(15),
            Compressor::None => None,
        }
    }
}

impl FromStr for Compressor {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|known| known.name() == name);
        found.ok_or_else(|| "a compressor is gzip, lzo, lz4, xz, zstd or none".to_owned())
    }
}

/// The level of LZ4 HC that mksquashfs and gensquashfs have, as their only one.
pub(super) const HIGH_COMPRESSION: i32 = 12;

/// A level as it is asked for of several compressors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// That which each compressor has by default.
    Default,
    /// LZ4 HC as the tools that know no levels of it have it: level 12.
    HighCompression,
    /// A number; what it means is a matter of the compressor.
    Number(i32),
}

impl Level {
    /// The level of this compressor; `None` if it has none to choose from.
    ///
    /// # Errors
    ///
    /// A clause that says so if it has not this one.
    pub(super) fn of(self, compressor: Compressor) -> Result<Option<i32>, String> {
        let level = match (self, compressor.levels()) {
            (Level::Default, _) => return Ok(compressor.default_level()),
            (Level::HighCompression, _) if compressor == Compressor::Lz4 => Some(HIGH_COMPRESSION),
            (Level::Number(level), Some(levels)) if levels.contains(&level) => Some(level),
            _ => None,
        };
        let missing = || format!("{} has no level {self}", compressor.name());
        level.ok_or_else(missing).map(Some)
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "default" => Ok(Level::Default),
            "hc" => Ok(Level::HighCompression),
            _ => word
                .parse()
                .map(Level::Number)
                .map_err(|_| "a level is a whole number, `default`, or `hc` of lz4".to_owned()),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Level::Default => f.write_str("default"),
            Level::HighCompression => f.write_str("hc"),
            Level::Number(level) => level.fmt(f),
        }
    }
}

/// What the content of an image depends on, beside its source and the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// The compressor of data and metadata.
    pub compressor: Compressor,
    /// Its level, of those of [`Compressor::levels`].
    pub level: Option<i32>,
    /// Bytes of a data block before compression.
    pub block_size_bytes: u32,
}

impl fmt::Display for Setting {
    /// `zstd-15 128K`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.compressor.name())?;
        if let Some(level) = self.level {
            write!(f, "-{level}")?;
        }
        match self.block_size_bytes {
            bytes if bytes % (1 << 20) == 0 => write!(f, " {}M", bytes >> 20),
            bytes => write!(f, " {}K", bytes >> 10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_means_something_to_a_compressor_or_nothing() {
        let cases = [
            ("default", Compressor::Zstd, Ok(Some(15))),
            ("default", Compressor::None, Ok(None)),
            ("hc", Compressor::Lz4, Ok(Some(12))),
            ("hc", Compressor::Zstd, Err("zstd has no level hc")),
            ("-3", Compressor::Zstd, Ok(Some(-3))),
            ("23", Compressor::Zstd, Err("zstd has no level 23")),
            ("12", Compressor::Gzip, Ok(Some(12))),
            ("0", Compressor::Gzip, Err("gzip has no level 0")),
            ("6", Compressor::None, Err("none has no level 6")),
        ];
        for (word, compressor, expected) in cases {
            let level: Level = word.parse().expect("a level");
            let expected = expected.map_err(str::to_owned);
            assert_eq!(level.of(compressor), expected, "{word} of {compressor:?}");
            assert_eq!(level.to_string(), word);
        }
        for word in ["", "high", "1.5", "99999999999"] {
            assert!(word.parse::<Level>().is_err(), "{word}");
        }
    }

    #[test]
    fn each_compressor_has_its_default_level_and_is_found_by_name() {
        for compressor in Compressor::ALL {
            assert_eq!(compressor.name().parse(), Ok(compressor));
            let level = compressor.default_level();
            assert_eq!(level.is_some(), compressor.levels().is_some());
            assert!(
                level.is_none_or(|level| compressor.levels().expect("levels").contains(&level))
            );
        }
        assert!("lzma".parse::<Compressor>().is_err());
    }

    #[test]
    fn settings_are_named_briefly() {
        let setting = |compressor, level, block_size_bytes| Setting {
            compressor,
            level,
            block_size_bytes,
        };
        let cases = [
            (
                setting(Compressor::Zstd, Some(15), 128 << 10),
                "zstd-15 128K",
            ),
            (setting(Compressor::Zstd, Some(-3), 1 << 20), "zstd--3 1M"),
            (setting(Compressor::None, None, 4096), "none 4K"),
        ];
        for (setting, name) in cases {
            assert_eq!(setting.to_string(), name);
        }
    }
}
