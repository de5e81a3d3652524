//! How an image is written.

use std::num::NonZeroUsize;

use coldpress_assemble::MetadataLayout;
use coldpress_codec::{Encoder, Settings, Workers};
use coldpress_format::{BlockSize, Compressor, CompressorOptions, Flags, SUPERBLOCK_SIZE};
use coldpress_layout::{BlockEncoding, Group, Order, Tails};

use crate::error::Error;
use crate::uncompressed::Uncompressed;
use crate::write::options_block;

/// How an image is written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches that do not depend on each other"
)]
pub struct Options {
    /// The compressor; `None` stores everything as it is.
    pub compression: Option<Settings>,
    /// What is stored as it is although there is a compressor.
    pub uncompressed: Uncompressed,
    /// Bytes of a data block.
    pub block_size: BlockSize,
    /// Threads that compress.
    pub threads: NonZeroUsize,
    /// Bytes of blocks that may be in flight.
    pub memory_bytes: u64,
    /// Creation time of the image, seconds since 1970.
    pub modification_time_s: u32,
    /// Which tail ends are in fragment blocks, for the superblock's flags: the order decides.
    pub tails: Tails,
    /// By what those that no plan names share them, for [`Sampling`](crate::Sampling): the order
    /// decides.
    pub group: Group,
    /// Whether to write an export table, by which NFS finds inodes.
    pub exportable: bool,
    /// How metadata lies.
    pub metadata: MetadataLayout,
    /// Byte of the output at which the image begins; what lies before is left to the caller.
    pub offset_bytes: u64,
    /// Whether the image is filled up to a multiple of 4 KiB, as loop devices need.
    pub is_padded: bool,
    /// Whether duplicates were looked for, for the superblock's flags.
    pub deduplicated: bool,
    /// Whether xattrs of the source were left out, for the superblock's flags.
    pub without_xattrs: bool,
}

impl Options {
    /// The compressor that the superblock names. An image without compression has to name one as
    /// well; every kernel knows gzip.
    pub(crate) fn compressor(&self) -> Compressor {
        self.compression
            .as_ref()
            .map_or(Compressor::Gzip, |settings| settings.compressor)
    }

    /// What stands behind the superblock; nothing where all options have their defaults.
    pub(crate) fn recorded(&self) -> Option<CompressorOptions> {
        self.compression
            .as_ref()
            .and_then(|settings| settings.options(self.block_size))
    }

    /// Image byte at which the data area begins.
    pub fn data_start(&self) -> u64 {
        SUPERBLOCK_SIZE as u64 + options_block(self).len() as u64
    }

    /// What the superblock says of the image.
    ///
    /// * `has_xattrs`: whether it has some all the same: definitions add them, and unsquashfs
    ///   leaves them out where the flag says that there are none.
    pub(crate) fn flags(&self, has_xattrs: bool) -> Flags {
        let tails = match self.tails {
            Tails::None => Flags::NO_FRAGMENTS,
            Tails::Small => Flags::default(),
            Tails::All => Flags::ALL_FRAGMENTS,
        };
        let when = |condition: bool, flags| if condition { flags } else { Flags::default() };
        when(self.deduplicated, Flags::DUPLICATES)
            .with(tails)
            .with(when(self.exportable, Flags::EXPORTABLE))
            .with(when(self.without_xattrs && !has_xattrs, Flags::NO_XATTRS))
            .with(self.stored().flags())
            .with(when(self.recorded().is_some(), Flags::COMPRESSOR_OPTIONS))
    }

    /// Whether the compressor has the levels that a plan asks for.
    pub(crate) fn check(&self, order: &Order) -> Result<(), Error> {
        let Some(settings) = &self.compression else {
            return Ok(());
        };
        for (_, encoding) in order.encoding.values().flatten() {
            if let BlockEncoding::Level(level) = encoding {
                settings.at_level(*level)?;
            }
        }
        Ok(())
    }

    pub(crate) fn workers(&self) -> Workers {
        // Waiting for their turn are blocks as they are stored.
        let window = self.memory_bytes / u64::from(self.block_size.bytes());
        let window = usize::try_from(window).unwrap_or(usize::MAX);
        let window = window.clamp(self.threads.get() + 1, 64 * self.threads.get());
        let window = NonZeroUsize::new(window).unwrap_or(self.threads);
        Workers {
            threads: self.threads,
            window,
        }
    }

    pub(crate) fn encoder(&self) -> Result<Option<Encoder>, Error> {
        Ok(match &self.compression {
            Some(settings) => Some(Encoder::new(settings, self.block_size)?),
            None => None,
        })
    }
}
