//! How the blocks of an image are packed.

use coldpress_codec::{Encoder, Settings};
use coldpress_format::{BlockSize, Compressor, MetadataHeader, SUPERBLOCK_SIZE};

/// The compressors that can be written.
pub const WRITABLE: [Compressor; 5] = [
    Compressor::Gzip,
    Compressor::Lzo,
    Compressor::Xz,
    Compressor::Lz4,
    Compressor::Zstd,
];

/// Compressor and block size, and whether anything is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// What the superblock names.
    pub compressor: Compressor,
    /// Whether blocks that shrink are compressed.
    pub compressed: bool,
    /// Bytes of a data block.
    pub block_size: BlockSize,
}

impl Packing {
    /// Everything stored, under the name of gzip.
    pub const STORED: Self = Self::gzip(false);

    /// As gzip packs.
    pub const fn gzip(compressed: bool) -> Self {
        Self {
            compressor: Compressor::Gzip,
            compressed,
            block_size: BlockSize::MIN,
        }
    }

    /// Everything compressed.
    pub const fn compressed(compressor: Compressor) -> Self {
        Self {
            compressor,
            compressed: true,
            block_size: BlockSize::MIN,
        }
    }

    fn settings(self) -> Settings {
        Settings::new(self.compressor, None).expect("the compressor can be written")
    }

    /// What the block of compressor options holds, if the image must have one.
    pub fn options(self) -> Option<Vec<u8>> {
        let options = self.settings().options(self.block_size)?;
        Some(options.write())
    }

    /// Image byte of the data area.
    pub fn data_start(self) -> u64 {
        let header = usize::try_from(MetadataHeader::SIZE).expect("a header has 2 bytes");
        let options = self.options().map_or(0, |options| header + options.len());
        (SUPERBLOCK_SIZE + options) as u64
    }

    /// Something that compresses, if anything is to be.
    pub(crate) fn encoder(self) -> Option<Encoder> {
        let encoder = || Encoder::new(&self.settings(), self.block_size);
        self.compressed
            .then(|| encoder().expect("the settings are the default ones"))
    }
}

/// The block as it lies on disk, and whether it is compressed.
pub(crate) fn pack(encoder: &mut Option<Encoder>, content: &[u8]) -> (Vec<u8>, bool) {
    let mut output = Vec::new();
    let compress = |encoder: &mut Encoder| encoder.compress(content, &mut output);
    match encoder.as_mut().map(compress) {
        Some(Ok(true)) => (output, true),
        _ => (content.to_vec(), false),
    }
}
