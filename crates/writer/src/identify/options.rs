//! The options by which coldpress writes an image like one that is there.

use std::num::NonZeroUsize;

use coldpress_assemble::MetadataLayout;
use coldpress_codec::{Recipe, Settings};
use coldpress_format::Flags;
use coldpress_image::Image;
use coldpress_layout::{Group, Tails};

use super::Identity;
use crate::options::Options;
use crate::uncompressed::Uncompressed;

impl Identity {
    /// The options by which coldpress writes such an image, if it is one of coldpress without a
    /// plan.
    ///
    /// * `is_padded`: whether the file is filled up behind the image.
    /// * `memory_bytes`: of blocks that may be in flight.
    pub fn options(
        &self,
        image: &Image,
        is_padded: bool,
        threads: NonZeroUsize,
        memory_bytes: u64,
    ) -> Options {
        let superblock = image.superblock();
        let flags = superblock.flags;
        let uncompressed = Uncompressed {
            inodes: flags.contains(Flags::RAW_INODES),
            ids: flags.contains(Flags::RAW_IDS),
            data: flags.contains(Flags::RAW_DATA),
            fragments: flags.contains(Flags::RAW_FRAGMENTS),
            xattrs: flags.contains(Flags::RAW_XATTRS),
        };
        let found = self.encoding.and_then(|encoding| match encoding.recipe {
            Recipe::Encoder(settings) => Some(settings),
            _ => None,
        });
        let settings = found.or_else(|| Settings::new(superblock.compressor, None).ok());
        Options {
            compression: settings.filter(|_| uncompressed != Uncompressed::ALL),
            uncompressed,
            block_size: superblock.block_size,
            threads,
            memory_bytes,
            modification_time_s: superblock.modification_time_s,
            tails: if flags.contains(Flags::NO_FRAGMENTS) {
                Tails::None
            } else if flags.contains(Flags::ALL_FRAGMENTS) {
                Tails::All
            } else {
                Tails::Small
            },
            group: Group::None,
            exportable: flags.contains(Flags::EXPORTABLE),
            metadata: MetadataLayout::Dense,
            offset_bytes: 0,
            is_padded,
            deduplicated: flags.contains(Flags::DUPLICATES),
            without_xattrs: flags.contains(Flags::NO_XATTRS),
        }
    }
}
