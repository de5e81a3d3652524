//! lzo: an LZO1X stream up to its end marker.
//!
//! The encoder has no levels. Its blocks are about 6 % larger than those of LZO1X-999 level 8,
//! which mksquashfs uses by default; the library of that is under the GPL.

use lzokay::compress::{Dict, compress_no_alloc};

use crate::error::Defect;

pub(crate) struct Encoder(Box<Dict>);

impl Encoder {
    pub(crate) fn new(_level: i32) -> Self {
        Self(Dict::new())
    }

    /// The size of the stream put in `output`, or `None` if it does not fit.
    pub(crate) fn compress(
        &mut self,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<Option<usize>, &'static str> {
        match compress_no_alloc(input, output, &mut self.0) {
            Ok(size_bytes) => Ok(Some(size_bytes)),
            Err(lzokay::Error::OutputOverrun) => Ok(None),
            Err(error) => Err(text(error)),
        }
    }
}

pub(crate) fn decompress(input: &[u8], output: &mut [u8]) -> Result<usize, Defect> {
    lzokay::decompress::decompress(input, output).map_err(|error| match error {
        lzokay::Error::OutputOverrun => Defect::TooLong,
        error => Defect::Damaged(text(error)),
    })
}

fn text(error: lzokay::Error) -> &'static str {
    match error {
        lzokay::Error::LookbehindOverrun => "a match starts before the block",
        lzokay::Error::OutputOverrun => "the output is full",
        lzokay::Error::InputOverrun => "it is cut short",
        lzokay::Error::InputNotConsumed => "bytes follow its end marker",
        lzokay::Error::Error => "its end marker is wrong",
    }
}
