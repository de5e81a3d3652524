use super::*;

/// What a tool is told, without source and image; or why it cannot.
fn told(maker: Maker, compressor: Compressor, level: Option<i32>) -> String {
    let setting = Setting {
        compressor,
        level,
        block_size_bytes: 65536,
    };
    let making = Making {
        setting,
        threads: 3,
        source: Path::new("/source"),
        image: Path::new("/image"),
    };
    let words = maker.words(&making);
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    maker.objection(&setting).unwrap_or_else(|| words.join(" "))
}

#[test]
fn a_setting_has_words_in_each_tool() {
    use Compressor::{Gzip, Lz4, Lzo, None as Stored, Xz, Zstd};
    let cases = [
        (
            Zstd,
            Some(3),
            "-c zstd -l 3",
            "-comp zstd -Xcompression-level 3",
            "-c zstd -X level=3",
        ),
        (
            Gzip,
            Some(9),
            "-c gzip -l 9",
            "-comp gzip -Xcompression-level 9",
            "-c gzip -X level=9",
        ),
        (
            Lzo,
            Some(8),
            "-c lzo -l 8",
            "-comp lzo -Xcompression-level 8",
            "-c lzo -X level=8",
        ),
        (
            Lzo,
            Some(0),
            "-c lzo -l 0",
            "-comp lzo -Xalgorithm lzo1x_1",
            "-c lzo -X algorithm=lzo1x_1",
        ),
        (Lz4, Some(0), "-c lz4 -l 0", "-comp lz4", "-c lz4"),
        (
            Lz4,
            Some(12),
            "-c lz4 -l 12",
            "-comp lz4 -Xhc",
            "-c lz4 -X hc",
        ),
        (Xz, Some(6), "-c xz -l 6", "-comp xz", "-c xz -X level=6"),
    ];
    for (compressor, level, coldpress, mksquashfs, gensquashfs) in cases {
        let all = Maker::ALL.map(|maker| told(maker, compressor, level));
        let expected = [
            format!("-q build {coldpress} -b 65536 -j 3 -- /source /image"),
            format!(
                "/source /image {mksquashfs} -b 65536 -processors 3 -noappend -no-progress -quiet"
            ),
            format!("-q -k -x -e -T {gensquashfs} -b 65536 -j 3 -D /source /image"),
        ];
        assert_eq!(all, expected);
    }
    let stored = Maker::ALL.map(|maker| told(maker, Stored, None));
    assert!(stored[0].contains("-c none -b") && stored[1].contains("-noI -noId -noD -noF -noX -b"));
    assert_eq!(stored[2], "gensquashfs compresses always");
}

#[test]
fn a_tool_objects_to_levels_that_it_has_not() {
    use Compressor::{Gzip, Lz4, Xz, Zstd};
    for (compressor, level, objections) in [
        (Gzip, 10, [false, true, true]),
        (Lz4, 3, [false, true, true]),
        (Xz, 5, [false, true, false]),
        (Zstd, 0, [false, true, true]),
        (Zstd, 22, [false, false, false]),
    ] {
        let objects = |maker| told(maker, compressor, Some(level)).contains("has no level");
        assert_eq!(
            Maker::ALL.map(objects),
            objections,
            "{compressor:?} {level}"
        );
    }
}

#[test]
fn an_unpacker_restores_owners_only_for_root() {
    let told = |unpacker: Unpacker, is_root| {
        let words = unpacker.words(&Unpacking {
            threads: unpacker.has_threads().then_some(3),
            image: Path::new("/image"),
            directory: Path::new("/directory"),
            is_root,
        });
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    };
    assert_eq!(
        Unpacker::ALL.map(|unpacker| told(unpacker, true)),
        [
            "-q extract -j 3 -- /image /directory",
            "-n -q -p 3 -d /directory /image",
            "-q -C -T -X -O -u / -p /directory /image",
        ]
    );
    assert!(!told(Unpacker::Rdsquashfs, false).contains("-O"));
}
