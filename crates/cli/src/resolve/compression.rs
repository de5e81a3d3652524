//! How an image is compressed: flags to settings.

use anyhow::{anyhow, bail};
use clap::ValueEnum as _;
use coldpress_codec::{GzipTuning, Lz4Tuning, Settings, Tuning, XzTuning};
use coldpress_format::{BlockSize, Compressor, CompressorOptions};
use coldpress_layout::{Group, Tails};
use coldpress_report::failure::hint;
use coldpress_writer::Uncompressed;

use crate::flags::image::{CompressorName, GroupName, ImageArgs, PartName, TailsName, TuningArgs};

/// The compressor that is asked for; `None` for none.
pub(super) fn compression(
    args: &ImageArgs,
    block_size: BlockSize,
) -> anyhow::Result<Option<Settings>> {
    let tuning = tuning(&args.tuning)?;
    let name = args.compressor.unwrap_or(CompressorName::Zstd);
    let Some(compressor) = compressor(name) else {
        if let Some(level) = args.level {
            bail!("`--compressor none` has no levels, but --level {level} is given");
        }
        if let Some(tuned) = tuning.compressor() {
            bail!("`--compressor none` cannot have the options of {tuned}");
        }
        return Ok(None);
    };
    // Only the fast compressor of lz4 has an acceleration.
    let is_fast = matches!(tuning, Tuning::Lz4(_)) && compressor == Compressor::Lz4;
    let level = args.level.or(is_fast.then_some(0));
    let settings = Settings {
        tuning,
        ..Settings::new(compressor, level)?
    };
    settings.check(block_size)?;
    Ok(Some(settings))
}

/// The compressor of this name; `None` for none.
pub(crate) fn compressor(name: CompressorName) -> Option<Compressor> {
    match name {
        CompressorName::Gzip => Some(Compressor::Gzip),
        CompressorName::Lzo => Some(Compressor::Lzo),
        CompressorName::Lz4 => Some(Compressor::Lz4),
        CompressorName::Xz => Some(Compressor::Xz),
        CompressorName::Zstd => Some(Compressor::Zstd),
        CompressorName::None => None,
    }
}

/// The name of a compressor; `None` of one that cannot be written.
pub(crate) fn compressor_name(wanted: Compressor) -> Option<CompressorName> {
    let names = CompressorName::value_variants().iter();
    names
        .copied()
        .find(|name| compressor(*name) == Some(wanted))
}

/// The options of single compressors, if they are of one.
fn tuning(args: &TuningArgs) -> anyhow::Result<Tuning> {
    let gzip = GzipTuning {
        window_bits: args
            .gzip_window
            .unwrap_or(GzipTuning::default().window_bits),
        strategies: args.gzip_strategies.unwrap_or_default(),
    };
    let xz = XzTuning {
        dictionary: args.xz_dictionary.unwrap_or_default(),
        filters: args.xz_filters.unwrap_or_default(),
        literal_context_bits: args.xz_lc,
        literal_position_bits: args.xz_lp,
        position_bits: args.xz_pb,
        extreme: args.xz_extreme,
    };
    let gzip = (gzip != GzipTuning::default()).then_some(Tuning::Gzip(gzip));
    let xz = (xz != XzTuning::default()).then_some(Tuning::Xz(xz));
    let lz4 = args
        .lz4_acceleration
        .map(|acceleration| Tuning::Lz4(Lz4Tuning { acceleration }));
    let mut given = [gzip, xz, lz4].into_iter().flatten();
    let first = given.next().unwrap_or_default();
    match (
        first.compressor(),
        given.next().and_then(|other| other.compressor()),
    ) {
        (Some(one), Some(other)) => {
            bail!("options of {one} and of {other} were given, but an image has one compressor")
        }
        _ => Ok(first),
    }
}

/// The parts that are not compressed.
pub(super) fn uncompressed(parts: &[PartName]) -> Uncompressed {
    let has = |part| parts.contains(&part);
    Uncompressed {
        inodes: has(PartName::Inodes),
        ids: has(PartName::Ids),
        data: has(PartName::Data),
        fragments: has(PartName::Fragments),
        xattrs: has(PartName::Xattrs),
    }
}

/// The tail ends that a name means.
pub(crate) fn tails(name: TailsName) -> Tails {
    match name {
        TailsName::None => Tails::None,
        TailsName::Small => Tails::Small,
        TailsName::All => Tails::All,
    }
}

pub(crate) fn group(name: GroupName) -> Group {
    match name {
        GroupName::None => Group::None,
        GroupName::Extension => Group::Extension,
        GroupName::Similar => Group::Similar,
    }
}

/// A block size as typed.
///
/// # Errors
///
/// If it is not a power of two from 4K to 1M.
pub(crate) fn block_size(bytes: u64) -> anyhow::Result<BlockSize> {
    let size = u32::try_from(bytes)
        .ok()
        .and_then(|bytes| BlockSize::new(bytes).ok());
    size.ok_or_else(|| {
        let error = anyhow!("block size is {bytes} bytes, must be a power of two from 4K to 1M");
        hint(error, "for example `128K`")
    })
}

/// The settings that an image records, as far as images of mksquashfs's defaults do; `None` of a
/// compressor that cannot be written.
pub(super) fn recorded(
    compressor: Compressor,
    options: Option<CompressorOptions>,
) -> Option<Settings> {
    let level = match options {
        Some(CompressorOptions::Gzip { level, .. } | CompressorOptions::Zstd { level }) => {
            i32::try_from(level).ok()
        }
        Some(CompressorOptions::Lz4 { high_compression }) if !high_compression => Some(0),
        _ => None,
    };
    Settings::new(compressor, level).ok()
}
