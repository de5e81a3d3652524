use std::collections::BTreeMap;

use coldpress_format::{BlockSize, Compressor};
use coldpress_host::{BlockTime, Decompression, MemoryFigures, Readahead};

use super::*;

const READ_AHEAD_BYTES: u64 = 4 << 20;

fn figures(request_s: f64, bandwidth_bytes_per_s: f64, reads_per_s: f64) -> MediumFigures {
    let read_s = |bytes: f64| request_s + bytes / bandwidth_bytes_per_s;
    MediumFigures {
        made_unix_ms: 0,
        path: "/".to_owned(),
        request_s: read_s(4_096.0),
        large_request_s: read_s(131_072.0),
        huge_request_s: read_s(1_048_576.0),
        bandwidth_bytes_per_s,
        reads_per_s,
        reads_in_flight: 8,
        read_ahead_bytes: Some(READ_AHEAD_BYTES),
    }
}

/// A disk of 1 ms and 500 MB/s, a stick that is a little slower than its preset, memory of 4.096
/// GB/s, and xz at 64 MB/s.
fn kept() -> Calibration {
    let mut kept = Calibration::of(&machine());
    kept.machine.cores = 6;
    kept.media = BTreeMap::from([
        (MEDIUM.to_owned(), figures(1e-3, 5e8, 4_000.0)),
        ("usb2".to_owned(), figures(2e-3, 2.4e7, 390.0)),
    ]);
    kept.memory = Some(MemoryFigures {
        made_unix_ms: 0,
        copy_bytes_per_s: 4.096e9,
        fault_s: 7e-7,
        pages_per_fault: 16.0,
    });
    let block = |block_bytes: u32| BlockTime {
        block_bytes,
        time_s: f64::from(block_bytes) / 64e6,
        ratio: 0.3,
    };
    kept.reader = Some(ReaderFigures {
        made_unix_ms: 0,
        is_kernel: true,
        fill_page_s: 1.5e-6,
        stored_block_s: 0.0,
        lookup_s: Some(3e-6),
        lookup_reads: None,
        threads: 6,
        threads_gain: 5.0,
        decompression: vec![Decompression {
            compressor: "xz".to_owned(),
            block_s: 0.0,
            bytes_per_s: 64e6,
            blocks: vec![block(16 << 10), block(128 << 10), block(1 << 20)],
        }],
    });
    kept
}

fn assert_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
}

#[test]
fn without_a_calibration_presets_slow_down_a_default_disk() {
    for (text, limit_bytes_per_s, reads_per_s, via_file) in [
        ("host", None, None, false),
        ("usb2", Some(25e6), Some(400.0), false),
        ("hdd,via=file", Some(120e6), Some(100.0), true),
        ("iops=7", None, Some(7.0), false),
    ] {
        let target = Target::of(text, None).unwrap();
        let expected = Medium {
            limit_bytes_per_s,
            reads_per_s,
            via_file,
            ..Medium::HOST
        };
        assert_eq!(target.medium, expected, "{text}");
        assert_eq!(target.machine, Machine::default());
        assert!(!target.is_calibrated && target.name == text);
    }
}

#[test]
fn a_calibration_is_the_disk_below_all_presets() {
    let kept = kept();
    for (text, limit, reads, readahead_bytes) in [
        ("calibrated", None, None, Medium::HOST.readahead_bytes),
        ("host", None, None, Medium::HOST.readahead_bytes),
        ("calibrated,via=file", None, None, READ_AHEAD_BYTES),
        // At its word, whatever was measured.
        (
            "usb2",
            Some(25e6),
            Some(400.0),
            Medium::HOST.readahead_bytes,
        ),
        ("sd", Some(20e6), Some(500.0), Medium::HOST.readahead_bytes),
        (
            "calibrated,bw=1M",
            Some(1e6),
            None,
            Medium::HOST.readahead_bytes,
        ),
    ] {
        let medium = Target::of(text, Some(&kept)).unwrap().medium;
        assert_near(medium.request_s, 1e-3);
        assert_near(medium.bandwidth_bytes_per_s, 5e8);
        assert_eq!(
            (medium.limit_bytes_per_s, medium.reads_per_s),
            (limit, reads),
            "{text}"
        );
        assert_eq!(medium.readahead_bytes, readahead_bytes, "{text}");
    }
}

#[test]
fn measured_speeds_take_the_place_of_defaults() {
    let kept = kept();
    let target = Target::of("usb2", Some(&kept)).unwrap();
    assert!(target.is_calibrated);
    let machine = target.machine;
    assert_eq!(machine.cores, 6);
    assert_near(machine.speeds.copy_bytes_per_s, 4.096e9);
    assert_near(machine.speeds.page_s, 0.5e-6);
    assert_near(machine.speeds.miss_s, 7e-7);
    assert_near(machine.speeds.lookup_s, 3e-6);
    for bytes in [4 << 10, 16 << 10, 128 << 10, 1 << 20] {
        let found = machine.speeds.decompression_s(Compressor::Xz, bytes, bytes);
        // With the copy that a stored block would need instead.
        assert_near(found, f64::from(bytes) * (1.0 / 64e6 + 1.0 / 4.096e9));
    }
    let default = Machine::default().speeds;
    let (gzip, bytes) = (Compressor::Gzip, BlockSize::DEFAULT.bytes());
    assert_near(
        machine.speeds.decompression_s(gzip, bytes, bytes),
        default.decompression_s(gzip, bytes, bytes),
    );
}

#[test]
fn speeds_of_user_space_are_not_taken_for_the_kernels() {
    let mut kept = kept();
    kept.reader.as_mut().unwrap().is_kernel = false;
    let target = Target::of("usb2", Some(&kept)).unwrap();
    assert!(!target.is_calibrated);
    let machine = target.machine;
    let default = Machine::default().speeds;
    assert_near(machine.speeds.page_s, default.page_s);
    let (xz, bytes) = (Compressor::Xz, BlockSize::DEFAULT.bytes());
    assert_near(
        machine.speeds.decompression_s(xz, bytes, bytes),
        default.decompression_s(xz, bytes, bytes),
    );
}

#[test]
fn a_kernel_whose_configuration_is_unknown_is_judged_by_its_threads() {
    let mut this = machine();
    let kept = kept();
    for (configured, kept, expected) in [
        ("single", Some(&kept), Decompressors::Single),
        ("multi", None, Decompressors::Multi),
        ("percpu", None, Decompressors::PerCpu),
        ("set by mount option", Some(&kept), Decompressors::Multi),
        ("unknown", Some(&kept), Decompressors::Multi),
        ("unknown", None, Decompressors::Single),
    ] {
        configured.clone_into(&mut this.squashfs_decompressor);
        this.squashfs_cached_fragments = Some(5);
        let expected = Reader::Kernel {
            decompressors: expected,
            fragment_slots: 5,
            metadata_slots: 8,
        };
        assert_eq!(kernel(&this, kept), expected, "{configured}");
    }
}

#[test]
fn wrong_descriptions_are_told() {
    for (text, told) in [
        ("calibrated", "nothing was measured"),
        ("calibrated,usb2", "must come first"),
        ("calibratedx", "is not a known device"),
        ("floppy", "is not a known device"),
    ] {
        let error = Target::of(text, None).unwrap_err();
        assert!(error.to_string().contains(told), "{text}: {error}");
    }
}

#[test]
fn what_is_predicted_and_what_is_measured_begin_with_the_same_readahead() {
    assert_eq!(Medium::HOST.readahead_bytes, Readahead::DISK_KIB * 1024);
}
