//! Flags and environment to settings. Everything that a default depends on is asked here.

mod source;

use std::env;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context as _, anyhow, bail};
use coldpress_build::{
    Input, Metadata, Options, Overrides, Selection, SourceOptions, Uncompressed,
};
use coldpress_codec::{GzipTuning, Lz4Tuning, Settings, Tuning, XzTuning};
use coldpress_format::{BlockSize, Compressor, CompressorOptions};
use coldpress_layout::{Tails, Tree};

use crate::args::{CompressorName, ImageArgs, PartName, SourceArgs, TailsName, TuningArgs};
use crate::described::Described;
use crate::failure::hint;
use crate::{memory, steps, text, work_dir};

/// How an image is to be written, checked.
#[derive(Debug)]
pub(crate) struct ImageSettings {
    /// `None` stores everything as it is.
    pub(crate) compression: Option<Settings>,
    pub(crate) uncompressed: Uncompressed,
    pub(crate) block_size: BlockSize,
    pub(crate) tails: Tails,
    pub(crate) xattrs: bool,
    pub(crate) exportable: bool,
    /// Whether files with the same content are stored once.
    pub(crate) deduplicated: bool,
    /// Byte of the file at which the image begins.
    pub(crate) offset_bytes: u64,
    pub(crate) is_padded: bool,
    pub(crate) threads: NonZeroUsize,
    pub(crate) memory_bytes: u64,
    /// `SOURCE_DATE_EPOCH`, seconds since 1970.
    pub(crate) epoch_s: Option<u32>,
    /// What of the sources goes into the image.
    pub(crate) selection: Selection,
    /// What replaces the metadata of the sources.
    pub(crate) overrides: Overrides,
    /// Files that are described, not found.
    pub(crate) described: Described,
}

impl ImageSettings {
    /// Checks the flags and fills in what was left out.
    ///
    /// # Errors
    ///
    /// If a value is outside its range; the sentence names the range.
    pub(crate) fn resolve(
        args: &ImageArgs,
        source_args: &SourceArgs,
        sources: &[PathBuf],
    ) -> anyhow::Result<Self> {
        let epoch_s = epoch_s()?;
        let block_size = match args.block_size {
            Some(bytes) => block_size(bytes)?,
            None => BlockSize::DEFAULT,
        };
        Ok(Self {
            compression: compression(args, block_size)?,
            uncompressed: uncompressed(&args.store),
            block_size,
            tails: tails(args.tails),
            xattrs: !args.no_xattrs,
            exportable: !args.no_export,
            deduplicated: !args.no_duplicates,
            offset_bytes: 0,
            is_padded: true,
            threads: threads(args.threads),
            memory_bytes: memory_bytes(args.memory),
            epoch_s,
            selection: source::selection(source_args, sources)?,
            overrides: source::overrides(&source_args.metadata, epoch_s)?,
            described: Described::default(),
        })
    }

    /// Takes over the settings of the only input if that is an image and `args` say nothing of
    /// them; its blocks are then copied.
    ///
    /// # Errors
    ///
    /// If the image cannot be read.
    pub(crate) fn adopt(&mut self, args: &ImageArgs, inputs: &mut [Input]) -> anyhow::Result<()> {
        let is_asked =
            args.compressor.is_some() || args.level.is_some() || args.block_size.is_some();
        let [
            Input::Image {
                path, is_copied, ..
            },
        ] = inputs
        else {
            return Ok(());
        };
        if is_asked {
            return Ok(());
        }
        let image = steps::open_image(path)?;
        let superblock = image.superblock();
        let level = match image.options() {
            Some(CompressorOptions::Gzip { level, .. } | CompressorOptions::Zstd { level }) => {
                i32::try_from(level).ok()
            }
            Some(CompressorOptions::Lz4 { high_compression }) if !high_compression => Some(0),
            _ => None,
        };
        // What cannot be written, as lzma, is compressed anew.
        let Ok(settings) = Settings::new(superblock.compressor, level) else {
            return Ok(());
        };
        *is_copied = settings.options(superblock.block_size) == image.options();
        self.compression = Some(settings);
        self.block_size = superblock.block_size;
        Ok(())
    }

    /// The settings of an image that is only recorded from, whose flags do not matter.
    ///
    /// # Errors
    ///
    /// If `SOURCE_DATE_EPOCH` is not a time.
    pub(crate) fn for_recording() -> anyhow::Result<Self> {
        Ok(Self {
            compression: None,
            uncompressed: Uncompressed::default(),
            block_size: BlockSize::DEFAULT,
            tails: Tails::Small,
            xattrs: true,
            exportable: false,
            deduplicated: true,
            offset_bytes: 0,
            is_padded: true,
            threads: threads(None),
            memory_bytes: memory::default_bytes(),
            epoch_s: epoch_s()?,
            selection: Selection::default(),
            overrides: Overrides::default(),
            described: Described::default(),
        })
    }

    /// What of the sources' metadata the image takes over.
    pub(crate) fn source_options(&self) -> SourceOptions {
        SourceOptions {
            latest_time_s: self.epoch_s,
            xattrs: self.xattrs,
            threads: self.threads,
            selection: self.selection.clone(),
            overrides: self.overrides.clone(),
            pack_file: self.described.pack_file.clone(),
            pseudo: self.described.pseudo.clone(),
            ..SourceOptions::default()
        }
    }

    /// The options for writing an image of `tree`.
    ///
    /// The modification time of the image is what was asked for, `SOURCE_DATE_EPOCH`, or else the
    /// newest time in the tree: the clock would make two builds of the same tree differ.
    pub(crate) fn build_options(&self, tree: &Tree, metadata: Metadata) -> Options {
        Options {
            compression: self.compression.clone(),
            uncompressed: self.uncompressed,
            block_size: self.block_size,
            threads: self.threads,
            memory_bytes: self.memory_bytes,
            modification_time_s: self.overrides.times.image_s(tree, self.epoch_s),
            tails: self.tails,
            exportable: self.exportable,
            metadata,
            offset_bytes: self.offset_bytes,
            is_padded: self.is_padded,
            deduplicated: self.deduplicated,
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

/// Checks that the source of a recording is there and a directory, and that a program can live in
/// it.
///
/// * `chroot`: whether it is to be the root directory of the program.
///
/// # Errors
///
/// If it is not.
pub(crate) fn check_source(source: &Path, chroot: bool) -> anyhow::Result<()> {
    let metadata = source
        .metadata()
        .with_context(|| format!("cannot read {}", text::quoted(source)))?;
    if !metadata.is_dir() {
        let error = anyhow!("{} is not a directory", text::quoted(source));
        return Err(hint(
            error,
            "give the directory that holds the application, as `coldpress extract` makes it",
        ));
    }
    // Told here too, because the image that is mounted takes long to build.
    let is_missing = |name: &&&str| {
        let found = source.join(name).symlink_metadata();
        !found.is_ok_and(|found| found.is_dir())
    };
    let missing = ["proc", "dev", "tmp"].iter().find(is_missing);
    match missing.filter(|_| chroot) {
        None => Ok(()),
        Some(missing) => {
            let source = text::quoted(source);
            let error = anyhow!("{source} has no directory `{missing}`, which --chroot needs");
            Err(hint(
                error,
                "add an empty one to the source, or run the command without --chroot",
            ))
        }
    }
}

/// Checks the places of files that are to be written: none lies in a source, where it would replace
/// a part of it or change what the image is compared with, and no two are the same.
///
/// # Errors
///
/// If they do.
pub(crate) fn check_outputs(outputs: &[&Path], sources: &[PathBuf]) -> anyhow::Result<()> {
    for (index, output) in outputs.iter().enumerate() {
        let parent = canonical_parent(output);
        let places = [output.canonicalize().ok(), parent];
        for source in sources {
            let Ok(inside) = source.canonicalize() else {
                continue;
            };
            if places
                .iter()
                .flatten()
                .any(|place| place.starts_with(&inside))
            {
                let (output, source) = (text::quoted(output), text::quoted(source));
                let error = anyhow!("{output} would lie inside the source {source}");
                return Err(hint(
                    error,
                    "write it elsewhere, and move it there if it must be",
                ));
            }
        }
        if outputs[..index].iter().any(|other| is_same(other, output)) {
            let output = text::quoted(output);
            bail!("two things would be written to {output}; name another file for one of them");
        }
    }
    Ok(())
}

/// Whether two paths lead to the same file, which need not be there.
pub(crate) fn is_same(left: &Path, right: &Path) -> bool {
    let place = |path: &Path| {
        let missing = || Some(canonical_parent(path)?.join(path.file_name()?));
        path.canonicalize().ok().or_else(missing)
    };
    place(left).is_some_and(|left| place(right) == Some(left))
}

/// The directory of a path; `None` if it is not there, which is told when the file is created.
fn canonical_parent(path: &Path) -> Option<PathBuf> {
    work_dir::parent(path).canonicalize().ok()
}

fn compression(args: &ImageArgs, block_size: BlockSize) -> anyhow::Result<Option<Settings>> {
    let tuning = tuning(&args.tuning)?;
    let compressor = match args.compressor.unwrap_or(CompressorName::Zstd) {
        CompressorName::Gzip => Compressor::Gzip,
        CompressorName::Lzo => Compressor::Lzo,
        CompressorName::Lz4 => Compressor::Lz4,
        CompressorName::Xz => Compressor::Xz,
        CompressorName::Zstd => Compressor::Zstd,
        CompressorName::None => {
            if let Some(level) = args.level {
                bail!("`--compressor none` has no levels, but level {level} was asked for");
            }
            if let Some(tuned) = tuning.compressor() {
                bail!("`--compressor none` was given the options of {tuned}");
            }
            return Ok(None);
        }
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

fn uncompressed(parts: &[PartName]) -> Uncompressed {
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
        hint(error, "for example `--block-size 128K`")
    })
}

/// Reads `SOURCE_DATE_EPOCH` (<https://reproducible-builds.org/specs/source-date-epoch/>), seconds
/// since 1970.
///
/// # Errors
///
/// If it is set and no such number.
pub(crate) fn epoch_s() -> anyhow::Result<Option<u32>> {
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn outputs_lie_outside_of_sources_and_apart() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        fs::create_dir_all(at("source/below")).unwrap();
        fs::create_dir(at("other")).unwrap();
        symlink(at("source"), at("link")).unwrap();
        symlink(at("source/file"), at("other/into")).unwrap();
        fs::write(at("source/file"), "").unwrap();
        symlink(at("other/a"), at("other/alias")).unwrap();
        fs::write(at("other/a"), "").unwrap();
        for (outputs, legal) in [
            (&["other/a", "other/b"][..], true),
            (&["other/missing/a"], true),
            (&["source/a"], false),
            (&["source/below/a"], false),
            (&["link/a"], false),
            (&["other/into"], false),
            (&["source"], false),
            (&["other/b", "other/../other/b"], false),
            (&["other/a", "other/alias"], false),
        ] {
            let outputs: Vec<_> = outputs.iter().map(|path| at(path)).collect();
            let outputs: Vec<_> = outputs.iter().map(PathBuf::as_path).collect();
            let checked = check_outputs(&outputs, &[at("source")]);
            assert_eq!(checked.is_ok(), legal, "{outputs:?}: {checked:?}");
        }
    }
}
