//! zstd: one frame that states its content size.
//!
//! The kernel allocates a window of the larger of block size and 8 KiB at mount time and refuses
//! frames that need more. Compressing in one call gives a frame with its content size, for which
//! zstd never chooses a window beyond the next power of two (docs/format.md, "Compressor options").

use zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd_safe::{
    CCtx, DCtx, DParameter, ErrorCode, InBuffer, OutBuffer, ResetDirective, get_error_name,
};

use crate::error::Defect;

const NO_MEMORY: &str = "there is not enough memory";

/// The code by which zstd says that the output is full.
const OUTPUT_IS_FULL: ErrorCode =
    (ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize).wrapping_neg();

pub(crate) struct Encoder {
    level: i32,
    context: CCtx<'static>,
}

impl Encoder {
    pub(crate) fn new(level: i32) -> Result<Self, &'static str> {
        Ok(Self {
            level,
            context: CCtx::try_create().ok_or(NO_MEMORY)?,
        })
    }

    /// The size of the frame put in `output`, or `None` if it does not fit.
    pub(crate) fn compress(
        &mut self,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<Option<usize>, &'static str> {
        match self.context.compress(output, input, self.level) {
            Ok(size_bytes) => Ok(Some(size_bytes)),
            Err(OUTPUT_IS_FULL) => Ok(None),
            Err(code) => Err(get_error_name(code)),
        }
    }
}

pub(crate) struct Decoder(DCtx<'static>);

impl Decoder {
    pub(crate) fn new(window_bytes: u32) -> Result<Self, &'static str> {
        let mut context = DCtx::try_create().ok_or(NO_MEMORY)?;
        context
            .set_parameter(DParameter::WindowLogMax(window_bytes.ilog2()))
            .map_err(get_error_name)?;
        Ok(Self(context))
    }

    pub(crate) fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Defect> {
        let damaged = |code| Defect::Damaged(get_error_name(code));
        self.0.reset(ResetDirective::SessionOnly).map_err(damaged)?;
        let mut source = InBuffer::around(input);
        let mut destination = OutBuffer::around(output);
        // A frame that states its content size and fits is decompressed in place. Any other goes
        // through a window, which the limit above bounds, and ends when the output is full. A
        // frame with bytes behind it, which the one-shot call refuses, is taken either way.
        match self.0.decompress_stream(&mut destination, &mut source) {
            Ok(0) => Ok(destination.pos()),
            Ok(_) if destination.pos() == destination.capacity() => Err(Defect::TooLong),
            Ok(_) => Err(Defect::Damaged("it is cut short")),
            Err(code) => Err(damaged(code)),
        }
    }
}
