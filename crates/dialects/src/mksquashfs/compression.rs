//! The compressor and its own options, which may stand before it is named.

use std::ffi::OsStr;

use anyhow::{anyhow, bail};
use coldpress_codec::{
    Choice, Choices, Dictionary, GzipTuning, Lz4Tuning, Settings, Tuning, XzTuning,
};
use coldpress_format::{BlockSize, Compressor};
use coldpress_report::failure::hint;

use crate::squashfs_tools::Value;

/// Which compressors have an option.
const OPTIONS: [(&str, &[Compressor]); 13] = [
    (
        "-Xcompression-level",
        &[
            Compressor::Gzip,
            Compressor::Lzo,
            Compressor::Lz4,
            Compressor::Zstd,
        ],
    ),
    ("-Xwindow-size", &[Compressor::Gzip]),
    ("-Xstrategy", &[Compressor::Gzip]),
    ("-Xalgorithm", &[Compressor::Lzo]),
    ("-Xhc", &[Compressor::Lz4]),
    ("-Xacceleration", &[Compressor::Lz4]),
    ("-Xbcj", &[Compressor::Xz]),
    ("-Xdict-size", &[Compressor::Xz]),
    ("-Xpreset", &[Compressor::Xz]),
    ("-Xe", &[Compressor::Xz]),
    ("-Xlc", &[Compressor::Xz]),
    ("-Xlp", &[Compressor::Xz]),
    ("-Xpb", &[Compressor::Xz]),
];

/// The compressor that is asked for, and its own options as given.
#[derive(Debug, Default)]
pub(crate) struct Compression {
    compressor: Option<Compressor>,
    given: Vec<(&'static str, String)>,
    /// Those of the image that is appended to, which count instead.
    recorded: Option<Settings>,
}

impl Compression {
    /// `-comp`.
    ///
    /// # Errors
    ///
    /// If there is no such compressor, or another one was asked for before.
    pub(crate) fn choose(&mut self, value: Value<'_>) -> anyhow::Result<()> {
        let compressor = value.text.to_str().and_then(Compressor::from_name);
        let compressor = compressor
            .filter(|compressor| *compressor != Compressor::Lzma)
            .ok_or_else(|| value.wrong("must be gzip, lzo, lz4, xz or zstd"))?;
        if let Some(before) = self.compressor.filter(|before| *before != compressor) {
            bail!("`-comp {before}` and `-comp {compressor}` contradict each other");
        }
        self.compressor = Some(compressor);
        Ok(())
    }

    /// An option of a compressor; the last of a name counts.
    ///
    /// # Errors
    ///
    /// If its value is not UTF-8.
    pub(crate) fn add(&mut self, name: &'static str, value: Value<'_>) -> anyhow::Result<()> {
        let text = value.string()?;
        self.put(name, text);
        Ok(())
    }

    /// An option of a compressor without a value.
    pub(crate) fn add_flag(&mut self, name: &'static str) {
        self.put(name, String::new());
    }

    fn put(&mut self, name: &'static str, text: String) {
        self.given.retain(|(other, _)| *other != name);
        self.given.push((name, text));
    }

    /// Replaces what was asked for by the settings of an image that is appended to.
    pub(crate) fn continue_with(&mut self, settings: Settings) {
        self.recorded = Some(settings);
    }

    /// The compressor.
    pub(crate) fn compressor(&self) -> Compressor {
        let recorded = self.recorded.map(|settings| settings.compressor);
        recorded.or(self.compressor).unwrap_or(Compressor::Gzip)
    }

    /// Whether an option was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    /// What was given with an option.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let found = self.given.iter().find(|(other, _)| *other == name);
        found.map(|(_, text)| text.as_str())
    }

    /// The number that was given with an option.
    ///
    /// # Errors
    ///
    /// If it is no number.
    pub(crate) fn number(&self, name: &'static str) -> anyhow::Result<Option<i32>> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let value = Value {
            option: name,
            text: OsStr::new(text),
        };
        let number = text.parse().map_err(|_| value.wrong("must be a number"))?;
        Ok(Some(number))
    }

    /// The settings of the compressor.
    ///
    /// # Errors
    ///
    /// If an option has a value that the compressor cannot use.
    pub(crate) fn settings(&self, block_size: BlockSize) -> anyhow::Result<Settings> {
        if let Some(recorded) = self.recorded {
            return Ok(recorded);
        }
        let compressor = self.compressor();
        let level = match compressor {
            Compressor::Xz => self.number("-Xpreset")?,
            // Without -Xhc, mksquashfs uses the fast compressor of lz4; with it, its best level.
            Compressor::Lz4 if !self.has("-Xhc") => {
                if self.has("-Xcompression-level") {
                    bail!("`-Xcompression-level` of lz4 needs `-Xhc`");
                }
                Some(0)
            }
            Compressor::Lzo if self.is_fast_lzo()? => Some(0),
            _ => self.number("-Xcompression-level")?,
        };
        self.check_level(level)?;
        let settings = Settings {
            tuning: self.tuning(block_size)?,
            ..Settings::new(compressor, level)?
        };
        settings.check(block_size)?;
        Ok(settings)
    }

    /// Levels that another front of coldpress has and mksquashfs has not.
    fn check_level(&self, level: Option<i32>) -> anyhow::Result<()> {
        let is_given = self.has("-Xcompression-level");
        let (low, high) = match self.compressor() {
            Compressor::Gzip | Compressor::Lzo => (1, 9),
            Compressor::Lz4 => (1, 12),
            _ => return Ok(()),
        };
        match level {
            Some(level) if is_given && !(low..=high).contains(&level) => {
                bail!("`-Xcompression-level {level}`: must be from {low} to {high}")
            }
            _ => Ok(()),
        }
    }

    /// Whether a variant of LZO1X is asked for that takes the first match that it sees.
    fn is_fast_lzo(&self) -> anyhow::Result<bool> {
        match self.text("-Xalgorithm") {
            None | Some("lzo1x_999") => Ok(false),
            Some("lzo1x_1" | "lzo1x_1_11" | "lzo1x_1_12" | "lzo1x_1_15") => {
                if self.has("-Xcompression-level") {
                    bail!("`-Xcompression-level` of lzo needs `-Xalgorithm lzo1x_999`");
                }
                Ok(true)
            }
            Some(other) => bail!(
                "`-Xalgorithm {other}`: must be lzo1x_1, lzo1x_1_11, lzo1x_1_12, lzo1x_1_15 or \
                 lzo1x_999"
            ),
        }
    }

    fn tuning(&self, block_size: BlockSize) -> anyhow::Result<Tuning> {
        Ok(match self.compressor() {
            Compressor::Gzip => Tuning::Gzip(GzipTuning {
                window_bits: self.bits("-Xwindow-size")?.unwrap_or(15),
                strategies: self.choices("-Xstrategy")?,
            }),
            Compressor::Lz4 => match self.number("-Xacceleration")? {
                None => Tuning::Default,
                Some(acceleration) => Tuning::Lz4(Lz4Tuning {
                    acceleration: u32::try_from(acceleration).unwrap_or(0),
                }),
            },
            Compressor::Xz => Tuning::Xz(XzTuning {
                dictionary: self.dictionary(block_size)?,
                filters: self.choices("-Xbcj")?,
                literal_context_bits: self.bits("-Xlc")?,
                literal_position_bits: self.bits("-Xlp")?,
                position_bits: self.bits("-Xpb")?,
                extreme: self.has("-Xe"),
            }),
            _ => Tuning::Default,
        })
    }

    fn bits(&self, name: &'static str) -> anyhow::Result<Option<u8>> {
        let number = self.number(name)?;
        // What does not fit is told by the range of the compressor.
        Ok(number.map(|number| u8::try_from(number).unwrap_or(u8::MAX)))
    }

    /// Names with commas between.
    fn choices<T: Choice>(&self, name: &'static str) -> anyhow::Result<Choices<T>> {
        let names = self.text(name).into_iter().flat_map(|text| text.split(','));
        let choice = |choice: &str| {
            T::from_name(choice).ok_or_else(|| {
                let known: Vec<_> = T::ALL.iter().map(|choice| choice.name()).collect();
                anyhow!("`{name}`: `{choice}` is not one of {}", known.join(", "))
            })
        };
        names.filter(|name| !name.is_empty()).map(choice).collect()
    }

    /// Bytes with K or M, or a percentage of a block, which may have a fraction.
    fn dictionary(&self, block_size: BlockSize) -> anyhow::Result<Dictionary> {
        let name = "-Xdict-size";
        let Some(text) = self.text(name) else {
            return Ok(Dictionary::Block);
        };
        let value = Value {
            option: name,
            text: OsStr::new(text),
        };
        let Some(percent) = text.strip_suffix('%') else {
            let bytes = u32::try_from(value.size_bytes()?).unwrap_or(u32::MAX);
            // A block of 4K has the dictionary of 8K only where none is asked for.
            if bytes > block_size.bytes() {
                return Err(value.wrong("must be at most the block size (`-b`)"));
            }
            return Ok(Dictionary::Bytes(bytes));
        };
        let (whole, fraction) = percent.split_once('.').unwrap_or((percent, ""));
        let digits = format!("{whole}{fraction:0<4}");
        let millionths = digits.parse().ok();
        let millionths = millionths
            .filter(|millionths| fraction.len() <= 4 && (1..=1_000_000).contains(millionths));
        let millionths =
            millionths.ok_or_else(|| value.wrong("must be above 0% and at most 100%"))?;
        Ok(Dictionary::Millionths(millionths))
    }

    /// Checks that the compressor has the options that were given.
    ///
    /// # Errors
    ///
    /// If it does not have one of them.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let compressor = self.compressor();
        let strange = self
            .given
            .iter()
            .find(|(name, _)| !options_of(compressor).any(|other| other == *name));
        let Some((name, _)) = strange else {
            return Ok(());
        };
        let error = anyhow!("compressor {compressor} has no option `{name}`");
        if self.compressor.is_none() {
            return Err(hint(error, "the default is gzip; name another with -comp"));
        }
        Err(error)
    }
}

/// The names of the options that a compressor has.
pub(crate) fn options_of(compressor: Compressor) -> impl Iterator<Item = &'static str> {
    OPTIONS
        .iter()
        .filter(move |(_, compressors)| compressors.contains(&compressor))
        .map(|(name, _)| *name)
}
