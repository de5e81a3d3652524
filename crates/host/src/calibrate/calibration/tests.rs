use super::*;

fn medium() -> MediumFigures {
    MediumFigures {
        made_unix_ms: 1,
        path: "/var".to_owned(),
        request_s: 1e-4,
        large_request_s: 2e-4,
        huge_request_s: 1e-3,
        bandwidth_bytes_per_s: 1.5e9,
        reads_per_s: 20_000.0,
        reads_in_flight: 8,
        read_ahead_bytes: Some(131_072),
    }
}

fn full() -> Calibration {
    let block = |block_bytes, time_s| BlockTime {
        block_bytes,
        time_s,
        ratio: 0.4,
    };
    Calibration {
        version: VERSION,
        machine: CalibratedMachine {
            kernel: "6.18".to_owned(),
            architecture: "x86_64".to_owned(),
            cpu_model: "Fast \"CPU\"".to_owned(),
            cores: 2,
            squashfs_decompressor: "single".to_owned(),
        },
        media: BTreeMap::from([
            ("usb2".to_owned(), medium()),
            ("calibrated".to_owned(), medium()),
        ]),
        memory: Some(MemoryFigures {
            made_unix_ms: 2,
            copy_bytes_per_s: 8e9,
            fault_s: 1e-6,
            pages_per_fault: 16.0,
        }),
        reader: Some(ReaderFigures {
            made_unix_ms: 3,
            is_kernel: true,
            fill_page_s: 4e-7,
            stored_block_s: 0.0,
            lookup_s: Some(2e-6),
            lookup_reads: Some(0.01),
            threads: 2,
            threads_gain: 1.0,
            decompression: vec![Decompression {
                compressor: "zstd".to_owned(),
                block_s: 1e-5,
                bytes_per_s: 4e8,
                blocks: vec![block(16_384, 5e-5), block(1 << 20, 2.6e-3)],
            }],
        }),
    }
}

#[test]
fn a_calibration_is_read_as_it_was_written() {
    for calibration in [full(), Calibration::of(&crate::machine())] {
        let text = calibration.write().unwrap();
        assert_eq!(Calibration::parse(text.as_bytes()).unwrap(), calibration);
        assert_eq!(calibration.write().unwrap(), text);
        assert!(text.ends_with("}\n"));
    }
    assert!(Calibration::of(&crate::machine()).is_of(&crate::machine()));
    assert!(!full().is_of(&crate::machine()));
}

#[test]
fn names_are_sorted() {
    let text = full().write().unwrap();
    let at = |name: &str| text.find(&format!("\"{name}\"")).unwrap();
    for pair in [
        ("machine", "media"),
        ("media", "memory"),
        ("memory", "reader"),
        ("reader", "version"),
        ("calibrated", "usb2"),
        ("block_s", "blocks"),
    ] {
        assert!(at(pair.0) < at(pair.1), "{pair:?}");
    }
}

#[test]
fn figures_that_cannot_be_are_named() {
    type Change = fn(&mut Calibration);
    let changes: [(&str, Change); 6] = [
        ("media.usb2.request_s", |of| {
            of.media.get_mut("usb2").unwrap().request_s = 0.0;
        }),
        ("media.usb2.reads_per_s", |of| {
            of.media.get_mut("usb2").unwrap().reads_per_s = f64::INFINITY;
        }),
        ("memory.fault_s", |of| {
            of.memory.as_mut().unwrap().fault_s = -1.0;
        }),
        ("reader.lookup_s", |of| {
            of.reader.as_mut().unwrap().lookup_s = Some(f64::NAN);
        }),
        ("reader.decompression.zstd.bytes_per_s", |of| {
            of.reader.as_mut().unwrap().decompression[0].bytes_per_s = 0.0;
        }),
        ("reader.decompression.zstd.blocks.ratio", |of| {
            of.reader.as_mut().unwrap().decompression[0].blocks[1].ratio = -0.5;
        }),
    ];
    for (expected, change) in changes {
        let mut calibration = full();
        change(&mut calibration);
        match calibration.write() {
            Err(NotACalibration::Figure { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
}

#[test]
fn other_texts_are_refused_with_the_reason() {
    let text = full().write().unwrap();
    let later = text.replace("\"version\": 1", "\"version\": 2");
    let zero = text.replace("\"threads_gain\": 1.0", "\"threads_gain\": 0.0");
    let empty = text.replace("\"threads_gain\": 1.0", "\"threads_gain\": null");
    let long = " ".repeat(MAX_TEXT_BYTES + 1);
    for (text, reason) in [
        ("", "not the JSON"),
        ("[]", "not the JSON"),
        ("{}", "not the JSON"),
        ("{\"version\": 1}", "not the JSON"),
        (&later, "version is 2"),
        (&zero, "`reader.threads_gain` is 0"),
        (&empty, "not the JSON"),
        (&text[..text.len() / 2], "not the JSON"),
        (&long, "at most"),
    ] {
        let error = Calibration::parse(text.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(reason), "{reason}: {error}");
    }
}

#[test]
fn a_read_is_a_request_and_its_bytes() {
    let of = |request_s, bandwidth_bytes_per_s: f64| {
        let read_s = |bytes: f64| request_s + bytes / bandwidth_bytes_per_s;
        MediumFigures {
            request_s: read_s(4_096.0),
            large_request_s: read_s(131_072.0),
            huge_request_s: read_s(1_048_576.0),
            ..medium()
        }
    };
    for (request_s, bandwidth_bytes_per_s) in [(1e-4, 1e9), (0.01, 1.2e8), (0.0, 2.5e7)] {
        let (found_s, found) = of(request_s, bandwidth_bytes_per_s).request_and_bandwidth();
        assert!((found_s - request_s).abs() < 1e-9, "{found_s}");
        assert!(
            (found / bandwidth_bytes_per_s - 1.0).abs() < 1e-6,
            "{found}"
        );
    }
}
