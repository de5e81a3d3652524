use super::*;

fn lists(compressors: &[Compressor], levels: &[&str]) -> Lists {
    Lists {
        makers: Maker::ALL.to_vec(),
        compressors: compressors.to_vec(),
        levels: levels
            .iter()
            .map(|word| word.parse().expect("a level"))
            .collect(),
        block_sizes_bytes: vec![128 << 10, 1 << 20, 128 << 10],
        threads: vec![1, 2],
        unpackers: Unpacker::ALL.to_vec(),
        unpack_threads: vec![1, 2, 2],
    }
}

#[test]
fn everything_is_combined_once() {
    let matrix = lists(&[Compressor::Zstd], &["15", "default"]).matrix();
    // Three makers, one level, two block sizes; two unpackers with two numbers of threads and one
    // without.
    assert_eq!(
        [
            matrix.images.len(),
            matrix.builds.len(),
            matrix.unpacks.len()
        ],
        [6, 12, 30]
    );
    assert!(matrix.left_out.is_empty());
    let contestants = matrix.contestants();
    assert_eq!(contestants.len(), matrix.contestant_count());
    assert_eq!(contestants[0].name, "coldpress zstd-15 128K j1");
    assert_eq!(
        contestants[12].name,
        "coldpress j1 of coldpress zstd-15 128K"
    );
    let baselines: Vec<_> = contestants
        .iter()
        .filter_map(|one| one.facts.get("baseline"))
        .collect();
    assert_eq!(baselines, [&contestants[12].name; 30]);
    let last = &contestants[41];
    assert_eq!(last.name, "rdsquashfs of gensquashfs zstd-15 1M");
    let fact = |name: &str| last.facts.get(name).map(String::as_str);
    assert_eq!(
        ["tool", "compressor", "level", "threads", "unpacker"].map(fact),
        ["gensquashfs", "zstd", "15", "1", "rdsquashfs"].map(Some)
    );
    assert_eq!(last.figures.get("block_size_bytes"), Some(&1_048_576.0));
    let mut names: Vec<_> = contestants.into_iter().map(|one| one.name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 42);
}

#[test]
fn what_no_tool_can_do_is_left_out_with_a_word() {
    let cases: [(Compressor, &[&str], usize, &[&str]); 5] = [
        (
            Compressor::Lz4,
            &["hc", "15", "3"],
            8,
            &[
                "lz4 has no level 15",
                "mksquashfs has no level 3 of lz4",
                "gensquashfs has no level 3 of lz4",
            ],
        ),
        (
            Compressor::Xz,
            &["2", "12"],
            4,
            &["xz has no level 12", "mksquashfs has no level 2 of xz"],
        ),
        (
            Compressor::None,
            &["default"],
            4,
            &["gensquashfs compresses always"],
        ),
        (Compressor::None, &["1"], 0, &["none has no level 1"]),
        (
            Compressor::Gzip,
            &["12", "9"],
            8,
            &[
                "mksquashfs has no level 12 of gzip",
                "gensquashfs has no level 12 of gzip",
            ],
        ),
    ];
    for (compressor, levels, images, left_out) in cases {
        let matrix = lists(&[compressor], levels).matrix();
        assert_eq!(matrix.images.len(), images, "{compressor:?} {levels:?}");
        assert_eq!(matrix.left_out, left_out, "{compressor:?} {levels:?}");
    }
}
