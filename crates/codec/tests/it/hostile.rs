//! Streams that nobody's encoder wrote: an error or a length, never a panic, never a byte outside
//! the output.

use coldpress_codec::{Decoder, Error};
use coldpress_format::{BlockSize, Compressor};
use proptest::prelude::*;

use crate::samples::{WRITABLE, block_size_for, compressed, random, text};

const GUARD: u8 = 0xC5;
const GUARD_BYTES: usize = 64;

/// Decompresses into `room_bytes` bytes with a guard on both sides.
fn decompress(decoder: &mut Decoder, stream: &[u8], room_bytes: usize) -> Result<Vec<u8>, Error> {
    let mut buffer = vec![GUARD; room_bytes + 2 * GUARD_BYTES];
    let room = GUARD_BYTES..GUARD_BYTES + room_bytes;
    let result = decoder.decompress(stream, &mut buffer[room.clone()]);
    for guard in [&buffer[..room.start], &buffer[room.end..]] {
        assert!(
            guard.iter().all(|&byte| byte == GUARD),
            "written outside the output"
        );
    }
    result.map(|len| buffer[room][..len].to_vec())
}

fn decoder(compressor: Compressor) -> Decoder {
    Decoder::new(compressor, BlockSize::DEFAULT).unwrap()
}

/// A block with literals, matches near and far, and long runs.
fn block() -> Vec<u8> {
    [
        text(1500, 20),
        random(300, 21),
        vec![7; 700],
        text(1500, 20),
        random(96, 22),
    ]
    .concat()
}

#[test]
fn every_flipped_bit_gives_an_error_or_a_length() {
    let block = block();
    for compressor in WRITABLE {
        let mut decoder = decoder(compressor);
        let stream = compressed(compressor, &block);
        let mut damaged = stream.clone();
        for bit in 0..stream.len() * 8 {
            damaged[bit / 8] ^= 1 << (bit % 8);
            let result = decompress(&mut decoder, &damaged, block.len());
            damaged[bit / 8] ^= 1 << (bit % 8);
            // Only these two carry a checksum.
            if matches!(compressor, Compressor::Gzip | Compressor::Xz)
                && let Ok(output) = result
            {
                assert!(output == block, "{compressor}: bit {bit} goes unnoticed");
            }
        }
        let whole = decompress(&mut decoder, &stream, block.len());
        assert_eq!(
            whole.as_deref(),
            Ok(&block[..]),
            "{compressor} after the errors"
        );
    }
}

#[test]
fn every_truncation_is_noticed() {
    let block = block();
    for compressor in WRITABLE {
        let mut decoder = decoder(compressor);
        let stream = compressed(compressor, &block);
        for len in 0..stream.len() {
            match decompress(&mut decoder, &stream[..len], block.len()) {
                Err(error) => {
                    let prefix = format!("{compressor} stream of {len} bytes is damaged: ");
                    assert!(error.to_string().starts_with(&prefix), "{error}");
                }
                // An LZ4 block ends where its bytes end; the length gives it away.
                Ok(output) => {
                    assert!(
                        compressor == Compressor::Lz4 && output.len() < block.len(),
                        "{len}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_stream_larger_than_the_output_is_an_error() {
    let block = block();
    for compressor in WRITABLE {
        let mut decoder = decoder(compressor);
        let stream = compressed(compressor, &block);
        for limit_bytes in [0, 1, 100, block.len() - 1] {
            let error = decompress(&mut decoder, &stream, limit_bytes).unwrap_err();
            let input_bytes = stream.len();
            let expected = Error::TooLong {
                compressor,
                input_bytes,
                limit_bytes,
            };
            let tells_reason = compressor != Compressor::Lz4;
            assert!(error == expected || !tells_reason, "{error}");
        }
        let roomy = decompress(&mut decoder, &stream, block.len() + 1000);
        assert_eq!(roomy.as_deref(), Ok(&block[..]), "{compressor}");
    }
}

#[test]
fn bytes_behind_the_stream_are_treated_as_in_the_kernel() {
    let block = block();
    for compressor in WRITABLE {
        let mut stream = compressed(compressor, &block);
        stream.extend_from_slice(b"and something else");
        let result = decompress(&mut decoder(compressor), &stream, block.len());
        match compressor {
            Compressor::Gzip | Compressor::Xz | Compressor::Zstd => {
                assert_eq!(result.as_deref(), Ok(&block[..]), "{compressor}");
            }
            _ => assert!(matches!(result, Err(Error::Damaged { .. })), "{compressor}"),
        }
    }
}

#[test]
fn zstd_frames_that_need_a_larger_window_than_a_block_are_refused() {
    use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

    let block = text(8192, 23);
    // As a streaming compressor writes: no content size, and the window of its level.
    let frame = |window_log| {
        let mut context = CCtx::create();
        context
            .set_parameter(CParameter::WindowLog(window_log))
            .unwrap();
        context
            .set_parameter(CParameter::ContentSizeFlag(false))
            .unwrap();
        let mut bytes = Vec::with_capacity(16384);
        let mut output = OutBuffer::around(&mut bytes);
        context
            .compress_stream(&mut output, &mut InBuffer::around(&block))
            .unwrap();
        assert_eq!(context.end_stream(&mut output), Ok(0));
        bytes
    };
    let mut decoder = decoder(Compressor::Zstd);
    for window_log in 10..=17 {
        let output = decompress(&mut decoder, &frame(window_log), block.len());
        assert_eq!(
            output.as_deref(),
            Ok(&block[..]),
            "window of 2^{window_log} bytes"
        );
    }
    for window_log in [18, 20, 27] {
        let frame = frame(window_log);
        assert_eq!(
            decompress(&mut decoder, &frame, block.len())
                .unwrap_err()
                .to_string(),
            format!(
                "zstd stream of {} bytes is damaged: Frame requires too much memory for decoding",
                frame.len()
            )
        );
    }
}

#[test]
fn zstd_frames_that_claim_an_enormous_content_are_refused() {
    // Magic, descriptor "single segment, content size in 8 bytes", that size, an empty last block.
    let frame = |content_bytes: u64| {
        [
            &[0x28, 0xB5, 0x2F, 0xFD, 0xE0],
            &content_bytes.to_le_bytes()[..],
            &[1, 0, 0],
        ]
        .concat()
    };
    let mut decoder = decoder(Compressor::Zstd);
    assert_eq!(decompress(&mut decoder, &frame(0), 100), Ok(vec![]));
    for content_bytes in [1, 100, 1 << 20, 1 << 40, u64::MAX - 2] {
        assert!(
            decompress(&mut decoder, &frame(content_bytes), 100).is_err(),
            "{content_bytes}"
        );
    }
}

#[test]
fn xz_streams_with_a_dictionary_larger_than_a_block_are_refused() {
    use liblzma::stream::{Action, Check, Filters, LzmaOptions, Stream};

    let block = text(8192, 24);
    let stream = |dictionary_bytes| {
        let mut options = LzmaOptions::new_preset(6).unwrap();
        options.dict_size(dictionary_bytes);
        let mut filters = Filters::new();
        filters.lzma2(&options);
        let mut bytes = Vec::with_capacity(16384);
        let mut stream = Stream::new_stream_encoder(&filters, Check::Crc32).unwrap();
        stream
            .process_vec(&block, &mut bytes, Action::Finish)
            .unwrap();
        bytes
    };
    for block_size in [BlockSize::DEFAULT, BlockSize::MAX] {
        let mut decoder = Decoder::new(Compressor::Xz, block_size).unwrap();
        let output = decompress(&mut decoder, &stream(block_size.bytes()), block.len());
        assert_eq!(output.as_deref(), Ok(&block[..]));
        for dictionary_bytes in [4 << 20, 64 << 20, 1 << 30] {
            let error = decompress(&mut decoder, &stream(dictionary_bytes), block.len());
            let error = error.unwrap_err().to_string();
            assert!(
                error.ends_with("its dictionary is larger than a block of the image"),
                "{error}"
            );
        }
    }
}

#[test]
fn lzma_images_are_refused_by_name() {
    let error = Decoder::new(Compressor::Lzma, BlockSize::DEFAULT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "lzma cannot be read: Linux does not mount such images"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_an_error_or_a_length(
        stream in prop::collection::vec(any::<u8>(), 0..600),
        room_bytes in 0_usize..9000,
    ) {
        for compressor in WRITABLE {
            let _ = decompress(&mut decoder(compressor), &stream, room_bytes);
        }
    }

    #[test]
    fn any_patch_of_a_stream_gives_an_error_or_a_length(
        patch in prop::collection::vec(any::<u8>(), 1..12),
        place in any::<prop::sample::Index>(),
        room_bytes in 0_usize..9000,
    ) {
        for compressor in WRITABLE {
            let mut stream = compressed(compressor, &block());
            let start = place.index(stream.len());
            let end = stream.len().min(start + patch.len());
            stream[start..end].copy_from_slice(&patch[..end - start]);
            let _ = decompress(&mut decoder(compressor), &stream, room_bytes);
        }
    }
}

#[test]
fn the_streams_of_one_block_size_are_read_in_images_of_a_larger_one() {
    let block = text(4096, 25);
    for compressor in WRITABLE {
        let stream = compressed(compressor, &block);
        assert_eq!(block_size_for(block.len()), BlockSize::MIN);
        let mut decoder = Decoder::new(compressor, BlockSize::MAX).unwrap();
        assert_eq!(
            decompress(&mut decoder, &stream, 1 << 20).as_deref(),
            Ok(&block[..])
        );
    }
}
