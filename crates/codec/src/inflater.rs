//! Reading gzip from places in its middle: a decompressor that can be copied while it works.
//!
//! It is that of zlib-rs: 3.8 GB of programs and libraries take it 7.2 s, zlib 14.8 s and igzip 6.4
//! s. libdeflate takes whole buffers only.
#![expect(
    unsafe_code,
    reason = "no safe binding of zlib-rs or zlib copies a decompressor that has begun"
)]

use std::ffi::{c_int, c_uint};
use std::fmt;
use std::mem::{MaybeUninit, size_of};
use std::ptr::NonNull;

use libz_rs_sys::{
    Z_BUF_ERROR, Z_NO_FLUSH, Z_OK, Z_STREAM_END, inflate, inflateCopy, inflateEnd, inflateInit2_,
    inflateReset, z_stream, zlibVersion,
};

/// A window of 32 KiB, and gzip's header and sums.
const GZIP_WINDOW_BITS: c_int = 15 + 16;

/// Decompresses a member of a gzip stream piece by piece.
///
/// # Cost
///
/// 42 KiB each, 32 of which are the window.
pub struct Inflater {
    /// On the heap: the library refuses a stream that has moved.
    stream: Box<MaybeUninit<z_stream>>,
}

/// What one call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inflated {
    /// Bytes of the input that are used up.
    pub read: usize,
    /// Bytes that are in the output.
    pub written: usize,
    /// Whether the member ends here, with the right sums.
    pub has_ended: bool,
}

/// Why a stream cannot be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InflateError {
    /// Its bytes make no sense, or their sum is wrong.
    #[error("the gzip data is damaged")]
    Damaged,
    /// There is no memory for a decompressor.
    #[error("there is not enough memory to decompress")]
    NoMemory,
}

impl Inflater {
    /// One that expects the beginning of a member.
    ///
    /// # Errors
    ///
    /// [`InflateError::NoMemory`].
    pub fn new() -> Result<Self, InflateError> {
        let mut stream = Box::new(MaybeUninit::<z_stream>::zeroed());
        let stream_bytes = c_int::try_from(size_of::<z_stream>()).unwrap_or(c_int::MAX);
        // SAFETY: the stream is zeroed, which asks for the library's own allocation, and stays
        // where it is until `inflateEnd`.
        let opened = unsafe {
            inflateInit2_(
                stream.as_mut_ptr(),
                GZIP_WINDOW_BITS,
                zlibVersion(),
                stream_bytes,
            )
        };
        if opened == Z_OK {
            // A stream without any output is refused as the source of a copy.
            let nowhere = NonNull::dangling().as_ptr();
            // SAFETY: the stream was opened; with a length of 0, the pointer is not followed.
            unsafe { (&raw mut (*stream.as_mut_ptr()).next_out).write(nowhere) };
            Ok(Self { stream })
        } else {
            // Nothing was allocated, so nothing is freed: a box of `MaybeUninit` frees only itself.
            Err(InflateError::NoMemory)
        }
    }

    /// Decompresses as much as there is, and there is room for.
    ///
    /// # Errors
    ///
    /// [`InflateError`].
    pub fn inflate(&mut self, input: &[u8], output: &mut [u8]) -> Result<Inflated, InflateError> {
        let available = |len: usize| c_uint::try_from(len).unwrap_or(c_uint::MAX);
        let (input_bytes, output_bytes) = (available(input.len()), available(output.len()));
        let stream = self.stream.as_mut_ptr();
        // SAFETY: the stream was opened by `new` or `try_clone`. The pointers are valid for the
        // lengths given with them, and the library only reads from the input. It keeps neither
        // behind the call: its window is a copy.
        let (code, read, written) = unsafe {
            (&raw mut (*stream).next_in).write(input.as_ptr().cast_mut());
            (&raw mut (*stream).avail_in).write(input_bytes);
            (&raw mut (*stream).next_out).write(output.as_mut_ptr());
            (&raw mut (*stream).avail_out).write(output_bytes);
            let code = inflate(stream, Z_NO_FLUSH);
            let input_left = (&raw const (*stream).avail_in).read();
            let output_left = (&raw const (*stream).avail_out).read();
            (code, input_bytes - input_left, output_bytes - output_left)
        };
        match code {
            Z_OK | Z_STREAM_END | Z_BUF_ERROR => Ok(Inflated {
                read: read as usize,
                written: written as usize,
                has_ended: code == Z_STREAM_END,
            }),
            libz_rs_sys::Z_MEM_ERROR => Err(InflateError::NoMemory),
            _ => Err(InflateError::Damaged),
        }
    }

    /// Expects the beginning of the next member.
    pub fn restart(&mut self) {
        // SAFETY: the stream was opened by `new` or `try_clone`. It fails for none that was.
        unsafe {
            inflateReset(self.stream.as_mut_ptr());
        }
    }

    /// Another that goes on from here.
    ///
    /// # Errors
    ///
    /// [`InflateError::NoMemory`].
    pub fn try_clone(&self) -> Result<Self, InflateError> {
        let mut stream = Box::new(MaybeUninit::<z_stream>::zeroed());
        // SAFETY: the source was opened by `new` or `try_clone`; it is only read from. The copy
        // points to no input or output that is used: `inflate` sets both.
        let copied = unsafe { inflateCopy(stream.as_mut_ptr(), self.stream.as_ptr().cast_mut()) };
        if copied == Z_OK {
            Ok(Self { stream })
        } else {
            Err(InflateError::NoMemory)
        }
    }
}

impl Drop for Inflater {
    fn drop(&mut self) {
        // SAFETY: the stream was opened by `new` or `try_clone`, and is closed once.
        unsafe {
            inflateEnd(self.stream.as_mut_ptr());
        }
    }
}

// SAFETY: the stream owns what it points to, but for input and output, which are set anew by each
// call; no thread is named in it.
unsafe impl Send for Inflater {}
impl fmt::Debug for Inflater {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Inflater").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_copy_goes_on_where_it_was_made() {
        let bytes: Vec<u8> = (0_u32..200_000).flat_map(u32::to_le_bytes).collect();
        let packed = packed(&bytes);
        let mut inflater = Inflater::new().unwrap().try_clone().unwrap();
        let mut output = vec![0; bytes.len()];
        let half = bytes.len() / 2;
        let first = inflater.inflate(&packed, &mut output[..half]).unwrap();
        assert_eq!((first.written, first.has_ended), (half, false));
        let copy = inflater.try_clone().unwrap();
        drop(inflater);
        for _ in 0..2 {
            let mut copy = copy.try_clone().unwrap();
            let rest = &packed[first.read..];
            let second = copy.inflate(rest, &mut output[half..]).unwrap();
            assert_eq!((second.read, second.has_ended), (rest.len(), true));
            assert_eq!(output, bytes);
            output[half..].fill(0);
        }
    }

    #[test]
    fn members_follow_each_other_and_damage_is_seen() {
        let mut packed = packed(b"one");
        let mut inflater = Inflater::new().unwrap();
        let mut output = [0; 3];
        for _ in 0..2 {
            let step = inflater.inflate(&packed, &mut output).unwrap();
            assert!(step.has_ended);
            assert_eq!(&output, b"one");
            inflater.restart();
        }
        assert_eq!(inflater.inflate(&[], &mut output).unwrap().read, 0);
        let sum = packed.len() - 8;
        packed[sum] ^= 1;
        let damaged = inflater.inflate(&packed, &mut output);
        assert_eq!(damaged, Err(InflateError::Damaged));
    }
}
