//! Two recorders see the same start: the kernel's events, and the requests of our own mount.

use std::collections::HashMap;
use std::fs;
use std::process::Command;

use coldpress_trace::Trace;

use crate::press::source;
use crate::run::{Session, program};
use crate::skip;

/// What python loads of the source: text that is read and libraries that are mapped.
const SCRIPT: &str = "import sys; sys.path.insert(0, '{root}'); \
    import email.message, json, asyncio, http.client, xml.dom.minidom, decimal, argparse, \
    logging.config, unittest.mock, csv, difflib, zipfile";

/// Records by `recorder`, as the trace's file.
pub(crate) fn record(session: &Session, recorder: &str, command: &[&str]) -> Trace {
    let args = [
        "-q",
        "record",
        "source",
        "-o",
        "trace",
        "--recorder",
        recorder,
        "--",
    ];
    session.done([&args[..], command].concat());
    Trace::parse(&fs::read(session.at("trace")).unwrap()).unwrap()
}

/// The files whose data were used, in the order of their first use.
fn order(trace: &Trace) -> Vec<Vec<u8>> {
    let files = trace.working_set().files.into_iter();
    files.map(|file| file.path).collect()
}

/// Spearman's rank correlation of the files that both have.
#[expect(clippy::cast_precision_loss, reason = "a few hundred files")]
fn correlation(one: &[Vec<u8>], other: &[Vec<u8>]) -> f64 {
    let ranks: HashMap<&Vec<u8>, usize> = other.iter().zip(0..).collect();
    let mut common: Vec<usize> = one
        .iter()
        .filter_map(|path| ranks.get(path).copied())
        .collect();
    let mut sorted = common.clone();
    sorted.sort_unstable();
    for rank in &mut common {
        *rank = sorted.binary_search(rank).unwrap();
    }
    let n = common.len() as f64;
    let squares = common
        .iter()
        .enumerate()
        .map(|(index, rank)| (index as f64 - *rank as f64).powi(2));
    1.0 - 6.0 * squares.sum::<f64>() / (n * (n * n - 1.0))
}

fn cannot_run() -> bool {
    skip::without_recording() || skip::without_fuse()
}

#[test]
fn both_see_the_same_accesses_in_the_same_order() {
    if cannot_run() {
        return;
    }
    let session = Session::new();
    source::write(&session.at("source"));
    let script = "cd {root}; test -e app/share/text-50; test -e 'with space/none'; test -L app/link; \
                  ls app/bin > /dev/null; cat app/lib/part-03/module-1 app/link > /dev/null; \
                  dd if=data/large-5 of=/dev/null bs=4096 skip=7 count=2 status=none; test -d empty; \
                  dd if=data/large-5 of=/dev/null bs=$(stat -c %o data/large-5) count=1 status=none";
    let events = ["kernel", "fuse"].map(|recorder| {
        let trace = record(&session, recorder, &["/bin/sh", "-c", script]);
        let events = trace.events.into_iter();
        let events =
            events.map(|event| format!("{:?} {}", event.access, event.path.escape_ascii()));
        events.collect::<Vec<_>>()
    });
    assert_eq!(events[0], events[1]);
}

#[test]
fn both_see_the_files_of_python_in_the_same_order() {
    if cannot_run() || skip::without_peer("python3") {
        return;
    }
    let session = Session::new();
    let library = program(Command::new("python3").args([
        "-c",
        "import sysconfig; print(sysconfig.get_path('stdlib'))",
    ]));
    let library = library.text();
    // What no program imports takes ten times the room of the rest.
    let unused = ["site-packages", "dist-packages", "test", "config-"];
    let modules = fs::read_dir(library.trim()).unwrap();
    let modules = modules.map(|entry| entry.unwrap()).filter(|entry| {
        let name = entry.file_name();
        !unused
            .iter()
            .any(|unused| name.to_string_lossy().starts_with(unused))
    });
    fs::create_dir(session.at("source")).unwrap();
    let mut copy = Command::new("cp");
    copy.arg("-rL").args(modules.map(|entry| entry.path()));
    program(copy.arg(session.at("source")));
    let dynload = session.at("source/lib-dynload");
    let script = SCRIPT.replace(
        "'{root}'); ",
        "'{root}'); sys.path.insert(1, '{root}/lib-dynload'); ",
    );
    let orders = ["kernel", "fuse"].map(|recorder| {
        order(&record(
            &session,
            recorder,
            &["python3", "-I", "-c", &script],
        ))
    });
    assert!(dynload.is_dir(), "python has no libraries of its own");
    let [kernel, fuse] = &orders;
    let common = kernel.iter().filter(|path| fuse.contains(path)).count();
    assert!(common >= 50, "{common} files");
    assert_eq!((kernel.len(), fuse.len()), (common, common));
    let correlation = correlation(kernel, fuse);
    assert!(correlation >= 0.95, "{correlation}");
}
