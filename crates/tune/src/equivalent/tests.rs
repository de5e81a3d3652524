use coldpress_codec::{Filter, XzTuning};
use coldpress_format::BlockSize;
use coldpress_format::Compressor::{Gzip, Lz4, Lzo, Xz, Zstd};
use coldpress_writer::Uncompressed;

use super::*;
use crate::candidate::tests::candidate;

/// `tool: line | line (lacks; lacks)`, each on its line.
fn told(candidate: &Candidate) -> String {
    let told = equivalents(candidate).into_iter().map(|found| {
        let lacks = if found.lacks.is_empty() {
            String::new()
        } else {
            format!(" ({})", found.lacks.join("; "))
        };
        format!("{}: {}{lacks}\n", found.tool, found.lines.join(" | "))
    });
    told.collect()
}

#[test]
fn an_image_that_every_tool_but_snapcraft_can_build() {
    let zstd = candidate(Zstd, 19, 1 << 20);
    assert_eq!(
        told(&zstd),
        "\
mksquashfs: mksquashfs SOURCE IMAGE -comp zstd -Xcompression-level 19 -b 1M
gensquashfs: gensquashfs -c zstd -X level=19 -b 1048576 -T -D SOURCE IMAGE
appimagetool: appimagetool --comp zstd --mksquashfs-opt -Xcompression-level --mksquashfs-opt 19 --mksquashfs-opt -b --mksquashfs-opt 1M SOURCE
snapcraft:  (compressors but xz and lzo)
enroot: ENROOT_SQUASH_OPTIONS=\"-comp zstd -Xcompression-level 19 -b 1M -exit-on-error\" enroot import URI
live-build: lb config --chroot-squashfs-compression-type zstd --chroot-squashfs-compression-level 19 | MKSQUASHFS_OPTIONS=\"-b 1M\" lb build
Buildroot: BR2_TARGET_ROOTFS_SQUASHFS=y | BR2_TARGET_ROOTFS_SQUASHFS4_ZSTD=y | BR2_TARGET_ROOTFS_SQUASHFS_BS_1024K=y | # BR2_TARGET_ROOTFS_SQUASHFS_EXTREME_COMP is not set | ROOTFS_SQUASHFS_ARGS += -Xcompression-level 19
NixOS: isoImage.squashfsCompression = \"zstd -Xcompression-level 19\";
"
    );
}

#[test]
fn a_planned_image_without_fragments() {
    let xz = Candidate {
        tails: Tails::None,
        order: OrderBy::Plan,
        ..candidate(Xz, 6, 128 << 10)
    };
    assert_eq!(
        told(&xz),
        "\
mksquashfs: mksquashfs SOURCE IMAGE -comp xz -b 128K -no-fragments -sort SORT-FILE (the order of tail ends, inodes and listings)
gensquashfs: gensquashfs -c xz -X level=6 -b 131072 -T -S SORT-FILE -D SOURCE IMAGE (files without fragments, but by `[dont_fragment]` in a sort file; the order of tail ends, inodes and listings)
appimagetool:  (compressors but zstd)
snapcraft: compression: xz (the order)
enroot: ENROOT_SQUASH_OPTIONS=\"-comp xz -b 128K -no-fragments -exit-on-error\" enroot import URI (the order)
live-build: lb config --chroot-squashfs-compression-type xz | cp SORT-FILE config/rootfs/squashfs.sort | MKSQUASHFS_OPTIONS=\"-no-fragments\" lb build (the order of tail ends, inodes and listings)
Buildroot: BR2_TARGET_ROOTFS_SQUASHFS=y | BR2_TARGET_ROOTFS_SQUASHFS4_XZ=y | BR2_TARGET_ROOTFS_SQUASHFS_BS_128K=y | # BR2_TARGET_ROOTFS_SQUASHFS_EXTREME_COMP is not set | ROOTFS_SQUASHFS_ARGS += -no-fragments (the order)
NixOS: isoImage.squashfsCompression = \"xz -b 128K -no-fragments\"; (the order)
"
    );
}

#[test]
fn an_image_without_compression() {
    let none = Candidate {
        compression: None,
        ..candidate(Zstd, 15, 4 << 10)
    };
    assert_eq!(
        told(&none),
        "\
mksquashfs: mksquashfs SOURCE IMAGE -noI -noId -noD -noF -noX -b 4K
gensquashfs:  (images without compression)
appimagetool:  (compressors but zstd)
snapcraft:  (compressors but xz and lzo)
enroot: ENROOT_SQUASH_OPTIONS=\"-noI -noId -noD -noF -noX -b 4K -exit-on-error\" enroot import URI
live-build: MKSQUASHFS_OPTIONS=\"-noI -noId -noD -noF -noX -b 4K\" lb build
Buildroot: BR2_TARGET_ROOTFS_SQUASHFS=y | BR2_TARGET_ROOTFS_SQUASHFS4_NONE=y | BR2_TARGET_ROOTFS_SQUASHFS_BS_4K=y
NixOS: isoImage.squashfsCompression = null; (blocks but of 1M, with fragments, without compression)
"
    );
}

#[test]
fn levels_that_tools_do_not_have_are_told() {
    for (compressor, level, lacks) in [
        (Gzip, 9, None),
        (Gzip, 12, Some("gzip ends at level 9")),
        (Lzo, 0, None),
        (Lzo, 9, None),
        (Lz4, 0, None),
        (Lz4, 12, None),
        (Lz4, 9, Some("lz4 has one level, -Xhc")),
        (Xz, 6, None),
        (Xz, 9, Some("xz has no levels")),
        (Zstd, 22, None),
        (Zstd, -5, Some("zstd begins at level 1")),
    ] {
        let candidate = candidate(compressor, level, 128 << 10);
        assert_eq!(level_lacks(&candidate).as_deref(), lacks, "{candidate}");
    }
}

#[test]
fn words_of_mksquashfs_and_of_the_others_for_each_compressor() {
    for (compressor, level, words, gensquashfs, buildroot) in [
        (
            Gzip,
            12,
            "-Xcompression-level 9",
            "-X level=9",
            "is not set",
        ),
        (Gzip, 9, "-Xcompression-level 9", "-X level=9", "_COMP=y"),
        (
            Lzo,
            0,
            "-Xalgorithm lzo1x_1",
            "-X algorithm=lzo1x_1",
            "+= -Xalgorithm lzo1x_1",
        ),
        (Lzo, 8, "-Xcompression-level 8", "-X level=8", "is not set"),
        (Lz4, 0, "", "-c lz4 -b", "is not set"),
        (Lz4, 12, "-Xhc", "-X hc", "_COMP=y"),
        (Zstd, 22, "-Xcompression-level 22", "-X level=22", "_COMP=y"),
    ] {
        let candidate = candidate(compressor, level, 128 << 10);
        let settings = candidate.compression.expect("a compressor");
        assert_eq!(mksquashfs_words(&settings).join(" "), words, "{candidate}");
        let line = packer::gensquashfs(&candidate).lines.concat();
        assert!(line.contains(gensquashfs), "{line}");
        let lines = distribution::buildroot(&candidate).lines.join("\n");
        assert!(lines.contains(buildroot), "{lines}");
    }
}

#[test]
fn snapcraft_is_told_only_the_compressor() {
    let lzo = Candidate {
        block_size: BlockSize::MAX,
        uncompressed: Uncompressed {
            data: true,
            ..Uncompressed::default()
        },
        ..candidate(Lzo, 9, 128 << 10)
    };
    let found = package::snapcraft(&lzo);
    assert_eq!(found.lines, ["compression: lzo"]);
    let lacks = ["levels", "blocks but of 128K", "fragments", "raw data"];
    assert_eq!(found.lacks, lacks);
    let spends = Candidate {
        spends: true,
        order: OrderBy::Plan,
        ..candidate(Zstd, 15, 128 << 10)
    };
    for found in equivalents(&spends)
        .iter()
        .filter(|found| !found.lines.is_empty())
    {
        let last = found.lacks.last().expect("what it lacks");
        assert_eq!(
            last, "single blocks that are stored as they are",
            "{}",
            found.tool
        );
    }
    let grouped = Candidate {
        group: Group::Extension,
        ..candidate(Zstd, 15, 128 << 10)
    };
    assert_eq!(
        packer::mksquashfs(&grouped).lacks,
        ["the order of tail ends"]
    );
    let raw = packer::mksquashfs(&lzo).lines.concat();
    assert!(
        raw.ends_with("-comp lzo -Xcompression-level 9 -noD -b 1M"),
        "{raw}"
    );
}

#[test]
fn filters_and_all_tail_ends_are_told() {
    let xz = candidate(Xz, 6, 128 << 10);
    let filtered = |filters: &[Filter]| Candidate {
        compression: xz.compression.map(|settings| Settings {
            tuning: Tuning::Xz(XzTuning {
                filters: filters.iter().copied().collect(),
                ..XzTuning::default()
            }),
            ..settings
        }),
        tails: Tails::All,
        ..xz
    };
    assert_eq!(
        told(&filtered(&[Filter::X86])),
        "\
mksquashfs: mksquashfs SOURCE IMAGE -comp xz -Xbcj x86 -b 128K -always-use-fragments
gensquashfs: gensquashfs -c xz -X level=6,x86 -b 131072 -D SOURCE IMAGE
appimagetool:  (compressors but zstd)
snapcraft: compression: xz (filters; fragments)
enroot: ENROOT_SQUASH_OPTIONS=\"-comp xz -Xbcj x86 -b 128K -always-use-fragments -exit-on-error\" enroot import URI
live-build: lb config --chroot-squashfs-compression-type xz | MKSQUASHFS_OPTIONS=\"-Xbcj x86 -always-use-fragments\" lb build
Buildroot: BR2_TARGET_ROOTFS_SQUASHFS=y | BR2_TARGET_ROOTFS_SQUASHFS4_XZ=y | BR2_TARGET_ROOTFS_SQUASHFS_BS_128K=y | # BR2_TARGET_ROOTFS_SQUASHFS_EXTREME_COMP is not set | ROOTFS_SQUASHFS_ARGS += -Xbcj x86 -always-use-fragments
NixOS: isoImage.squashfsCompression = \"xz -Xbcj x86 -b 128K -always-use-fragments\";
"
    );
    let arm = told(&filtered(&[Filter::Arm64]));
    let line = "gensquashfs: gensquashfs -c xz -X level=6 -b 131072 -D SOURCE IMAGE (the filter arm64 of xz)";
    assert!(arm.contains(line), "{arm}");
}
