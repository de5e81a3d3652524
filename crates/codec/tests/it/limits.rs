//! The limits of the kernel's decompressors, read from the streams themselves.

use coldpress_codec::{Encoder, Tuning};
use coldpress_format::{BlockSize, Compressor};

use crate::samples::{every_level, every_tuning, text};

/// Calls `check` with every stream of interest: its bytes, the block's length, and the window that
/// the kernel allocates.
fn each_stream(compressor: Compressor, check: impl Fn(&[u8], usize, u64)) {
    for settings in every_level(compressor) {
        for block_bytes in [4096, 128 << 10, 1 << 20] {
            let block_size = BlockSize::new(block_bytes).unwrap();
            let mut encoder = Encoder::new(&settings, block_size).unwrap();
            let window_bytes = block_bytes.max(8192);
            for len in [1000, 5000, window_bytes as usize] {
                let mut stream = Vec::new();
                assert!(encoder.compress(&text(len, 30), &mut stream).unwrap());
                check(&stream, len, window_bytes.into());
            }
        }
    }
}

#[test]
fn gzip_streams_have_a_zlib_header_with_a_window_of_at_most_32_kib() {
    each_stream(Compressor::Gzip, |stream, _, _| {
        let [method_and_window, flags] = [stream[0], stream[1]];
        assert_eq!(method_and_window & 0xF, 8, "deflate");
        assert!(method_and_window >> 4 <= 7, "window of 2^(8 + n)");
        assert_eq!(flags & 0x20, 0, "no preset dictionary");
        assert!((u32::from(method_and_window) * 256 + u32::from(flags)).is_multiple_of(31));
    });
}

#[test]
fn xz_dictionaries_hold_the_block_and_fit_in_the_kernel_s() {
    each_stream(Compressor::Xz, |stream, len, window_bytes| {
        // Stream header: magic, flags. Block header: size, flags, filter LZMA2, its properties.
        assert_eq!(stream[..6], *b"\xFD7zXZ\0");
        assert_eq!(stream[6..8], [0, 1], "check is CRC32");
        assert_eq!(stream[13] & 3, 0, "one filter");
        assert_eq!(
            stream[14..16],
            [0x21, 1],
            "LZMA2 with one byte of properties"
        );
        let bits = u32::from(stream[16]);
        let dictionary_bytes = u64::from(2 | (bits & 1)) << (bits / 2 + 11);
        assert!(
            dictionary_bytes >= (len as u64).max(8192),
            "{dictionary_bytes}"
        );
        assert!(dictionary_bytes <= window_bytes, "{dictionary_bytes}");
    });
}

#[test]
fn xz_dictionaries_are_no_larger_than_recorded() {
    for settings in every_tuning() {
        let Tuning::Xz(tuning) = settings.tuning else {
            continue;
        };
        let block_size = BlockSize::DEFAULT;
        let recorded_bytes = u64::from(tuning.dictionary.bytes(block_size).unwrap());
        let mut encoder = Encoder::new(&settings, block_size).unwrap();
        for len in [5000, 8192, 60_000, 128 << 10] {
            let mut stream = Vec::new();
            assert!(encoder.compress(&text(len, 31), &mut stream).unwrap());
            // Behind a branch filter (its number, no properties) stand those of LZMA2.
            let lzma2 = 14 + 2 * usize::from(stream[13] & 3);
            assert_eq!(stream[lzma2..lzma2 + 2], [0x21, 1], "{settings:?}");
            let bits = u32::from(stream[lzma2 + 2]);
            let dictionary_bytes = u64::from(2 | (bits & 1)) << (bits / 2 + 11);
            assert!(dictionary_bytes <= recorded_bytes, "{settings:?}");
            assert!(dictionary_bytes >= (len as u64).min(recorded_bytes));
        }
    }
}

#[test]
fn gzip_windows_are_no_larger_than_asked_for() {
    for settings in every_tuning() {
        let Tuning::Gzip(tuning) = settings.tuning else {
            continue;
        };
        let mut encoder = Encoder::new(&settings, BlockSize::DEFAULT).unwrap();
        let mut stream = Vec::new();
        if encoder.compress(&text(100_000, 32), &mut stream).unwrap() {
            // zlib takes 9 for 8.
            assert_eq!(
                8 + (stream[0] >> 4),
                tuning.window_bits.max(9),
                "{settings:?}"
            );
        }
    }
}

#[test]
fn zstd_frames_state_their_size_and_their_window_fits_in_the_kernel_s() {
    each_stream(Compressor::Zstd, |stream, len, window_bytes| {
        let content_bytes = zstd_safe::get_frame_content_size(stream).unwrap();
        assert_eq!(content_bytes, Some(len as u64));
        assert_eq!(
            zstd_safe::find_frame_compressed_size(stream),
            Ok(stream.len()),
            "one frame"
        );
        let descriptor = stream[4];
        assert_eq!(descriptor & 3, 0, "no dictionary");
        let is_single_segment = descriptor & 0x20 != 0;
        let frame_window_bytes = if is_single_segment {
            len as u64
        } else {
            let base = 1_u64 << (10 + (stream[5] >> 3));
            base + base / 8 * u64::from(stream[5] & 7)
        };
        assert!(
            frame_window_bytes <= window_bytes,
            "{frame_window_bytes} of {window_bytes}"
        );
    });
}

#[test]
fn lzo_streams_do_not_begin_as_the_kernel_s_own_variant() {
    each_stream(Compressor::Lzo, |stream, _, _| {
        // 17 announces LZO-RLE to the kernel (Documentation/staging/lzo.rst).
        assert_ne!(stream[0], 17);
        assert_eq!(stream[stream.len() - 3..], [17, 0, 0], "end marker");
    });
}
