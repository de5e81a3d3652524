//! zlib itself, whose exact bytes tell what other tools compressed with.
//!
//! Images are not written with it: libdeflate is smaller and faster, and zlib-rs has what that
//! lacks, but neither makes the same bytes from the same block.
#![expect(
    unsafe_code,
    reason = "the safe bindings of zlib cannot stand beside zlib-rs in one program"
)]

use std::ffi::{c_int, c_uint};
use std::mem::{MaybeUninit, size_of};

use libz_sys::{
    Z_DEFLATED, Z_FINISH, Z_OK, Z_STREAM_END, deflate, deflateEnd, deflateInit2_, z_stream,
    zlibVersion,
};

use crate::tuning::Strategy;

/// Memory for the symbols of a block: the default, which every SquashFS tool keeps.
const MEMORY_LEVEL: c_int = 8;

/// Compresses a block; gives the size of the stream put in `output`, or `None` if it does not fit.
///
/// # Cost
///
/// Allocates some 270 KiB each time.
pub(crate) fn compress(
    input: &[u8],
    output: &mut [u8],
    level: i32,
    window_bits: u8,
    strategy: Strategy,
) -> Result<Option<usize>, &'static str> {
    const REFUSED: &str = "zlib refuses these settings, or there is not enough memory";
    let input_bytes = c_uint::try_from(input.len()).map_err(|_| REFUSED)?;
    let output_bytes = c_uint::try_from(output.len()).map_err(|_| REFUSED)?;
    let stream_bytes = c_int::try_from(size_of::<z_stream>()).map_err(|_| REFUSED)?;
    // All zeros: no bytes yet, and the library's own allocation.
    let mut stream = MaybeUninit::<z_stream>::zeroed();
    let stream = stream.as_mut_ptr();
    // SAFETY: `stream` points to a zeroed stream, which is what the library asks for, and stays
    // where it is until `deflateEnd`. The pointers given to it are valid for the lengths given with
    // them, and the library only reads from the input. No reference to the stream is made, as a
    // zeroed function pointer is none in Rust.
    unsafe {
        let opened = deflateInit2_(
            stream,
            level,
            Z_DEFLATED,
            window_bits.into(),
            MEMORY_LEVEL,
            number(strategy),
            zlibVersion(),
            stream_bytes,
        );
        if opened != Z_OK {
            return Err(REFUSED);
        }
        (&raw mut (*stream).next_in).write(input.as_ptr().cast_mut());
        (&raw mut (*stream).avail_in).write(input_bytes);
        (&raw mut (*stream).next_out).write(output.as_mut_ptr());
        (&raw mut (*stream).avail_out).write(output_bytes);
        let ended = deflate(stream, Z_FINISH);
        let left = (&raw const (*stream).avail_out).read();
        deflateEnd(stream);
        let written = usize::try_from(output_bytes - left).ok();
        Ok(written.filter(|_| ended == Z_STREAM_END))
    }
}

/// The number by which zlib knows a strategy.
fn number(strategy: Strategy) -> c_int {
    match strategy {
        Strategy::Default => libz_sys::Z_DEFAULT_STRATEGY,
        Strategy::Filtered => libz_sys::Z_FILTERED,
        Strategy::HuffmanOnly => libz_sys::Z_HUFFMAN_ONLY,
        Strategy::RunLength => libz_sys::Z_RLE,
        Strategy::Fixed => libz_sys::Z_FIXED,
    }
}
