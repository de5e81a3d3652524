//! Compressors, their options, and streams that ask for more than a block.

use std::mem::offset_of;

use coldpress_format::{Compressor, RawSuperblock};

use super::{halves, rewritten, stored};
use crate::case::Case;
use crate::packing::Packing;

/// Compressors that are none, or that Linux does not read.
pub fn compressor_numbers() -> Vec<Case> {
    let image = stored();
    let at = offset_of!(RawSuperblock, compressor);
    let unknown = "compressor";
    let numbers = [0, 7, 99, u16::MAX].map(|number| (number, unknown));
    let mut cases = halves("compressor", &image, at, &numbers);
    cases.extend(halves(
        "compressor",
        &image,
        at,
        &[(2, "lzma cannot be read")],
    ));
    cases
}

/// Options out of range, cut short, or compressed.
pub fn compressor_options() -> Vec<Case> {
    let pair = |first: u32, second: u32| [first.to_le_bytes(), second.to_le_bytes()].concat();
    let gzip = |level: u32, window: u16| {
        [&level.to_le_bytes()[..], &window.to_le_bytes(), &[0, 0]].concat()
    };
    let options = "compressor options at byte";
    let dictionary = "xz dictionary size";
    let cases = [
        (Compressor::Gzip, gzip(0, 15), "gzip level is"),
        (Compressor::Gzip, gzip(10, 15), "gzip level is"),
        (Compressor::Gzip, gzip(u32::MAX, 15), "gzip level is"),
        (Compressor::Gzip, gzip(9, 7), "gzip window size is"),
        (Compressor::Gzip, gzip(9, 16), "gzip window size is"),
        (Compressor::Gzip, gzip(9, u16::MAX), "gzip window size is"),
        (Compressor::Gzip, vec![9; 7], options),
        (Compressor::Lzo, pair(5, 0), "lzo algorithm is"),
        (Compressor::Lzo, pair(4, u32::MAX), "lzo level is"),
        (Compressor::Xz, pair(1_610_612_736, 0), dictionary),
        (Compressor::Xz, pair(u32::MAX, 0), dictionary),
        (Compressor::Xz, pair(0, 0), dictionary),
        (Compressor::Xz, pair(8193, 0), dictionary),
        (Compressor::Lz4, pair(0, 0), "lz4 version is"),
        (Compressor::Lz4, pair(2, 0), "lz4 version is"),
        (Compressor::Lz4, vec![1], options),
        (Compressor::Zstd, vec![15], options),
        (Compressor::Zstd, vec![0xff; 4], ""),
    ];
    let case = |(compressor, bytes, says): (Compressor, Vec<u8>, _)| {
        let mut packing = Packing::compressed(compressor);
        packing.compressed = false;
        let what = format!("{compressor} options {bytes:02x?}");
        let image = rewritten(packing, |tables| {
            // Data begins behind the options, wherever that is.
            let before = tables
                .options
                .as_ref()
                .map_or(0, |options| options.len() + 2);
            tables.data.splice(..0, vec![0; before]);
            tables
                .data
                .drain(..(bytes.len() + 2).min(tables.data.len()));
            tables.options = Some(bytes);
        });
        Case::new(what, image.bytes, says)
    };
    let mut cases: Vec<_> = cases.into_iter().map(case).collect();
    let missing = rewritten(Packing::compressed(Compressor::Lz4), |tables| {
        let options = tables.options.take().unwrap_or_default();
        tables.data.splice(..0, vec![0; options.len() + 2]);
    });
    let says = "number of compressor option blocks";
    cases.push(Case::new("lz4 without options", missing.bytes, says));
    cases
}

/// Streams that want a window or dictionary far over the block size.
pub fn streams_that_want_memory() -> Vec<Case> {
    // A zstd frame without content size whose window is 2^(10 + exponent) bytes, and one raw block.
    let zstd = |exponent: u8| {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, exponent << 3];
        frame.extend_from_slice(&[0x21, 0, 0, b'a', b'b', b'c', b'd']);
        frame
    };
    // A frame that says it holds 2^63 bytes.
    let mut large = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
    large.extend_from_slice(&(1_u64 << 63).to_le_bytes());
    large.extend_from_slice(&[1, 0, 0]);
    // The header of an xz stream whose LZMA2 dictionary is 2 * 2^(19 + n) bytes; its checksums are
    // wrong, which is not what a decoder must notice first.
    let xz = |dictionary: u8| {
        let mut stream = vec![
            0xfd, b'7', b'z', b'X', b'Z', 0, 0, 1, 0x69, 0x22, 0xde, 0x36,
        ];
        stream.extend_from_slice(&[2, 0, 0x21, 1, dictionary, 0, 0, 0, 0, 0, 0, 0]);
        stream
    };
    let streams = [
        (Compressor::Zstd, zstd(4)),
        (Compressor::Zstd, zstd(17)),
        (Compressor::Zstd, zstd(31)),
        (Compressor::Zstd, large),
        (Compressor::Xz, xz(40)),
        (Compressor::Xz, xz(39)),
        // A zlib header that is none, and one with a preset dictionary.
        (Compressor::Gzip, vec![0x78, 0xbb, 0xff, 0xff, 0xff, 0xff]),
        (Compressor::Lzo, vec![0; 300]),
        (Compressor::Lz4, vec![0xff; 300]),
    ];
    let case = |(compressor, stream): (Compressor, Vec<u8>)| {
        let what = format!("a {compressor} stream {:02x?}", &stream[..6]);
        let image = rewritten(Packing::compressed(compressor), |tables| {
            // The first data block begins with the stream.
            let len = stream.len().min(tables.data.len());
            tables.data[..len].copy_from_slice(&stream[..len]);
        });
        Case::new(what, image.bytes, "data block at byte")
    };
    streams.into_iter().map(case).collect()
}
