//! `coldpress explain` with the running kernel: what was read, why again, and which functions were
//! needed.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::run::{Ran, Session, coldpress, program};
use crate::skip;

/// Files of which two fill a fragment block.
const SMALL_COUNT: usize = 40;
const SMALL_BYTES: usize = 50_000;
const LARGE_BYTES: usize = 1_000_000;

/// Bytes that do not compress.
fn noise(seed: usize, len_bytes: usize) -> Vec<u8> {
    let mut state = seed as u64 * 2 + 1;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33).to_le_bytes()[0]
    };
    std::iter::repeat_with(next).take(len_bytes).collect()
}

/// A session with an image of `source`.
fn session(write: impl FnOnce(&Path)) -> Session {
    let session = Session::new();
    let source = session.at("source");
    fs::create_dir(&source).unwrap();
    write(&source);
    session.done(["-q", "build", "source", "image"]);
    session
}

/// Explains a script of `/bin/sh`, which is not of the image.
fn explain(session: &Session, options: &[&str], script: &str) -> Ran {
    let args = [&["-q", "explain", "image", "--json"], options].concat();
    session.done(args.into_iter().chain(["--", "/bin/sh", "-c", script]))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

fn named<'a>(list: &'a Value, path: &str) -> &'a Value {
    let found = list
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["path"] == path);
    found.unwrap_or_else(|| panic!("{path} in {list:#}"))
}

#[test]
fn reads_agree_with_the_device_and_evicted_fragments_are_named() {
    if skip::without_recording() {
        return;
    }
    let session = session(|source| {
        for index in 0..SMALL_COUNT {
            let name = format!("small-{index:02}");
            fs::write(source.join(name), noise(index, SMALL_BYTES)).unwrap();
        }
        fs::write(source.join("large"), noise(99, LARGE_BYTES)).unwrap();
    });
    let every_other = (0..SMALL_COUNT).step_by(2).chain([1]);
    let files: Vec<String> = every_other
        .map(|index| format!("{{root}}/small-{index:02}"))
        .collect();
    let script = format!(
        "cat {} >/dev/null && dd if={{root}}/large of=/dev/null bs=4096 skip=10 count=1 status=none",
        files.join(" ")
    );
    let ran = explain(&session, &["--report", "report.html"], &script);
    let told = ran.json();

    let totals = &told["totals"];
    let (events, device) = (
        number(&totals["read_bytes"]),
        number(&totals["device_bytes"]),
    );
    assert!(events.abs_diff(device) * 50 <= device, "{totals:#}");
    let parts =
        ["data_bytes", "fragment_bytes", "metadata_bytes"].map(|part| number(&totals[part]));
    assert_eq!(parts.iter().sum::<u64>(), events, "{totals:#}");
    // 20 fragment blocks and one again.
    assert!(parts[1] > 21 * 2 * 50_000, "{totals:#}");
    assert!(
        number(&totals["wall_us"]) > 0 && number(&totals["waited_us"]) > 0,
        "{totals:#}"
    );

    let small = named(&told["files"], "/small-00");
    let pages = (SMALL_BYTES as u64).div_ceil(4096) * 4096;
    assert_eq!(number(&small["used_bytes"]), pages, "{small:#}");
    assert_eq!(number(&small["device_reads"]), 1, "{small:#}");
    let again = named(&told["files"], "/small-01");
    assert_eq!(number(&again["device_reads"]), 1, "{again:#}");
    let large = named(&told["files"], "/large");
    assert_eq!(number(&large["used_bytes"]), 4096, "{large:#}");
    assert!(number(&large["unused_bytes"]) > 0, "{large:#}");

    let blocks = told["repeats"]["blocks"].as_array().unwrap();
    let fragments = || {
        blocks
            .iter()
            .filter(|block| block["kind"] == "fragment block")
    };
    assert_eq!(fragments().count(), 1, "{blocks:#?}");
    let fragment = fragments().next().unwrap();
    assert_eq!(fragment["reason"], "fragment-cache", "{fragment:#}");
    assert_eq!(number(&fragment["times"]), 2, "{fragment:#}");
    let page = fs::read_to_string(session.at("report.html")).unwrap();
    assert!(page.contains("evicted from the kernel&#39;s cache of fragment blocks"));
    assert!(page.contains("/small-01") && page.matches("<svg").count() == 2);
}

/// Functions, each far from the others, so that each is faulted on; the kernel maps 64 KiB around a
/// fault.
const FUNCTIONS: usize = 12;
/// The order in which the program calls them.
const CALLS: [usize; 7] = [7, 3, 11, 0, 5, 10, 2];

fn library() -> String {
    let function = |index: usize| {
        format!(
            "__attribute__((noinline, aligned(65536))) int far_{index}(int x) {{ return x * {index} + 1; }}\n"
        )
    };
    let functions: String = (0..FUNCTIONS).map(function).collect();
    format!(
        "static int begun;\n{functions}\
         __attribute__((constructor, aligned(65536))) void starter(void) {{ begun = 1; }}\n\
         __attribute__((aligned(65536))) int end(void) {{ return begun; }}\n"
    )
}

fn main_program() -> String {
    let declared = CALLS
        .map(|index| format!("int far_{index}(int);\n"))
        .concat();
    let called = CALLS.map(|index| format!("x = far_{index}(x);\n")).concat();
    format!("{declared}int main(void) {{ volatile int x = 1;\n{called} return x == 0; }}\n")
}

fn compile(source: &Path) {
    let at = |name: &str| source.join(name);
    let work = tempfile::tempdir().unwrap();
    let written = |name: &str, text: String| {
        let path = work.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let (library, main) = (
        written("far.c", library()),
        written("main.c", main_program()),
    );
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-shared", "-fPIC", "-Wl,-soname,libfar.so", "-o"])
        .arg(at("libfar.so"));
    program(cc.arg(library));
    let mut cc = Command::new("cc");
    // Resolved before main, so that the functions are needed when they are called and not before.
    cc.args(["-O0", "-Wl,-z,now", "-Wl,-rpath,$ORIGIN", "-o"])
        .arg(at("main"));
    program(cc.arg(main).arg(at("libfar.so")));
}

#[test]
fn functions_are_ordered_by_their_first_use() {
    if skip::without_recording() || skip::without_peer("cc") {
        return;
    }
    let session = session(compile);
    let options = [
        "--symbol-order",
        "libfar.so=order",
        "--symbol-order",
        "absent.so=none",
    ];
    let args = [
        &["-q", "explain", "image", "--json"],
        &options[..],
        &["--", "{root}/main"],
    ]
    .concat();
    let ran = session.run(args);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("error: no order of `absent.so`: the start did not use such a file"),
        "{}",
        ran.stderr
    );
    assert!(!session.at("none").exists());
    let told = ran.json();
    let library = named(&told["programs"], "/libfar.so");
    let initializers = library["initializers"].as_array().unwrap();
    assert!(
        initializers
            .iter()
            .any(|function| function["name"] == "starter"),
        "{library:#}"
    );
    assert!(number(&library["relocations"]) > 0, "{library:#}");
    let sections = library["sections"].as_array().unwrap();
    let text = sections
        .iter()
        .find(|section| section["name"] == ".text")
        .unwrap();
    let touched = number(&text["touched_pages"]);
    assert!((2..=number(&text["pages"])).contains(&touched), "{text:#}");
    // Addresses of faults are told on this architecture only.
    if cfg!(target_arch = "x86_64") {
        let order = fs::read_to_string(session.at("order")).unwrap();
        let is_ours = |name: &&str| name.starts_with("far_") || *name == "starter";
        let found: Vec<&str> = order.lines().filter(is_ours).collect();
        let calls = CALLS.iter().map(|index| format!("far_{index}"));
        let expected: Vec<String> = ["starter".to_owned()].into_iter().chain(calls).collect();
        assert_eq!(found, expected, "{order}");
        assert!(touched > CALLS.len() as u64, "{text:#}");
    }
}

#[test]
fn a_trace_tells_what_another_image_would_read() {
    let session = session(|source| {
        fs::write(source.join("large"), noise(1, LARGE_BYTES)).unwrap();
        fs::write(source.join("small"), noise(2, SMALL_BYTES)).unwrap();
    });
    let trace = "coldpress-trace 1\n# wall-us: 90000\n0 1 F 5 /large\n3 1 R 0-3 /large\n\
                 7 1 R 0-99 /small\n9 1 L /large\n11 1 R 0-0 /none\n";
    fs::write(session.at("trace"), trace).unwrap();
    let on_usb = ["--trace", "trace", "--json", "--device", "usb2"];
    let ran = session.done([&["explain", "image"][..], &on_usb].concat());
    let warning = "warning: the start asks for 1 path that the image does not have: `/none`";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    let told = ran.json();
    let predicted = session.done([&["-q", "predict", "image"][..], &on_usb].concat());
    let predicted = predicted.json();
    let totals = &told["totals"];
    for (figure, of_prediction) in [
        ("reads", "reads"),
        ("device_reads", "reads"),
        ("read_bytes", "read_bytes"),
        ("metadata_bytes", "metadata_bytes"),
        ("cached_bytes", "page_cache_bytes"),
    ] {
        assert_eq!(
            totals[figure], predicted[of_prediction],
            "{figure} {told:#}"
        );
    }
    let large = named(&told["files"], "/large");
    assert_eq!(number(&large["used_bytes"]), 5 * 4096, "{large:#}");
    // The block of the fault, and those around it.
    assert!(number(&large["device_reads"]) > 1, "{large:#}");
    let page = [
        "-q", "explain", "image", "--trace", "trace", "--report", "page",
    ];
    let text = session.done(page).text();
    assert!(
        text.contains("as predicted of `trace`, device host"),
        "{text}"
    );
    let page = fs::read_to_string(session.at("page")).unwrap();
    assert!(page.contains("Nothing was started") && page.matches("<svg").count() == 2);
    let both = session.run(["explain", "image", "--trace", "trace", "--", "true"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
}

#[test]
fn what_cannot_be_explained_is_told_before_anything_is_done() {
    let session = Session::new();
    fs::write(session.at("text"), "no image\n").unwrap();
    for (args, expected) in [
        (
            &["explain", "absent", "--", "true"][..],
            "cannot open `absent`",
        ),
        (
            &["explain", "text", "--", "true"],
            "`text` is not a SquashFS image",
        ),
        (
            &["explain", "text", "--report", "text", "--", "true"],
            "`text` is a source itself",
        ),
        (
            &["explain", "text", "--device", "floppy", "--", "true"],
            "is not a known device",
        ),
        (
            &["explain", "text", "--symbol-order", "libx.so", "--", "true"],
            "an order is a file of the image and a place",
        ),
    ] {
        let ran = session.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(fs::read(session.at("text")).unwrap(), b"no image\n");
    let without_command = coldpress(["explain", "text"]);
    assert_eq!(without_command.code, Some(2));
}

#[test]
fn an_image_inside_another_file_is_explained_where_it_lies() {
    if skip::without_recording() {
        return;
    }
    let session = session(|source| fs::write(source.join("file"), noise(1, 300_000)).unwrap());
    let image = fs::read(session.at("image")).unwrap();
    let command = ["--", "/bin/sh", "-c", "cat {root}/file >/dev/null"];
    let alone = explain(&session, &[], command[3]).json();
    for (front_bytes, options) in [
        (8192, &["--offset", "8192"][..]),
        (8192, &["--offset", "auto"]),
        (70_001, &["--offset", "auto", "--device", "host,via=file"]),
    ] {
        let app = [vec![b'x'; front_bytes], image.clone()].concat();
        fs::write(session.at("app"), app).unwrap();
        let args = [&["-q", "explain", "app", "--json"][..], options, &command].concat();
        let told = session.done(args).json();
        for figure in ["files", "used_bytes", "needed_bytes"] {
            let (told, alone) = (&told["totals"][figure], &alone["totals"][figure]);
            assert_eq!(told, alone, "{figure} {options:?}");
        }
        assert_eq!(told["files"][0]["path"], "/file");
    }
    // No sector begins there.
    let args = [&["explain", "app", "--offset", "auto"][..], &command].concat();
    let ran = session.run(args);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let told = "direct I/O cannot begin at byte 70001 of `app`";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(ran.stderr.contains("via=file"), "{}", ran.stderr);
}
