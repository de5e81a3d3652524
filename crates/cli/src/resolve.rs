//! Flags and environment to settings. Everything that a default depends on is asked here.

mod compression;
mod places;
pub(crate) mod source;

pub(crate) use coldpress_session::places::{check_outputs, is_same};
pub(crate) use compression::{block_size, compressor, compressor_name, group, tails};
pub(crate) use places::{check_source, check_tree};

use std::env;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use coldpress_codec::Settings;
use coldpress_format::BlockSize;
use coldpress_host::{memory, threads};
use coldpress_image::{ImageOffset, ReadLimits};
use coldpress_layout::{Group, Tails, Tree};
use coldpress_report::text;
use coldpress_tune::Candidate;
use coldpress_writer::{
    Input, MetadataLayout, Options, Overrides, Selection, SourceOptions, Uncompressed,
};

use crate::flags::image::ImageArgs;
use crate::flags::place::PlaceArgs;
use crate::flags::reading::ReadingArgs;
use crate::flags::source::SourceArgs;
use crate::image_file::open_image_at;
use crate::pseudo_files::PseudoFiles;

/// How an image is to be written, checked.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one choice of the user"
)]
pub(crate) struct ImageSettings {
    /// `None` stores everything as it is.
    pub(crate) compression: Option<Settings>,
    pub(crate) uncompressed: Uncompressed,
    pub(crate) block_size: BlockSize,
    pub(crate) tails: Tails,
    /// Which tail ends share blocks where no plan says.
    pub(crate) group: Group,
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
    pub(crate) pseudo_files: PseudoFiles,
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
            compression: compression::compression(args, block_size)?,
            uncompressed: compression::uncompressed(&args.store),
            block_size,
            tails: tails(args.tails),
            group: group(args.grouping.group),
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
            pseudo_files: PseudoFiles::default(),
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
                path,
                offset_bytes,
                is_copied,
            },
        ] = inputs
        else {
            return Ok(());
        };
        if is_asked {
            return Ok(());
        }
        let place = PlaceArgs {
            offset: (*offset_bytes > 0).then_some(ImageOffset::Bytes(*offset_bytes)),
        };
        let image = open_image_at(path, &place)?;
        let superblock = image.superblock();
        // What cannot be written, as lzma, is compressed anew.
        let Some(settings) = compression::recorded(superblock.compressor, image.options()) else {
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
            group: Group::None,
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
            pseudo_files: PseudoFiles::default(),
        })
    }

    /// Takes over what makes a candidate, but for its order.
    pub(crate) fn take_over(&mut self, candidate: &Candidate) {
        self.compression = candidate.compression;
        self.uncompressed = candidate.uncompressed;
        self.block_size = candidate.block_size;
        self.tails = candidate.tails;
        self.group = candidate.group;
    }

    /// Takes over what a site asks for. Threads and memory are those of the command line, if it
    /// says something of them.
    pub(crate) fn take_options(&mut self, args: &ImageArgs, options: &Options) {
        self.compression = options.compression;
        self.uncompressed = options.uncompressed;
        self.block_size = options.block_size;
        self.tails = options.tails;
        self.exportable = options.exportable;
        self.deduplicated = options.deduplicated;
        self.is_padded = options.is_padded;
        self.xattrs = !options.without_xattrs;
        if args.threads.is_none() {
            self.threads = options.threads;
        }
        if args.memory.is_none() {
            self.memory_bytes = options.memory_bytes;
        }
    }

    /// The settings of images that are chosen among, of which what is chosen does not matter.
    ///
    /// # Errors
    ///
    /// If `SOURCE_DATE_EPOCH` is not a time, or a flag about the source means nothing.
    pub(crate) fn for_tuning(
        asked_threads: Option<NonZeroUsize>,
        source_args: &SourceArgs,
        sources: &[PathBuf],
    ) -> anyhow::Result<Self> {
        let recording = Self::for_recording()?;
        Ok(Self {
            exportable: true,
            threads: threads(asked_threads),
            selection: source::selection(source_args, sources)?,
            overrides: source::overrides(&source_args.metadata, recording.epoch_s)?,
            ..recording
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
            pack_file: self.pseudo_files.pack_file.clone(),
            pseudo: self.pseudo_files.pseudo.clone(),
            ..SourceOptions::default()
        }
    }

    /// The options for writing an image of `tree`.
    ///
    /// The modification time of the image is what was asked for, `SOURCE_DATE_EPOCH`, or else the
    /// newest time in the tree: the clock would make two builds of the same tree differ.
    pub(crate) fn build_options(&self, tree: &Tree, metadata: MetadataLayout) -> Options {
        Options {
            compression: self.compression,
            uncompressed: self.uncompressed,
            block_size: self.block_size,
            threads: self.threads,
            memory_bytes: self.memory_bytes,
            modification_time_s: self.overrides.times.image_s(tree, self.epoch_s),
            tails: self.tails,
            group: self.group,
            exportable: self.exportable,
            metadata,
            offset_bytes: self.offset_bytes,
            is_padded: self.is_padded,
            deduplicated: self.deduplicated,
            without_xattrs: !self.xattrs,
        }
    }
}

/// What reading content on several threads may take.
pub(crate) fn read_limits(args: &ReadingArgs) -> ReadLimits {
    ReadLimits {
        threads: threads(args.threads),
        memory_bytes: memory_bytes(args.memory),
    }
}

/// As many bytes for blocks in flight as asked for, or what [`memory::default_bytes`] says.
pub(crate) fn memory_bytes(asked: Option<u64>) -> u64 {
    asked.unwrap_or_else(memory::default_bytes)
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
