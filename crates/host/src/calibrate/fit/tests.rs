use std::fs::File;

use super::*;

#[test]
fn the_median_is_in_the_middle() {
    for (values, expected) in [
        (&[][..], None),
        (&[3.0], Some(3.0)),
        (&[3.0, 1.0], Some(2.0)),
        (&[9.0, 1.0, 2.0], Some(2.0)),
        (&[4.0, 1.0, 100.0, 2.0], Some(3.0)),
    ] {
        assert_eq!(median(values), expected, "{values:?}");
    }
}

fn assert_near(found: f64, expected: f64) {
    let scale = expected.abs().max(1e-12);
    assert!(
        (found - expected).abs() < 1e-6 * scale,
        "{found} {expected}"
    );
}

#[test]
fn a_line_goes_through_its_points_and_never_starts_below_zero() {
    type Points<'a> = &'a [(f64, f64)];
    let cases: [(Points<'_>, f64, f64); 6] = [
        // Three on a line.
        (&[(1.0, 3.0), (2.0, 5.0), (10.0, 21.0)], 1.0, 2.0),
        // Through the origin.
        (&[(16.0, 8.0), (1024.0, 512.0)], 0.0, 0.5),
        // A line that would start at -1.
        (&[(1.0, 1.0), (2.0, 3.0)], 0.0, 15.0 / 13.0),
        // One that would fall.
        (&[(1.0, 2.0), (2.0, 1.0)], 0.0, 2.5 / 4.25),
        // One point alone.
        (&[(4.0, 2.0)], 0.0, 0.5),
        // The same place twice.
        (&[(4.0, 2.0), (4.0, 2.0)], 0.0, 0.5),
    ];
    for (points, start, slope) in cases {
        let line = Line::through(points).unwrap();
        assert_near(line.start, start);
        assert_near(line.slope, slope);
    }
    assert_eq!(Line::through(&[]), None);
}

#[test]
fn small_blocks_weigh_as_much_as_large_ones() {
    // 10 % more for the large one: by absolute distances the small one would not count at all.
    let line = Line::through(&[(16.0, 1.6), (128.0, 12.8), (1024.0, 112.6)]).unwrap();
    assert!(line.start >= 0.0);
    assert!(
        (line.start + 16.0 * line.slope - 1.6).abs() < 0.1,
        "{line:?}"
    );
}

const KIB: u32 = 1024;

fn sample<'a>(compressor: Option<&'a str>, block_kib: u32, image: &'a File) -> Sample<'a> {
    Sample {
        compressor,
        block_bytes: block_kib * KIB,
        data_bytes: 4 << 20,
        ratio: 0.5,
        image,
    }
}

/// Filling at 1 ns for each byte besides 1 us, and decompression at 10 ns besides 20 us.
fn block_s(sample: &Sample<'_>) -> f64 {
    let bytes = f64::from(sample.block_bytes);
    let fill_s = 1e-6 + bytes * 1e-9;
    sample
        .compressor
        .map_or(fill_s, |_| fill_s + 2e-5 + bytes * 1e-8)
}

#[test]
fn decompression_is_what_a_compressed_block_takes_longer() {
    let image = crate::memory_file().unwrap();
    let samples: Vec<Sample<'_>> = [None, Some("xz"), Some("lz4")]
        .into_iter()
        .flat_map(|name| [16, 128, 1024].map(|kib| sample(name, kib, &image)))
        .collect();
    let mut passes = Vec::new();
    for (index, sample) in samples.iter().enumerate() {
        // Of the processor two of three are disturbed, of the wall clock one.
        for (wall, on_processor) in [(1.0, 1.5), (7.0, 7.0), (1.0, 1.0)] {
            passes.push(Pass {
                sample: index,
                threads: 1,
                wall_s: block_s(sample) * 3.0 * wall,
                on_processor_s: block_s(sample) * on_processor,
            });
        }
        passes.push(Pass {
            sample: index,
            threads: 4,
            wall_s: block_s(sample),
            on_processor_s: 0.0,
        });
    }
    let fitted = ReaderFigures::of(&samples, &passes, true, 5).unwrap();
    assert_eq!((fitted.made_unix_ms, fitted.threads), (5, 4));
    assert_near(fitted.stored_block_s, 1e-6);
    assert_near(fitted.fill_page_s, 4096e-9);
    assert_near(fitted.threads_gain, 3.0);
    assert_eq!(fitted.decompression.len(), 2);
    for decompression in &fitted.decompression {
        assert_near(decompression.block_s, 2e-5);
        assert_near(decompression.bytes_per_s, 1e8);
        let sizes = decompression.blocks.iter().map(|block| block.block_bytes);
        assert_eq!(sizes.collect::<Vec<_>>(), [16 * KIB, 128 * KIB, 1024 * KIB]);
        assert_near(
            decompression.blocks[1].time_s,
            2e-5 + f64::from(128 * KIB) * 1e-8,
        );
    }
}

#[test]
fn without_a_stored_sample_there_is_nothing_to_subtract() {
    let image = crate::memory_file().unwrap();
    let samples = [sample(Some("xz"), 128, &image)];
    let pass = Pass {
        sample: 0,
        threads: 1,
        wall_s: 1.0,
        on_processor_s: 1.0,
    };
    for passes in [&[pass][..], &[]] {
        assert_eq!(ReaderFigures::of(&samples, passes, true, 5), None);
    }
}

#[test]
fn a_decompression_that_noise_hides_is_left_out() {
    type Case<'a> = (&'a str, [f64; 2], [f64; 2], &'a [&'a str]);
    let image = crate::memory_file().unwrap();
    let samples = [
        sample(None, 16, &image),
        sample(None, 1024, &image),
        sample(Some("lz4"), 16, &image),
        sample(Some("lz4"), 1024, &image),
        sample(Some("xz"), 16, &image),
        sample(Some("xz"), 1024, &image),
    ];
    let stored = [1e-5, 1e-3];
    let cases: [Case<'_>; 5] = [
        ("all is well", [2e-5, 2e-3], [5e-5, 5e-3], &[]),
        ("no longer", [1e-5, 2e-3], [5e-5, 5e-3], &["lz4"]),
        (
            "the large one shorter",
            [2e-5, 0.9e-3],
            [5e-5, 5e-3],
            &["lz4"],
        ),
        ("large beside small", [2e-5, 2e-3], [5e-3, 5e-3], &["xz"]),
        ("both", [0.9e-5, 0.9e-3], [0.0, 0.0], &["lz4", "xz"]),
    ];
    for (name, lz4, xz, disturbed) in cases {
        let times = stored.into_iter().chain(lz4).chain(xz).enumerate();
        let passes: Vec<Pass> = times
            .map(|(sample, block_s)| Pass {
                sample,
                threads: 1,
                wall_s: block_s,
                on_processor_s: block_s,
            })
            .collect();
        let fitted = ReaderFigures::of(&samples, &passes, true, 5).unwrap();
        assert_eq!(fitted.disturbed(&samples), disturbed, "{name}");
        for it in &fitted.decompression {
            assert!(it.bytes_per_s > 0.0 && it.bytes_per_s.is_finite() && it.block_s >= 0.0);
        }
        assert_near(fitted.threads_gain, 1.0);
    }
}
