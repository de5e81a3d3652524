//! What is compressed and how.

use super::{Row, Section};
use crate::mksquashfs::request::Print;

/// What is compressed, and in which pieces.
pub(super) const WHAT: Section = Section {
    title: "Compression",
    rows: &[
        Row::value(
            "-b SIZE",
            |request, value| value.block_size().map(|size| request.block_size = size),
            "bytes of a data block, a power of two from 4K to 1M; default 128K",
        ),
        Row::value(
            "-comp NAME",
            |request, value| request.compression.choose(value),
            "gzip, lzo, lz4, xz or zstd; default gzip",
        ),
        Row::flag(
            "-noI|-noInodeCompression",
            |request| request.uncompressed.inodes = true,
            "inodes, directories and ids are not compressed",
        ),
        Row::flag(
            "-noId|-noIdTableCompression",
            |request| request.uncompressed.ids = true,
            "ids are not compressed",
        ),
        Row::flag(
            "-noD|-noDataCompression",
            |request| request.uncompressed.data = true,
            "data blocks are not compressed",
        ),
        Row::flag(
            "-noF|-noFragmentCompression",
            |request| request.uncompressed.fragments = true,
            "fragment blocks are not compressed",
        ),
        Row::flag(
            "-noX|-noXattrCompression",
            |request| request.uncompressed.xattrs = true,
            "extended attributes are not compressed",
        ),
        Row::flag(
            "-no-compression",
            |request| request.uncompressed.everything(),
            "`-noI -noD -noF -noX`",
        ),
    ],
};

/// The options that one compressor or another has.
pub(super) const HOW: Section = Section {
    title: "Compressors",
    rows: &[
        Row::value(
            "-Xcompression-level LEVEL",
            |request, value| request.compression.add("-Xcompression-level", value),
            "gzip 1 to 9, default 9; lzo 1 to 9, default 8; lz4 with -Xhc 1 to 12, default 12; \
             zstd 1 to 22 or negative, default 15",
        ),
        Row::value(
            "-Xwindow-size BITS",
            |request, value| request.compression.add("-Xwindow-size", value),
            "gzip: 8 to 15, default 15",
        ),
        Row::value(
            "-Xstrategy LIST",
            |request, value| request.compression.add("-Xstrategy", value),
            "gzip: default, filtered, huffman_only, run_length_encoded, fixed; the best is taken",
        ),
        Row::value(
            "-Xalgorithm NAME",
            |request, value| request.compression.add("-Xalgorithm", value),
            "lzo: lzo1x_1, lzo1x_1_11, lzo1x_1_12, lzo1x_1_15, lzo1x_999; default lzo1x_999",
        ),
        Row::flag(
            "-Xhc",
            |request| request.compression.add_flag("-Xhc"),
            "lz4: its slow and thorough mode",
        ),
        Row::value(
            "-Xacceleration N",
            |request, value| request.compression.add("-Xacceleration", value),
            "lz4 without -Xhc: 1 to 65537",
        ),
        Row::value(
            "-Xbcj LIST",
            |request, value| request.compression.add("-Xbcj", value),
            "xz: x86, arm, armthumb, arm64, powerpc, sparc, ia64, riscv; the best or none is taken",
        ),
        Row::value(
            "-Xdict-size SIZE",
            |request, value| request.compression.add("-Xdict-size", value),
            "xz: bytes, or percent of a block; 8K or more",
        ),
        Row::value(
            "-Xpreset LEVEL",
            |request, value| request.compression.add("-Xpreset", value),
            "xz: 0 to 9; OpenWrt's",
        ),
        Row::flag(
            "-Xe",
            |request| request.compression.add_flag("-Xe"),
            "xz: the extreme form of the preset; OpenWrt's",
        ),
        Row::value(
            "-Xlc N",
            |request, value| request.compression.add("-Xlc", value),
            "xz: literal context bits; OpenWrt's",
        ),
        Row::value(
            "-Xlp N",
            |request, value| request.compression.add("-Xlp", value),
            "xz: literal position bits; OpenWrt's",
        ),
        Row::value(
            "-Xpb N",
            |request, value| request.compression.add("-Xpb", value),
            "xz: position bits; OpenWrt's",
        ),
        Row::flag(
            "-Xhelp",
            |request| request.print(Print::CompressorInUse),
            "prints the options of the compressor",
        ),
    ],
};
