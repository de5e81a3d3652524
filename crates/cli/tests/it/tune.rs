//! `coldpress tune`: what it recommends, for whom, and what other tools make of it.

use std::fs;
use std::path::Path;
use std::process::Command;

use coldpress_layout::Plan;
use coldpress_trace::{Access, Event, Trace};
use serde_json::Value;

use crate::run::{Session, Stage, program};
use crate::skip;

/// Parts of a source: directories `part-00` and so on, each with some files of which a start reads
/// one.
const PARTS: usize = 12;
const FILES: usize = 5;

/// Writes a source whose text and tables compress, some 1 MB.
fn write_source(root: &Path) {
    for part in 0..PARTS {
        let directory = root.join(format!("part-{part:02}"));
        fs::create_dir_all(&directory).unwrap();
        for file in 0..FILES {
            let line = |number: usize| format!("{part} {file} value {}\n", number * 7_919 % 4_001);
            let lines: String = (0..200 + 130 * file).map(line).collect();
            fs::write(directory.join(format!("file-{file}")), lines).unwrap();
        }
    }
    let word = |number: u32| (number.wrapping_mul(2_654_435_761) >> 11).to_le_bytes();
    let table: Vec<u8> = (0..100_000).flat_map(word).collect();
    fs::write(root.join("table"), table).unwrap();
}

/// A start that reads one file of each part, from its beginning to its end.
fn trace() -> Trace {
    let paths = (0..PARTS).map(|part| format!("/part-{part:02}/file-3"));
    let events = paths.zip(1..).map(|(path, time)| Event {
        time_us: time * 1000,
        pid: 1,
        access: Access::Read {
            first_page: 0,
            last_page: 1,
        },
        path: path.into_bytes(),
    });
    Trace {
        events: events.collect(),
        ..Trace::default()
    }
}

fn stage() -> Stage {
    let stage = Stage::new();
    write_source(&stage.at("source"));
    let mut text = Vec::new();
    trace().write(&mut text).unwrap();
    fs::write(stage.at("start.trace"), text).unwrap();
    stage
}

/// `tune source` with more words, as JSON.
fn tuned(stage: &Stage, more: &str) -> Value {
    let words = "-q tune source --default-speeds --json".split(' ');
    stage.done(words.chain(more.split(' '))).json()
}

/// The recommended image.
fn recommended(told: &Value) -> &Value {
    let place = usize::try_from(told["recommended"].as_u64().unwrap()).unwrap();
    &told["images"][place]
}

/// Those that are no tool's default.
fn proposed(told: &Value) -> impl Iterator<Item = &Value> {
    let images = told["images"].as_array().unwrap().iter();
    images.filter(|image| image["default_of"].is_null())
}

fn number(image: &Value, name: &str) -> f64 {
    image[name].as_f64().unwrap()
}

/// What does not depend on how long compressing samples took.
fn lasting(mut told: Value) -> Value {
    told["why"] = Value::Null;
    for image in told["images"].as_array_mut().unwrap() {
        image["predicted_build_s"] = Value::Null;
        image["is_front"] = Value::Null;
    }
    told
}

#[test]
fn the_same_start_gives_the_same_recommendation_for_any_number_of_threads() {
    let stage = stage();
    let one = tuned(
        &stage,
        "--trace start.trace --fast --device usb2 -j 1 --build-memory 1G",
    );
    let two = tuned(
        &stage,
        "--trace start.trace --fast --device usb2 -j 2 --build-memory 1G",
    );
    assert_eq!(one["recommended"], two["recommended"]);
    let settings = |told: &Value| {
        let mut told = lasting(told.clone());
        // More threads have more blocks in flight.
        for image in told["images"].as_array_mut().unwrap() {
            image["predicted_memory_bytes"] = Value::Null;
        }
        told
    };
    assert_eq!(settings(&one), settings(&two));
}

#[test]
fn a_plan_needs_fewer_reads_and_is_recommended_on_a_slow_medium() {
    let stage = stage();
    let told = tuned(&stage, "--trace start.trace --fast --device usb2");
    let chosen = recommended(&told);
    assert_eq!(chosen["order"], "plan", "{chosen}");
    let alike = |image: &&Value| {
        let same = ["compressor", "level", "block_size_bytes", "tails"];
        image["order"] == "tree" && same.iter().all(|name| image[name] == chosen[name])
    };
    let unplanned = proposed(&told).find(alike).unwrap();
    for name in ["predicted_s", "predicted_reads", "predicted_read_bytes"] {
        let (planned, unplanned) = (number(chosen, name), number(unplanned, name));
        assert!(planned < unplanned, "{name}: {planned} of {unplanned}");
    }
    let soonest = proposed(&told).map(|image| number(image, "predicted_s"));
    let soonest = soonest.fold(f64::INFINITY, f64::min);
    assert!(number(chosen, "predicted_s") <= soonest * 1.031);
    let tools = told["images"].as_array().unwrap().iter();
    let tools = tools.filter_map(|image| image["default_of"].as_str());
    assert_eq!(
        tools.collect::<Vec<_>>(),
        ["mksquashfs", "snap", "Tails", "enroot", "appimagetool"]
    );
}

#[test]
fn without_a_start_everything_is_read_and_there_is_no_plan() {
    let stage = stage();
    let told = tuned(&stage, "--fast");
    assert!(proposed(&told).all(|image| image["order"] == "tree"));
    assert_eq!(proposed(&told).count(), 6 * 2 * 2);
    // Each of the files is read, whatever the compressor.
    for image in proposed(&told).filter(|image| image["compressor"].is_null()) {
        assert!(number(image, "predicted_read_bytes") > 400_000.0, "{image}");
    }
}

#[test]
fn limits_and_targets_leave_out_what_does_not_keep_them() {
    let stage = stage();
    let all = tuned(&stage, "--fast --trace start.trace");
    let sizes = proposed(&all).map(|image| number(image, "predicted_size_bytes"));
    let least = sizes.fold(f64::INFINITY, f64::min);
    let limit = format!("--fast --trace start.trace --max-size {least}");
    let small = tuned(&stage, &limit);
    assert!(number(recommended(&small), "predicted_size_bytes") <= least);
    let read = tuned(&stage, "--fast --trace start.trace --target openwrt");
    assert!(proposed(&read).all(|image| image["compressor"] == "xz"));
    let few = tuned(&stage, "-c zstd,none -b 64K,1M --trace start.trace");
    let names: Vec<_> = proposed(&few)
        .map(|image| image["name"].as_str().unwrap())
        .collect();
    // Small blocks with tail ends in two ways, large ones in three; with the plan and without.
    assert_eq!(names.len(), 4 * (2 + 3) * 2, "{names:?}");
    let none = stage.run("-q tune source --fast --max-size 1K".split(' '));
    assert_eq!(none.code, Some(2));
    assert!(
        none.stderr
            .contains("no image keeps the limits: the smallest has "),
        "{}",
        none.stderr
    );
    assert!(
        none.stderr.contains("hint: raise --max-size"),
        "{}",
        none.stderr
    );
}

#[test]
fn what_is_recommended_can_be_built_and_is_as_large_as_predicted() {
    let stage = stage();
    let told = tuned(&stage, "--trace start.trace --plan-out start.plan --fast");
    let line = told["build"].as_str().unwrap();
    assert!(line.ends_with(" --plan start.plan"), "{line}");
    let words = line.split(' ').skip(1);
    stage.done(words.map(|word| if word == "IMAGE" { "image" } else { word }));
    let plan = Plan::parse(&fs::read(stage.at("start.plan")).unwrap()).unwrap();
    assert!(!plan.data.is_empty() && !plan.inodes.is_empty());
    let size = fs::metadata(stage.at("image")).unwrap().len();
    let predicted = number(recommended(&told), "predicted_size_bytes");
    #[expect(clippy::cast_precision_loss, reason = "some MB")]
    let off = (size as f64 - predicted).abs();
    // A small image is padded to 4 KiB, and its tables are a large part of it.
    assert!(
        off <= predicted * 0.02 + 8192.0,
        "{size} bytes, {predicted} predicted"
    );
}

#[test]
fn other_tools_understand_what_they_are_told() {
    if skip::without_peer("mksquashfs") || skip::without_peer("gensquashfs") {
        return;
    }
    let stage = stage();
    for compressor in ["gzip", "lzo", "lz4", "xz", "zstd", "none"] {
        let told = tuned(
            &stage,
            &format!("--fast --trace start.trace --plan-out plan -c {compressor} -b 64K"),
        );
        let equivalents = told["equivalents"].as_array().unwrap();
        for tool in ["mksquashfs", "gensquashfs"] {
            let found = equivalents
                .iter()
                .find(|found| found["tool"] == tool)
                .unwrap();
            let Some(line) = found["lines"][0].as_str() else {
                assert_eq!((tool, compressor), ("gensquashfs", "none"));
                continue;
            };
            let image = format!("{compressor}.{tool}");
            let convert = format!("-q plan convert plan --from plan --to {tool} -o {tool}.sort");
            // It warns of what a sort file cannot say.
            stage.run(convert.split(' '));
            let words = line
                .replace("SOURCE", "source")
                .replace("IMAGE", &image)
                .replace("SORT-FILE", &format!("{tool}.sort"));
            program(
                Command::new("sh")
                    .args(["-c", &words])
                    .current_dir(stage.directory()),
            );
            let info = stage.done(["info", image.as_str()]).text();
            assert!(
                info.contains("block size         64.0 KiB"),
                "{words}: {info}"
            );
            let is_compressed = compressor == "none" || info.contains(compressor);
            assert!(is_compressed, "{words}: {info}");
        }
    }
}

#[test]
fn the_table_marks_one_and_the_report_has_no_links() {
    let stage = stage();
    let words = "tune source --trace start.trace --fast --default-speeds --report report.html";
    let ran = stage.done(words.split(' '));
    let text = ran.text();
    let begins = |part: &str| {
        let lines = text.lines();
        lines
            .filter(|line| line.trim_start().starts_with(part))
            .count()
    };
    assert_eq!(begins("* "), 1, "{text}");
    for part in [
        "snap: xz 6, 128K, no fragments ",
        "Blocks of ",
        "coldpress build source IMAGE -c ",
        "mksquashfs SOURCE IMAGE -comp ",
    ] {
        assert_eq!(begins(part), 1, "{part}: {text}");
    }
    let html = fs::read_to_string(stage.at("report.html")).unwrap();
    assert!(html.contains("The image to build") && html.contains("squashfsCompression"));
    assert!(html.contains("predicted cold start") && html.contains(", on the front</title>"));
    assert!(!html.contains("<link") && !html.contains(" src="));
    // A reader that goes away early is no failure.
    let mut head = crate::run::command();
    let head = head.current_dir(stage.directory()).args(words.split(' '));
    let mut child = head
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

/// A start of a shell that reads what [`trace`] tells.
const START: &str = "cat $1/part-*/file-3 > /dev/null";

#[test]
fn a_command_is_recorded_and_press_predicts_what_it_measures() {
    if skip::without_measuring() {
        return;
    }
    let session = Session::new();
    write_source(&session.at("source"));
    let command = ["--", "/bin/sh", "-c", START, "sh", "{root}"];
    let words = "-q tune source --fast --json --default-speeds --device usb2".split(' ');
    let told = session.done(words.chain(command)).json();
    assert_eq!(recommended(&told)["order"], "plan");

    let words = "-q press source -o image --tune --runs 1 --json --device usb2".split(' ');
    let proof = session.done(words.chain(command)).json();
    let contestants = proof["study"]["contestants"].as_array().unwrap();
    let runs = proof["study"]["runs"].as_array().unwrap();
    for (contestant, index) in contestants.iter().zip(0_u64..) {
        let run = runs.iter().find(|run| run["contestant"] == index).unwrap();
        for (predicted, measured) in [
            ("predicted_reads", "reads"),
            ("predicted_read_bytes", "read_bytes"),
        ] {
            let (predicted, measured) = (
                number(&contestant["figures"], predicted),
                number(&run["figures"], measured),
            );
            let ratio = predicted / measured;
            assert!(
                (0.8..1.25).contains(&ratio),
                "{contestant}: {predicted}, but {measured}"
            );
        }
    }
}

#[test]
fn one_image_serves_devices_by_their_shares_or_the_one_that_would_lose_most() {
    let stage = stage();
    let population = "--trace start.trace --fast --device sd=1,ssd=8,hdd=1";
    let told = tuned(&stage, population);
    let devices = told["devices"].as_array().unwrap();
    let names: Vec<_> = devices.iter().map(|it| it["device"].as_str()).collect();
    assert_eq!(names, [Some("sd"), Some("ssd"), Some("hdd")]);
    let image = recommended(&told);
    let expected_s: f64 = devices
        .iter()
        .map(|it| number(it, "share") * number(it, "predicted_s"))
        .sum();
    assert!((number(image, "predicted_s") / expected_s - 1.0).abs() < 1e-9);
    // A device alone is told the same as among others.
    for (place, device) in ["sd", "ssd", "hdd"].iter().enumerate() {
        let alone = tuned(
            &stage,
            &format!("--trace start.trace --fast --device {device}"),
        );
        let starts_s = |told: &Value, figure: &dyn Fn(&Value) -> f64| {
            proposed(told).map(figure).collect::<Vec<_>>()
        };
        let among = starts_s(&told, &|it| {
            it["predicted_device_s"][place].as_f64().unwrap()
        });
        let alone_s = starts_s(&alone, &|it| number(it, "predicted_s"));
        assert_eq!(format!("{among:?}"), format!("{alone_s:?}"), "{device}");
        let soonest_s = alone_s.into_iter().fold(f64::INFINITY, f64::min);
        assert!((number(&devices[place], "soonest_s") / soonest_s - 1.0).abs() < 1e-9);
    }
    // No other image loses clearly less where it loses most.
    let robust = tuned(&stage, &format!("{population} --robust"));
    let largest_loss = |image: &Value| {
        let losses = robust["devices"].as_array().unwrap().iter().enumerate();
        let losses = losses.map(|(place, device)| {
            image["predicted_device_s"][place].as_f64().unwrap() / number(device, "soonest_s")
        });
        losses.fold(1.0, f64::max)
    };
    let least = proposed(&robust)
        .map(largest_loss)
        .fold(f64::INFINITY, f64::min);
    assert!(largest_loss(recommended(&robust)) <= least * 1.03);
}

#[test]
fn the_best_of_several_readaheads_is_recommended() {
    let stage = stage();
    let figures = |readahead: &str| {
        let told = tuned(
            &stage,
            &format!("--trace start.trace --fast --device usb2 --readahead {readahead}"),
        );
        let figures = proposed(&told).map(|image| {
            let readahead = image["readahead"].as_str().unwrap().to_owned();
            (readahead, number(image, "predicted_s"))
        });
        figures.collect::<Vec<_>>()
    };
    let (none, large, best) = (figures("0"), figures("512K"), figures("0,512K"));
    assert_eq!(none.len(), best.len());
    for ((none, large), best) in none.iter().zip(&large).zip(&best) {
        assert_eq!(best, if none.1 <= large.1 { none } else { large });
    }
    assert!(none != large, "readahead decides nothing here");
}

#[test]
fn a_readahead_is_part_of_what_is_recommended() {
    let stage = stage();
    // Five pages of a large file, far from each other: readahead reads what nobody needs.
    let faults = [10, 30, 50, 70, 90].map(|page| format!("{page}000 1 F {page} /table\n"));
    let text = format!("coldpress-trace 1\n{}", faults.concat());
    fs::write(stage.at("faults.trace"), text).unwrap();
    let words = "--trace faults.trace --fast -c lzo --block-sizes 4K --device bw=1M,iops=2000";
    let told = tuned(&stage, words);
    let readaheads = told["readaheads"].as_array().unwrap().iter();
    let readaheads: Vec<&str> = readaheads.map(|it| it.as_str().unwrap()).collect();
    assert_eq!(readaheads, ["0", "16K", "128K", "512K", "kernel"]);
    let starts_s = recommended(&told)["predicted_readahead_s"]
        .as_array()
        .unwrap();
    let starts_s: Vec<f64> = starts_s.iter().map(|it| it.as_f64().unwrap()).collect();
    let soonest_s = starts_s.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(starts_s[4] > soonest_s * 1.03, "{starts_s:?}");
    let advised = told["recommended_readahead"].as_str().unwrap();
    let place = readaheads.iter().position(|it| *it == advised).unwrap();
    assert!(starts_s[place] <= soonest_s);
    let ran = stage.done(format!("-q tune source --default-speeds {words}").split(' '));
    let text = String::from_utf8(ran.stdout).unwrap();
    let set = format!("\ncoldpress readahead MOUNT --set {advised}\n");
    assert!(text.contains(&set), "{text}");
    assert!(text.contains("with the loop device's own in"), "{text}");
    // Reading everything sets nothing.
    let told = tuned(&stage, "--fast -c lz4");
    assert_eq!(told["readaheads"].as_array().unwrap().len(), 1);
}
