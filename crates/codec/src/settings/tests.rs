use Compressor::{Gzip, Lz4, Lzma, Lzo, Xz, Zstd};

use super::*;
use crate::{Choices, Dictionary, Filter, GzipTuning, Lz4Tuning, Strategy, XzTuning};

fn settings(compressor: Compressor, level: i32, tuning: Tuning) -> Settings {
    Settings {
        compressor,
        level,
        tuning,
    }
}

fn gzip_tuning(window_bits: u8, strategies: &[Strategy]) -> Tuning {
    Tuning::Gzip(GzipTuning {
        window_bits,
        strategies: strategies.iter().copied().collect(),
    })
}

fn xz_tuning(dictionary: Dictionary, filters: &[Filter]) -> Tuning {
    Tuning::Xz(XzTuning {
        dictionary,
        filters: filters.iter().copied().collect(),
        ..XzTuning::default()
    })
}

fn lz4_tuning(acceleration: u32) -> Tuning {
    Tuning::Lz4(Lz4Tuning { acceleration })
}

fn coding(lc: Option<u8>, lp: Option<u8>, pb: Option<u8>) -> Tuning {
    Tuning::Xz(XzTuning {
        literal_context_bits: lc,
        literal_position_bits: lp,
        position_bits: pb,
        ..XzTuning::default()
    })
}

#[test]
fn default_settings_record_no_options_except_for_lz4() {
    for (compressor, level, recorded) in [
        (Gzip, 9, None),
        (Lzo, 8, None),
        (Xz, 6, None),
        (Lz4, 12, Some([1, 0, 0, 0, 1, 0, 0, 0])),
        (Zstd, 15, None),
    ] {
        let made = Settings::new(compressor, None).unwrap();
        assert_eq!(made, settings(compressor, level, Tuning::Default));
        for block_size in [BlockSize::MIN, BlockSize::DEFAULT, BlockSize::MAX] {
            let options = made.options(block_size).map(|options| options.write());
            assert_eq!(
                options,
                recorded.map(|bytes| bytes.to_vec()),
                "{compressor}"
            );
        }
    }
}

/// The bytes that mksquashfs records for the same options.
#[test]
fn everything_else_is_recorded_as_readers_understand_it() {
    use Dictionary::{Block, Bytes, Millionths};
    use Strategy::{Default, Filtered, Fixed, HuffmanOnly};
    let none = Tuning::Default;
    for (compressor, level, tuning, recorded) in [
        (Gzip, 1, none, vec![1, 0, 0, 0, 15, 0, 0, 0]),
        (Gzip, 12, none, vec![]),
        (Gzip, 9, gzip_tuning(15, &[]), vec![]),
        (Gzip, 9, gzip_tuning(15, &[Default]), vec![]),
        (
            Gzip,
            9,
            gzip_tuning(8, &[Default]),
            vec![9, 0, 0, 0, 8, 0, 0, 0],
        ),
        (
            Gzip,
            9,
            gzip_tuning(15, &[Filtered, Default]),
            vec![9, 0, 0, 0, 15, 0, 3, 0],
        ),
        (
            Gzip,
            2,
            gzip_tuning(10, &[Fixed, HuffmanOnly]),
            vec![2, 0, 0, 0, 10, 0, 0x14, 0],
        ),
        (Lzo, 0, none, vec![0; 8]),
        (Lzo, 9, none, vec![4, 0, 0, 0, 9, 0, 0, 0]),
        (Lzo, 8, none, vec![]),
        (Xz, 0, none, vec![]),
        (Xz, 6, xz_tuning(Block, &[]), vec![]),
        (Xz, 6, xz_tuning(Millionths(1_000_000), &[]), vec![]),
        (Xz, 6, xz_tuning(Bytes(128 << 10), &[]), vec![]),
        (
            Xz,
            6,
            xz_tuning(Bytes(8192), &[]),
            vec![0, 0x20, 0, 0, 0, 0, 0, 0],
        ),
        (
            Xz,
            6,
            xz_tuning(Millionths(750_000), &[]),
            vec![0, 0x80, 1, 0, 0, 0, 0, 0],
        ),
        (
            Xz,
            6,
            xz_tuning(Block, &[Filter::X86]),
            vec![0, 0, 2, 0, 1, 0, 0, 0],
        ),
        (
            Xz,
            6,
            xz_tuning(Block, &[Filter::RiscV, Filter::Arm64, Filter::PowerPc]),
            vec![0, 0, 2, 0, 0xC2, 0, 0, 0],
        ),
        (Xz, 6, coding(Some(0), Some(2), None), vec![]),
        (Lz4, 0, none, vec![1, 0, 0, 0, 0, 0, 0, 0]),
        (Lz4, 0, lz4_tuning(100), vec![1, 0, 0, 0, 0, 0, 0, 0]),
        (Lz4, 3, lz4_tuning(1), vec![1, 0, 0, 0, 1, 0, 0, 0]),
        (Zstd, 22, none, vec![22, 0, 0, 0]),
        (Zstd, -5, none, vec![0xFB, 0xFF, 0xFF, 0xFF]),
    ] {
        let settings = settings(compressor, level, tuning);
        assert_eq!(settings.check(BlockSize::DEFAULT), Ok(()), "{settings:?}");
        let options = settings.options(BlockSize::DEFAULT);
        let bytes = options.map_or(vec![], |options| options.write());
        assert_eq!(bytes, recorded, "{settings:?}");
        if let Some(options) = options {
            assert_eq!(
                CompressorOptions::parse(compressor, &bytes, 98),
                Ok(options)
            );
        }
        let again = Settings::recorded(compressor, options, BlockSize::DEFAULT).unwrap();
        assert_eq!(again.options(BlockSize::DEFAULT), options, "{settings:?}");
    }
}

#[test]
fn levels_that_cannot_be_used_are_refused_by_name() {
    for (compressor, level, text) in [
        (Gzip, 13, "gzip level 13 is outside 1 to 12"),
        (Gzip, 0, "gzip level 0 is outside 1 to 12"),
        (Lzo, 10, "lzo level 10 is outside 0 to 9"),
        (Xz, -1, "xz level -1 is outside 0 to 9"),
        (Lz4, 13, "lz4 level 13 is outside 0 to 12"),
        (Zstd, 23, "zstd level 23 is outside -131072 to 22"),
        (
            Zstd,
            0,
            "zstd has no level 0; its levels are -131072 to -1 and 1 to 22",
        ),
        (
            Lzma,
            1,
            "lzma cannot be written: Linux does not mount such images; use xz instead",
        ),
    ] {
        let error = Settings::new(compressor, Some(level)).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn tunings_that_cannot_be_used_are_refused_by_name() {
    use Dictionary::{Bytes, Millionths};
    const DICTIONARY: &str = "must be 2^n or 2^n + 2^(n+1), at least 8192 and at most the block \
                              size of 131072";
    let dictionary = |bytes| format!("xz dictionary is {bytes} bytes, {DICTIONARY}");
    for (compressor, level, tuning, text) in [
        (
            Zstd,
            1,
            gzip_tuning(15, &[]),
            "zstd cannot have the options of gzip".into(),
        ),
        (
            Gzip,
            9,
            gzip_tuning(7, &[]),
            "gzip window 7 is outside 8 to 15".into(),
        ),
        (
            Gzip,
            10,
            gzip_tuning(14, &[]),
            "gzip level 10 cannot have a window below 15 or strategies; with them the levels \
             end at 9"
                .into(),
        ),
        (
            Lz4,
            0,
            lz4_tuning(0),
            "lz4 acceleration 0 is outside 1 to 65537".into(),
        ),
        (
            Lz4,
            12,
            lz4_tuning(2),
            "lz4 acceleration needs level 0, the fast one, but the level is 12".into(),
        ),
        (Xz, 6, xz_tuning(Bytes(100_000), &[]), dictionary(100_000)),
        (Xz, 6, xz_tuning(Bytes(0), &[]), dictionary(0)),
        (Xz, 6, xz_tuning(Bytes(4096), &[]), dictionary(4096)),
        (Xz, 6, xz_tuning(Bytes(256 << 10), &[]), dictionary(262_144)),
        (
            Xz,
            6,
            xz_tuning(Millionths(2_000_000), &[]),
            dictionary(262_144),
        ),
        (
            Xz,
            6,
            xz_tuning(Millionths(800_000), &[]),
            dictionary(104_857),
        ),
        (
            Xz,
            6,
            coding(Some(5), None, None),
            "xz lc 5 is outside 0 to 4".into(),
        ),
        (
            Xz,
            6,
            coding(None, None, Some(5)),
            "xz pb 5 is outside 0 to 4".into(),
        ),
        (
            Xz,
            6,
            coding(None, Some(2), None),
            "xz lc 3 and lp 2 are more than 4 together; lc is 3 unless given".into(),
        ),
    ] {
        let error = settings(compressor, level, tuning)
            .check(BlockSize::DEFAULT)
            .unwrap_err();
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn a_block_may_have_any_level_that_goes_with_the_tuning() {
    let accelerated = settings(Lz4, 0, lz4_tuning(7));
    assert_eq!(accelerated.at_level(0), Ok(accelerated));
    assert_eq!(
        accelerated.at_level(9),
        Ok(settings(Lz4, 9, Tuning::Default))
    );
    let windowed = settings(Gzip, 9, gzip_tuning(12, &[]));
    assert_eq!(
        windowed.at_level(1).map(|settings| settings.tuning),
        Ok(windowed.tuning)
    );
    assert_eq!(
        windowed.at_level(12),
        Err(Error::LevelOfLibdeflate { level: 12 })
    );
    assert!(Settings::new(Zstd, None).unwrap().at_level(0).is_err());
}

#[test]
fn choices_have_names_and_are_listed_by_bit() {
    use crate::Choice;
    let filters = ["riscv", "x86"].map(|name| Filter::from_name(name).unwrap());
    let filters: Choices<Filter> = filters.into_iter().collect();
    assert_eq!(filters.to_string(), "x86,riscv");
    assert_eq!(filters.bits(), 0x81);
    assert_eq!(Filter::from_name("x87"), None);
    let every: Choices<Strategy> = Strategy::ALL.iter().copied().collect();
    assert_eq!(
        every.to_string(),
        "default,filtered,huffman_only,run_length_encoded,fixed"
    );
}
