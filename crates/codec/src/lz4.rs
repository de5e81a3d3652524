//! lz4: a bare LZ4 block, without frame, length or checksum.
//!
//! The bindings cover neither LZ4 HC with a state of the caller nor any of this safely, so the C
//! library is called here.
#![expect(unsafe_code, reason = "LZ4 HC with reused state has no safe binding")]

use std::ffi::{c_char, c_int, c_void};

use crate::error::Defect;
use crate::tuning::Lz4Tuning;

unsafe extern "C" {
    /// Bytes of working memory that LZ4 HC needs.
    safe fn LZ4_sizeofStateHC() -> c_int;

    /// Compresses with LZ4 HC; clears `state` first. Returns 0 if `destination` is too small.
    fn LZ4_compress_HC_extStateHC(
        state: *mut c_void,
        source: *const c_char,
        destination: *mut c_char,
        source_bytes: c_int,
        destination_bytes: c_int,
        level: c_int,
    ) -> c_int;
}

pub(crate) struct Encoder {
    level: c_int,
    acceleration: c_int,
    /// Working memory of LZ4 HC, which wants it aligned to 8; empty at level 0.
    state: Vec<u64>,
}

impl Encoder {
    pub(crate) fn new(level: i32, tuning: Lz4Tuning) -> Self {
        let state_bytes = if level == 0 {
            0
        } else {
            LZ4_sizeofStateHC().unsigned_abs()
        };
        Self {
            level,
            // At most 65537; the library takes more for that.
            acceleration: c_int::try_from(tuning.acceleration).unwrap_or(c_int::MAX),
            state: vec![0; state_bytes.div_ceil(8) as usize],
        }
    }

    /// The size of the block put in `output`, or `None` if it does not fit.
    pub(crate) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Option<usize> {
        let input_bytes = c_int::try_from(input.len()).ok()?;
        let output_bytes = c_int::try_from(output.len()).ok()?;
        let (source, destination) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
        let size_bytes = if self.level == 0 {
            // SAFETY: both pointers are valid for the lengths given with them.
            unsafe {
                lz4_sys::LZ4_compress_fast(
                    source,
                    destination,
                    input_bytes,
                    output_bytes,
                    self.acceleration,
                )
            }
        } else {
            // SAFETY: both pointers are valid for the lengths given with them, and `state` is
            // aligned to 8 and as large as the library asked for in `new`.
            unsafe {
                LZ4_compress_HC_extStateHC(
                    self.state.as_mut_ptr().cast(),
                    source,
                    destination,
                    input_bytes,
                    output_bytes,
                    self.level,
                )
            }
        };
        // Want of room is the only error, and gives 0.
        usize::try_from(size_bytes)
            .ok()
            .filter(|&size_bytes| size_bytes > 0)
    }
}

pub(crate) fn decompress(input: &[u8], output: &mut [u8]) -> Result<usize, Defect> {
    const OVERLARGE: Defect = Defect::Damaged("it is larger than any LZ4 block");
    let input_bytes = c_int::try_from(input.len()).map_err(|_| OVERLARGE)?;
    // The library counts in `int`; of a larger buffer it gets the beginning.
    let output_bytes = c_int::try_from(output.len()).unwrap_or(c_int::MAX);
    // SAFETY: both pointers are valid for the lengths given with them; the function checks every
    // length of the block against them.
    let written = unsafe {
        lz4_sys::LZ4_decompress_safe(
            input.as_ptr().cast(),
            output.as_mut_ptr().cast(),
            input_bytes,
            output_bytes,
        )
    };
    // Negative for every defect; the number is a position in the input that tells a user nothing.
    usize::try_from(written)
        .map_err(|_| Defect::Damaged("a length or distance in it leads outside the block"))
}
