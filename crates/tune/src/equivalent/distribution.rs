//! Tools that make systems: live-build, Buildroot, NixOS.

use coldpress_codec::Settings;
use coldpress_format::{BlockSize, Compressor};

use super::{
    Equivalent, compression_words, encoding_lacks, level_lacks, mksquashfs_words, order_lacks,
    tail_words, texts,
};
use crate::candidate::{Candidate, OrderBy};

/// What mksquashfs is told of block size and tail ends, but what `default` says anyway.
fn shape_words(candidate: &Candidate, default: BlockSize) -> Vec<String> {
    let mut words = Vec::new();
    if candidate.block_size != default {
        words.extend(["-b".to_owned(), candidate.block_text()]);
    }
    words.extend(tail_words(candidate));
    words
}

/// live-build has options for compressor and level, takes other words from the environment, and a
/// sort file from its configuration.
pub(crate) fn live_build(candidate: &Candidate) -> Equivalent {
    let mut config = vec!["lb config".to_owned()];
    let mut words = Vec::new();
    match &candidate.compression {
        // The script names a compressor in any case.
        None => words = compression_words(candidate),
        Some(settings) => {
            config.push(format!(
                "--chroot-squashfs-compression-type {}",
                settings.compressor
            ));
            match mksquashfs_words(settings).as_slice() {
                [name, level] if name == "-Xcompression-level" => {
                    config.push(format!("--chroot-squashfs-compression-level {level}"));
                }
                other => words.extend_from_slice(other),
            }
            words.extend(candidate.uncompressed.data.then(|| "-noD".to_owned()));
        }
    }
    words.extend(shape_words(candidate, BlockSize::DEFAULT));
    let mut lines = Vec::new();
    if config.len() > 1 {
        lines.push(config.join(" "));
    }
    if candidate.order != OrderBy::Tree {
        lines.push("cp SORT-FILE config/rootfs/squashfs.sort".to_owned());
    }
    lines.push(if words.is_empty() {
        "lb build".to_owned()
    } else {
        format!("MKSQUASHFS_OPTIONS=\"{}\" lb build", words.join(" "))
    });
    Equivalent {
        tool: "live-build",
        lines,
        lacks: texts([
            level_lacks(candidate),
            order_lacks(candidate, true),
            encoding_lacks(candidate),
        ]),
    }
}

/// Buildroot has a menu of compressors and block sizes, and one of levels: mksquashfs's own, or the
/// highest. Other words are appended where the configuration of a project is in make.
pub(crate) fn buildroot(candidate: &Candidate) -> Equivalent {
    let name = candidate
        .compressor()
        .map_or("NONE".to_owned(), |name| name.to_string().to_uppercase());
    let kib = candidate.block_size.bytes() >> 10;
    let mut lines = vec![
        "BR2_TARGET_ROOTFS_SQUASHFS=y".to_owned(),
        format!("BR2_TARGET_ROOTFS_SQUASHFS4_{name}=y"),
        format!("BR2_TARGET_ROOTFS_SQUASHFS_BS_{kib}K=y"),
    ];
    let mut words = Vec::new();
    if let Some(settings) = &candidate.compression {
        let is_extreme = is_highest(settings);
        lines.push(if is_extreme {
            "BR2_TARGET_ROOTFS_SQUASHFS_EXTREME_COMP=y".to_owned()
        } else {
            "# BR2_TARGET_ROOTFS_SQUASHFS_EXTREME_COMP is not set".to_owned()
        });
        let is_default = Settings::new(settings.compressor, None).ok() == Some(*settings);
        if !is_extreme && !is_default {
            words = mksquashfs_words(settings);
        }
        words.extend(candidate.uncompressed.data.then(|| "-noD".to_owned()));
    }
    words.extend(tail_words(candidate));
    if !words.is_empty() {
        lines.push(format!("ROOTFS_SQUASHFS_ARGS += {}", words.join(" ")));
    }
    Equivalent {
        tool: "Buildroot",
        lines,
        lacks: texts([
            level_lacks(candidate),
            order_lacks(candidate, false),
            encoding_lacks(candidate),
        ]),
    }
}

/// Whether `EXTREME_COMP` means these settings; of xz it means filters.
fn is_highest(settings: &Settings) -> bool {
    matches!(
        (settings.compressor, settings.level),
        (Compressor::Gzip | Compressor::Lzo, 9) | (Compressor::Lz4, 12) | (Compressor::Zstd, 22)
    )
}

/// NixOS has words for mksquashfs behind the compressor's name, after blocks of 1M.
pub(crate) fn nixos(candidate: &Candidate) -> Equivalent {
    let shape = shape_words(candidate, BlockSize::MAX);
    let (line, block) = if candidate.compression.is_some() {
        // Without the `-comp`, which it has itself.
        let mut words = compression_words(candidate).split_off(1);
        words.extend(shape);
        let line = format!("isoImage.squashfsCompression = \"{}\";", words.join(" "));
        (line, false)
    } else {
        let line = "isoImage.squashfsCompression = null;".to_owned();
        (line, !shape.is_empty())
    };
    Equivalent {
        tool: "NixOS",
        lines: vec![line],
        lacks: texts([
            block.then(|| "blocks but of 1M, with fragments, without compression".to_owned()),
            level_lacks(candidate),
            order_lacks(candidate, false),
            encoding_lacks(candidate),
        ]),
    }
}
