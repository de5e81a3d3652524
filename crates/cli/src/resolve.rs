//! Flags and environment to settings. Everything that a default depends on is asked here.

use std::env;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context as _, anyhow, bail};
use coldpress_build::{Metadata, Options, ScanOptions};
use coldpress_codec::Settings;
use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::{Tails, Tree};

use crate::args::{CompressorName, ImageArgs, TailsName};
use crate::failure::hint;
use crate::{memory, text};

/// How an image is to be written, checked.
#[derive(Debug)]
pub(crate) struct ImageSettings {
    /// `None` stores everything as it is.
    pub(crate) compression: Option<Settings>,
    pub(crate) block_size: BlockSize,
    pub(crate) tails: Tails,
    pub(crate) xattrs: bool,
    pub(crate) exportable: bool,
    pub(crate) threads: NonZeroUsize,
    pub(crate) memory_bytes: u64,
    /// `SOURCE_DATE_EPOCH`, seconds since 1970.
    pub(crate) epoch_s: Option<u32>,
}

impl ImageSettings {
    /// Checks the flags and fills in what was left out.
    ///
    /// # Errors
    ///
    /// If a value is outside its range; the sentence names the range.
    pub(crate) fn resolve(args: &ImageArgs) -> anyhow::Result<Self> {
        let tails = match args.tails {
            TailsName::None => Tails::None,
            TailsName::Small => Tails::Small,
            TailsName::All => Tails::All,
        };
        Ok(Self {
            compression: compression(args.compressor, args.level)?,
            block_size: block_size(args.block_size)?,
            tails,
            xattrs: !args.no_xattrs,
            exportable: !args.no_export,
            threads: threads(args.threads),
            memory_bytes: memory_bytes(args.memory),
            epoch_s: epoch_s()?,
        })
    }

    /// The settings of an image that is only recorded from, whose flags do not matter.
    ///
    /// # Errors
    ///
    /// If `SOURCE_DATE_EPOCH` is not a time.
    pub(crate) fn for_recording() -> anyhow::Result<Self> {
        Ok(Self {
            compression: None,
            block_size: BlockSize::DEFAULT,
            tails: Tails::Small,
            xattrs: true,
            exportable: false,
            threads: threads(None),
            memory_bytes: memory::default_bytes(),
            epoch_s: epoch_s()?,
        })
    }

    /// What of the sources' metadata the image takes over.
    pub(crate) fn scan_options(&self) -> ScanOptions {
        ScanOptions {
            latest_time_s: self.epoch_s,
            xattrs: self.xattrs,
        }
    }

    /// The options for writing an image of `tree`.
    ///
    /// The modification time of the image is `SOURCE_DATE_EPOCH`, or else the newest time in the
    /// tree: the clock would make two builds of the same tree differ.
    pub(crate) fn build_options(&self, tree: &Tree, metadata: Metadata) -> Options {
        let newest_s = tree
            .nodes
            .iter()
            .map(|node| node.mtime_s)
            .max()
            .unwrap_or(0);
        Options {
            compression: self.compression,
            block_size: self.block_size,
            threads: self.threads,
            memory_bytes: self.memory_bytes,
            modification_time_s: self.epoch_s.unwrap_or(newest_s),
            tails: self.tails,
            exportable: self.exportable,
            metadata,
        }
    }
}

/// As many threads as asked for, or as many processors as the affinity and the control group of
/// this process allow.
pub(crate) fn threads(asked: Option<NonZeroUsize>) -> NonZeroUsize {
    asked
        .or_else(|| thread::available_parallelism().ok())
        .unwrap_or(NonZeroUsize::MIN)
}

/// As many bytes for blocks in flight as asked for, or what [`memory::default_bytes`] says.
pub(crate) fn memory_bytes(asked: Option<u64>) -> u64 {
    asked.unwrap_or_else(memory::default_bytes)
}

/// Checks that the source of a recording is there and a directory.
///
/// # Errors
///
/// If it is not.
pub(crate) fn check_source_directory(source: &Path) -> anyhow::Result<()> {
    let metadata = source
        .metadata()
        .with_context(|| format!("cannot read {}", text::quoted(source)))?;
    if metadata.is_dir() {
        return Ok(());
    }
    let error = anyhow!("{} is not a directory", text::quoted(source));
    Err(hint(
        error,
        "give the directory that holds the application, as `coldpress extract` makes it",
    ))
}

/// Checks that an image does not lie in what it is made of, where it would replace a part of it or
/// hold the image before it.
///
/// # Errors
///
/// If it does.
pub(crate) fn check_image_outside(image: &Path, sources: &[PathBuf]) -> anyhow::Result<()> {
    let parent = image
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    // A directory that is not there is told when the image is created.
    let places = [image, parent.unwrap_or(Path::new("."))].map(Path::canonicalize);
    for source in sources {
        let Ok(inside) = source.canonicalize() else {
            continue;
        };
        if places
            .iter()
            .flatten()
            .any(|place| place.starts_with(&inside))
        {
            let (image, source) = (text::quoted(image), text::quoted(source));
            let error = anyhow!("the image {image} would lie inside its source {source}");
            return Err(hint(
                error,
                "write it elsewhere, and move it there if it must be",
            ));
        }
    }
    Ok(())
}

fn compression(name: CompressorName, level: Option<i32>) -> anyhow::Result<Option<Settings>> {
    let compressor = match name {
        CompressorName::Gzip => Compressor::Gzip,
        CompressorName::Lzo => Compressor::Lzo,
        CompressorName::Lz4 => Compressor::Lz4,
        CompressorName::Xz => Compressor::Xz,
        CompressorName::Zstd => Compressor::Zstd,
        CompressorName::None => {
            if let Some(level) = level {
                bail!("`--compressor none` has no levels, but level {level} was asked for");
            }
            return Ok(None);
        }
    };
    Ok(Some(Settings::new(compressor, level)?))
}

fn block_size(bytes: u64) -> anyhow::Result<BlockSize> {
    let size = u32::try_from(bytes)
        .ok()
        .and_then(|bytes| BlockSize::new(bytes).ok());
    size.ok_or_else(|| {
        let error = anyhow!("block size is {bytes} bytes, must be a power of two from 4K to 1M");
        hint(error, "for example `--block-size 128K`")
    })
}

/// Reads `SOURCE_DATE_EPOCH` (<https://reproducible-builds.org/specs/source-date-epoch/>).
fn epoch_s() -> anyhow::Result<Option<u32>> {
    let Some(value) = env::var_os("SOURCE_DATE_EPOCH") else {
        return Ok(None);
    };
    let seconds = value.to_str().and_then(|text| text.parse().ok());
    let seconds = seconds.ok_or_else(|| {
        let rule = "must be seconds since 1970, at most 4294967295 (the year 2106)";
        anyhow!(
            "SOURCE_DATE_EPOCH is {}, {rule}",
            text::quoted(Path::new(&value))
        )
    })?;
    Ok(Some(seconds))
}
