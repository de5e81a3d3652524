//! `coldpress press` with the running kernel: everything that it writes, and the gain in reads and
//! bytes, which are the same each time; times are for benchmarks.

mod archives;
mod failures;
mod killed;
pub(crate) mod source;
pub(crate) mod unprivileged;

use std::collections::BTreeSet;
use std::fs;
use std::iter;

use coldpress_format::{Body, File};
use coldpress_history::{Measured, Study};
use coldpress_image::Image;
use coldpress_layout::{Plan, PlanItem};
use coldpress_trace::{Profile, Trace};
use serde_json::Value;

use crate::run::{Session, names};
use crate::skip;

/// Reads a file of some blocks, then the same small file of each part: in an image without a plan
/// each lies in a block of its own.
const START: &str = "for file in $1/data/large-7 $1/app/lib/part-*/module-3; do \
                     dd if=$file of=/dev/null bs=4096 status=none || exit; done";

/// A session with a source.
fn session() -> Session {
    let session = Session::new();
    source::write(&session.at("source"));
    session
}

/// `press`, its options, and [`START`] as its command.
fn press_args(options: &str) -> Vec<&str> {
    let words = ["press", "source"].into_iter().chain(options.split(' '));
    words
        .chain(["--", "/bin/sh", "-c", START, "sh", "{root}"])
        .collect()
}

/// What [`START`] reads, in order.
fn started() -> Vec<Vec<u8>> {
    let small = (0..source::PARTS).map(|part| format!("/app/lib/part-{part:02}/module-3"));
    let paths = iter::once("/data/large-7".to_owned()).chain(small);
    paths.map(String::into_bytes).collect()
}

/// The samples, which are also what `--json` prints.
fn study(json: &[u8]) -> Study {
    let measured: Measured<Study, Value> = serde_json::from_slice(json).unwrap();
    assert_eq!(measured.summary["proven"], true);
    measured.study
}

/// Reads and bytes of the cold starts from a contestant.
fn reads(study: &Study, name: &str) -> Vec<(f64, f64)> {
    let mut contestants = study.contestants.iter();
    let index = contestants.position(|one| one.name == name).unwrap();
    let runs = study.runs.iter().filter(|run| run.contestant == index);
    runs.map(|run| {
        assert_eq!(run.excluded, None, "{run:?}");
        assert!(run.figures["resident_pages"] < 1.0, "{run:?}");
        (run.figures["reads"], run.figures["read_bytes"])
    })
    .collect()
}

/// Demands at most half of the reads and bytes of the image without the plan, in each run.
fn demand_gain(study: &Study) {
    let (plain, pressed) = (reads(study, "unplanned"), reads(study, "pressed"));
    assert_eq!(plain.len(), pressed.len());
    for ((plain_reads, plain_bytes), (reads, bytes)) in plain.into_iter().zip(pressed) {
        assert!(
            0.0 < reads && reads * 2.0 <= plain_reads,
            "{reads} of {plain_reads} reads"
        );
        assert!(
            0.0 < bytes && bytes * 2.0 <= plain_bytes,
            "{bytes} of {plain_bytes} bytes"
        );
    }
}

fn file(image: &Image, path: &str) -> File {
    match image.find(path.as_bytes()).unwrap().unwrap().1.body {
        Body::File(file) => file,
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn a_press_writes_a_verified_image_that_needs_fewer_reads() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    fs::write(session.at("image"), "old").unwrap();
    let options = "-o image --runs 2 --report report.html --samples samples.json";
    let ran = session.done(press_args(options));
    let verified = ran.stderr.contains("image: ") && ran.stderr.contains("; verified\n");
    assert!(verified, "{}", ran.stderr);
    assert!(ran.text().contains("\n reads "), "{}", ran.text());
    let expected = ["image", "report.html", "samples.json", "source"];
    assert_eq!(names(session.directory()), expected);
    assert_eq!(session.done(["check", "image"]).text(), "");
    let samples = study(&fs::read(session.at("samples.json")).unwrap());
    assert_eq!(samples.facts["turns"], "2");
    demand_gain(&samples);
    report_is_self_contained(&fs::read_to_string(session.at("report.html")).unwrap());
}

#[test]
fn what_a_start_reads_first_stands_first_in_plan_and_image() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    let options = "-q -o image --runs 1 --plan-out plan --trace-out trace --profile-out profile";
    session.done(press_args(options));
    let started = started();
    let trace = Trace::parse(&fs::read(session.at("trace")).unwrap()).unwrap();
    let files = trace.working_set().files.into_iter();
    assert_eq!(files.map(|file| file.path).collect::<Vec<_>>(), started);

    let profile = Profile::parse(&fs::read(session.at("profile")).unwrap()).unwrap();
    assert_eq!(profile.steps, Profile::from(&trace).steps);
    let known = profile.files.keys().map(Vec::as_slice);
    assert!(known.eq(profile.data_paths()));

    let plan = Plan::parse(&fs::read(session.at("plan")).unwrap()).unwrap();
    assert_eq!(plan.data[0], PlanItem::Blocks(started[0].clone()));
    let packed = plan.data[1..].iter().flat_map(|item| match item {
        PlanItem::Fragment(paths) => paths.clone(),
        PlanItem::Blocks(path) => panic!("{}", path.escape_ascii()),
    });
    let small: Vec<_> = packed.filter(|path| *path != started[0]).collect();
    assert_eq!(small, started[1..]);
    assert_eq!([&plan.inodes[0], &plan.directories[0]], [b"/", b"/"]);

    let image = Image::open(&session.at("image")).unwrap();
    let start = |index| file(&image, &format!("/data/large-{index}")).start;
    assert!(
        start(7) < 200,
        "{}: behind superblock and options",
        start(7)
    );
    let others = (0..10).filter(|index| *index != 7).map(start);
    assert!(others.min() > Some(start(7)));
    let fragments = |module: usize| {
        let paths =
            (0..source::PARTS).map(|part| format!("/app/lib/part-{part:02}/module-{module}"));
        let tails = paths.map(|path| file(&image, &path).tail.unwrap().fragment);
        tails.collect::<BTreeSet<u32>>().len()
    };
    // 20 files of 16,500 bytes fill three blocks; those that are not of the plan are scattered.
    assert!(fragments(3) <= 4, "{}", fragments(3));
    assert!(fragments(4) >= 10, "{}", fragments(4));

    for ordered_by in [
        ["--plan", "plan"],
        ["--profile", "profile"],
        ["--profile", "trace"],
    ] {
        session.done([&["-q", "build", "source", "again"][..], &ordered_by].concat());
        let again = fs::read(session.at("again")).unwrap();
        assert!(
            fs::read(session.at("image")).unwrap() == again,
            "{ordered_by:?}"
        );
    }
}

fn report_is_self_contained(html: &str) {
    assert!(html.starts_with("<!doctype html>"));
    assert!(html.trim_end().ends_with("</html>"));
    assert!(html.contains("<svg") && html.contains("pressed") && html.contains("unplanned"));
    // What the script may do is tested in a browser.
    let (html, script) = html.split_once("<script").unwrap();
    assert!(!script.contains(" src="));
    for loads in [
        "<link", "<iframe", "<img", "@import", "url(", " src=", "<base",
    ] {
        assert!(!html.contains(loads), "{loads}");
    }
    for scheme in ["http:", "https:", "//"] {
        // Names of XML name spaces are not fetched.
        let outside = html.match_indices(scheme).find(|(at, _)| {
            let before = &html[..*at];
            !before.ends_with("=\"http:") && !before.ends_with("xmlns=\"")
        });
        assert_eq!(
            outside,
            None,
            "{:?}",
            outside.map(|(at, _)| &html[at.saturating_sub(40)..at])
        );
    }
}

#[test]
fn small_files_that_a_start_reads_whole_are_planned() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    let args = "-q press source -o image --runs 1 --samples samples -- /bin/sh -c";
    let script = "cat {root}/app/lib/part-*/module-6";
    session.done(args.split(' ').chain([script]));
    demand_gain(&study(&fs::read(session.at("samples")).unwrap()));
}

#[test]
fn a_root_file_system_is_pressed_from_inside() {
    if skip::without_measuring() {
        return;
    }
    let session = Session::new();
    source::write_root(&session.at("root"));
    let args = "-q press root -o image --chroot --runs 1 --json --plan-out plan -- /bin/sh -c";
    let ran = session.done(
        args.split(' ')
            .chain(["read -r line < /words && echo > /tmp/x"]),
    );
    let study = study(&ran.stdout);
    assert_eq!(study.facts["root_directory"], "the image");
    let runs = reads(&study, "pressed");
    assert!(runs.len() == 1 && runs[0].0 > 0.0, "{runs:?}");
    let plan = Plan::parse(&fs::read(session.at("plan")).unwrap()).unwrap();
    for path in [&b"/words"[..], b"/bin/sh", b"/proc", b"/dev", b"/tmp"] {
        let place = plan.inodes.iter().find(|planned| *planned == path);
        assert!(place.is_some(), "{}", path.escape_ascii());
    }
}

#[test]
fn what_is_excluded_is_in_none_of_the_images_that_are_compared() {
    if skip::without_measuring() || skip::without_peer("mksquashfs") {
        return;
    }
    let session = session();
    let options = "-q -o image --runs 1 --json --exclude data/large-3";
    let study = study(&session.done(press_args(options)).stdout);
    let size_bytes = |name: &str| {
        let mut contestants = study.contestants.iter();
        contestants.find(|one| one.name == name).unwrap().figures["size_bytes"]
    };
    let (theirs, ours) = (size_bytes("mksquashfs"), size_bytes("pressed"));
    // A large file that does not compress is a tenth of the whole.
    assert!(
        (0.95..1.05).contains(&(theirs / ours)),
        "{theirs} and {ours}"
    );
}

#[test]
fn a_given_plan_takes_the_place_of_the_recording() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    let items = (0..source::PARTS).map(|part| format!(" /app/lib/part-{part:02}/module-3\n"));
    let plan = format!(
        "coldpress-plan 1\n[data]\nblocks /data/large-7\nfragment\n{}",
        items.collect::<String>()
    );
    fs::write(session.at("plan"), &plan).unwrap();
    let ran = session.done(press_args(
        "-o image --plan plan --runs 1 --json --plan-out out",
    ));
    assert!(!ran.stderr.contains("recorded"), "{}", ran.stderr);
    // One value and nothing else on standard output.
    let study = study(&ran.stdout);
    demand_gain(&study);
    let contestants = study.contestants.iter();
    let names: Vec<&str> = contestants.map(|one| &*one.name).collect();
    assert!(names.ends_with(&["unplanned", "pressed"]), "{names:?}");
    let command = &study.facts["command"];
    assert!(command.ends_with(" sh {root}"), "{command}");
    let written = Plan::parse(&fs::read(session.at("out")).unwrap()).unwrap();
    assert_eq!(written, Plan::parse(plan.as_bytes()).unwrap());
}

#[test]
fn other_images_and_a_slow_device_take_part() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    session.done("-q build -c gzip -l 1 source other.sqfs".split(' '));
    let options = "-q -o image --runs 1 --json --against other.sqfs --device bw=60M,iops=4000 \
                   --readahead 0";
    let ran = session.done(press_args(options));
    assert_eq!(ran.stderr, "");
    let study = study(&ran.stdout);
    let device = &study.facts["device"];
    assert!(device.contains(": 60.0 MB/s, 4,000 reads/s; "), "{device}");
    assert_eq!(reads(&study, "other.sqfs").len(), 1);
    let ahead = |name: &str| {
        let index = study.contestants.iter().position(|one| one.name == name);
        study.values(index.unwrap(), "readahead_bytes")
    };
    assert_eq!(ahead("readahead 0"), vec![0.0]);
    assert_eq!(ahead("pressed"), vec![524_288.0]);
    demand_gain(&study);
}

#[test]
fn one_image_is_measured_on_each_of_several_devices() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    let options = "-q -o image --runs 1 --json --report report.html --tune --device nvme=3,ssd=1";
    let ran = session.done(press_args(options));
    let measured: Measured<Study, Value> = serde_json::from_slice(&ran.stdout).unwrap();
    let more = measured.summary["more_studies"].as_array().unwrap();
    let devices: Vec<String> = std::iter::once(measured.study.facts["device"].clone())
        .chain(
            more.iter()
                .map(|it| it["facts"]["device"].as_str().unwrap().to_owned()),
        )
        .map(|device| device.split(':').next().unwrap().to_owned())
        .collect();
    assert_eq!(devices, ["nvme", "ssd"]);
    // What a user has who sets no readahead is measured beside what was chosen.
    let contestants = measured.study.contestants.iter();
    let own = contestants.filter(|one| one.name == "readahead kernel");
    assert_eq!(own.count(), 1);
    let notes = measured.summary["notes"].as_array().unwrap();
    let losses = notes.iter().filter_map(|note| note[0].as_str());
    let losses: Vec<&str> = losses.filter(|name| name.starts_with("loss on")).collect();
    assert_eq!(losses, ["loss on nvme", "loss on ssd"]);
    let html = fs::read(session.at("report.html")).unwrap();
    report_is_self_contained(&String::from_utf8(html).unwrap());
}

#[test]
fn two_presses_in_one_directory_do_not_disturb_each_other() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    let children = ["first", "second"].map(|name| {
        let options = format!("-q -o {name} --runs 2 --json");
        session.start(&mut session.command(press_args(&options)))
    });
    for child in children {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert_eq!(stderr, "");
        demand_gain(&study(&output.stdout));
    }
    assert_eq!(names(session.directory()), ["first", "second", "source"]);
    assert!(fs::read(session.at("first")).unwrap() == fs::read(session.at("second")).unwrap());
}
