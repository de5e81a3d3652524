use super::*;

/// Each table with one or two rows.
const LAUNCH: &str = "app,format,launch1_ms_median,launch2_ms_median,size_mb\n\
                      chromium,try,2032,1655,\nchromium,xz,5659,5049,167\n";
const BOOT: &str = "computer,usb_stick,xz_s,zstd22_s,seconds_saved,percent_saved\n\
                    ThinkPad X1C6,Kingston,72,57,15,21\n";
const COMPRESS: &str = "system,compressor,preset,compress_s\nsib,zstd,release,299\n";
const EXPORT: &str = "block_size,zstd_level,threads,utilization_cores,export_s,size_percent\n\
                      1M,15,8,7.9,251.2,44.2\n";
const CREATE: &str =
    "threads,block_size,zstd_level,create_s,utilization_cores\n2,128k,2,36.5,1.2\n";

/// The table, its kind, some of its contestants, and figures of them.
type Case<'a> = (&'a str, Kind, &'a [&'a str], &'a [(usize, &'a str, f64)]);

#[test]
fn each_table_is_known_by_its_first_line() {
    let cases: [Case; 5] = [
        (
            LAUNCH,
            Kind::Launch,
            &["chromium, try", "chromium, xz"],
            &[(0, "cold_s", 2.032), (1, "warm_s", 5.049)],
        ),
        (
            BOOT,
            Kind::Boot,
            &[
                "ThinkPad X1C6, Kingston, xz",
                "ThinkPad X1C6, Kingston, zstd 22",
            ],
            &[(0, "boot_s", 72.0), (1, "boot_s", 57.0)],
        ),
        (
            COMPRESS,
            Kind::Build,
            &["sib, zstd, release"],
            &[(0, "build_s", 299.0)],
        ),
        (
            EXPORT,
            Kind::Build,
            &["zstd 15, 1M, 8 threads"],
            &[(0, "build_s", 251.2), (0, "used_cores", 7.9)],
        ),
        (
            CREATE,
            Kind::Build,
            &["zstd 2, 128k, 2 threads"],
            &[(0, "unpack_s", 36.5), (0, "used_cores", 1.2)],
        ),
    ];
    for (table, kind, names, figures) in cases {
        let study = published(table.as_bytes()).expect("a known table");
        assert_eq!((study.kind, study.state), (kind, State::Done));
        let found: Vec<_> = study
            .contestants
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        assert_eq!(found, names);
        for (contestant, figure, value) in figures {
            assert_eq!(study.values(*contestant, figure), [*value], "{figure}");
        }
        // As others write it.
        let windows = table.replace('\n', "\r\n");
        assert_eq!(published(windows.as_bytes()).expect("a known table"), study);
    }
    let study = published(LAUNCH.as_bytes()).expect("a known table");
    let figures = &study.contestants[1].figures;
    assert_eq!(figures.get("size_bytes"), Some(&167e6));
    assert_eq!(study.contestants[0].figures.len(), 0);
    let study = published(EXPORT.as_bytes()).expect("a known table");
    let figures = &study.contestants[0].figures;
    assert_eq!(figures.get("block_size_bytes"), Some(&1_048_576.0));
}

#[test]
fn contestants_are_compared_with_those_of_the_same_machine() {
    let boots = format!("{BOOT}ThinkPad X250,Kingston,90,76,14,16\n");
    let study = published(boots.as_bytes()).expect("a known table");
    let baselines: Vec<_> = (0..4)
        .map(|contestant| study.baseline(contestant))
        .collect();
    assert_eq!(baselines, [0, 0, 2, 2]);
}

#[test]
fn what_is_wrong_in_a_table_is_told_with_its_place() {
    for (table, expected) in [
        (
            "",
            "it is neither an export of a history as JSON, nor a published table with a first line that is known",
        ),
        (
            "a,b\n1,2\n",
            "it is neither an export of a history as JSON, nor a published table with a first line that is known",
        ),
        (
            &LAUNCH.replace("2032", "x"),
            "line 2, column launch1_ms_median: `x` must be a number of 0 or more",
        ),
        (
            &LAUNCH.replace("167", "-1"),
            "line 3, column size_mb: `-1` must be a number of 0 or more",
        ),
        (
            &LAUNCH.replace("5049", "inf"),
            "line 3, column launch2_ms_median: `inf` must be a number of 0 or more",
        ),
        (
            &EXPORT.replace("1M", "1T"),
            "line 2, column block_size: `1T` must be a number of 0 or more",
        ),
        (
            &CREATE.replace("36.5,", ""),
            "the published table cannot be read",
        ),
    ] {
        let error = published(table.as_bytes()).expect_err(table);
        assert_eq!(error.to_string(), expected);
    }
    assert!(matches!(
        published(b"\xff\xfe\n\x00"),
        Err(Error::NoStudies)
    ));
}
