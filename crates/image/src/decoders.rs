//! The decompressors of an image, shared by the threads that read it.

use std::sync::Mutex;

use coldpress_codec::Decoder;
use coldpress_format::{BlockSize, Compressor};

use crate::error::Error;

/// More threads than this at once each make a decompressor for one block.
const DECODERS_MAX: usize = 64;

/// Decompressors that are made when first needed and then kept.
pub(crate) struct Decoders {
    compressor: Compressor,
    block_size: BlockSize,
    slots: Box<[Mutex<Option<Decoder>>]>,
}

impl Decoders {
    /// The decompressors of one image; makes the first, so that an unknown compressor is told now.
    pub(crate) fn new(compressor: Compressor, block_size: BlockSize) -> Result<Self, Error> {
        let first = Decoder::new(compressor, block_size)?;
        let mut slots: Vec<_> = (1..DECODERS_MAX).map(|_| Mutex::new(None)).collect();
        slots.insert(0, Mutex::new(Some(first)));
        let slots = slots.into();
        Ok(Self {
            compressor,
            block_size,
            slots,
        })
    }

    /// Lends a decompressor that no other thread uses.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut Decoder) -> R) -> Result<R, Error> {
        for slot in &self.slots {
            // Nobody ever waits: a taken slot is passed over.
            let Ok(mut slot) = slot.try_lock() else {
                continue;
            };
            let decoder = match &mut *slot {
                Some(decoder) => decoder,
                empty => empty.insert(Decoder::new(self.compressor, self.block_size)?),
            };
            return Ok(work(decoder));
        }
        Ok(work(&mut Decoder::new(self.compressor, self.block_size)?))
    }
}
