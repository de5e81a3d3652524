//! `coldpress record` with the running kernel: the trace says what was read, all of it, in order.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use coldpress_trace::Trace;

use crate::press::source;
use crate::run::Session;
use crate::skip;

/// Records a script of `/bin/sh`, which is not of the image.
const RECORD_SH: [&str; 8] = [
    "-q", "record", "source", "-o", "trace", "--", "/bin/sh", "-c",
];

/// A session with a source.
fn session() -> Session {
    let session = Session::new();
    source::write(&session.at("source"));
    session
}

/// Records a script and reads the trace.
fn record(session: &Session, script: &str) -> Trace {
    session.done(RECORD_SH.into_iter().chain([script]));
    Trace::parse(&fs::read(session.at("trace")).unwrap()).unwrap()
}

/// The events of a trace as its file has them, without times and processes.
pub(crate) fn accesses(trace: &Trace) -> Vec<String> {
    let mut text = Vec::new();
    trace.write(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let events = text.lines().skip(1).filter(|line| !line.starts_with('#'));
    events
        .map(|line| line.splitn(3, ' ').nth(2).unwrap().to_owned())
        .collect()
}

/// Reads pages of a file, each with a read(2) of its own.
fn read(path: &str, skip: usize, count: usize) -> String {
    format!(
        "dd if={{root}}/'{path}' of=/dev/null bs=4096 skip={skip} count={count} status=none || exit"
    )
}

#[test]
fn a_trace_names_what_was_accessed_and_nothing_else_in_order() {
    if skip::without_recording() {
        return;
    }
    let session = session();
    let script = [
        read("data/large-3", 100, 3),
        read("app/lib/part-07/module-1", 1, 1),
        read("data/large-3", 7, 1),
        "test -e {root}/app/share/text-50 || exit".to_owned(),
        "test -e {root}/with' 'space/none && exit 1".to_owned(),
        "test -L {root}/app/link || exit".to_owned(),
        "ls {root}/app/bin || exit".to_owned(),
        read("with space/a file", 0, 1),
        "test -d {root}/empty".to_owned(),
    ];
    let expected = [
        "D /",
        "L /data",
        "D /data",
        "L /data/large-3",
        // Three calls of read(2), one after the other.
        "R 100-102 /data/large-3",
        "L /app",
        "D /app",
        "L /app/lib",
        "D /app/lib",
        "L /app/lib/part-07",
        "D /app/lib/part-07",
        "L /app/lib/part-07/module-1",
        "R 1-1 /app/lib/part-07/module-1",
        "R 7-7 /data/large-3",
        // Looked up only.
        "L /app/share",
        "D /app/share",
        "L /app/share/text-50",
        // A name that is not there is searched in its directory.
        "L /with space",
        "D /with space",
        "L /app/link",
        // Listed; the names in it were not asked for.
        "L /app/bin",
        "D /app/bin",
        "L /with space/a file",
        "R 0-0 /with space/a file",
        "L /empty",
    ];
    assert_eq!(accesses(&record(&session, &script.join("; "))), expected);
}

/// `cat` asks for 128 KiB whatever the length, and many programs do alike.
#[test]
fn a_file_is_recorded_that_is_read_with_a_buffer_larger_than_it() {
    if skip::without_recording() {
        return;
    }
    let session = session();
    let script = "cat {root}/app/lib/part-02/module-4 {root}/with' 'space/a' 'file \
                  {root}/data/large-5 {root}/app/share/text-99";
    let set = record(&session, script).working_set();
    let text = fs::read(session.at("source/app/share/text-99")).unwrap();
    let expected = [
        ("/app/lib/part-02/module-4", source::module_bytes(2, 4)),
        ("/with space/a file", source::WORDS.len()),
        ("/data/large-5", source::LARGE_BYTES),
        ("/app/share/text-99", text.len()),
    ];
    assert_eq!(set.files.len(), expected.len(), "{:?}", set.files);
    for (file, (path, len_bytes)) in set.files.iter().zip(expected) {
        assert_eq!(file.path.escape_ascii().to_string(), path);
        let read = file.pages.iter().filter(|run| run.certain);
        let pages: BTreeSet<u64> = read
            .flat_map(|run| run.first_page..=run.last_page)
            .collect();
        let missing: Vec<u64> = (0..u64::try_from(len_bytes.div_ceil(4096)).unwrap())
            .filter(|page| !pages.contains(page))
            .collect();
        assert!(missing.is_empty(), "{path}: {missing:?}");
    }
}

#[test]
fn a_second_recording_names_the_same_working_set() {
    if skip::without_recording() {
        return;
    }
    let session = session();
    let mut script = vec!["ls -R {root}/app > /dev/null".to_owned()];
    script.extend(
        (0..source::PARTS).map(|part| read(&format!("app/lib/part-{part:02}/module-2"), 0, 2)),
    );
    let traces = [(); 2].map(|()| record(&session, &script.join("; ")));
    let files = traces[0].working_set().files;
    assert_eq!(files.len(), source::PARTS);
    assert_eq!(traces[0].working_set(), traces[1].working_set());
    assert_eq!(accesses(&traces[0]), accesses(&traces[1]));
}

#[test]
fn a_program_of_the_image_is_recorded_with_its_page_faults() {
    if skip::without_recording() {
        return;
    }
    let session = session();
    fs::copy("/bin/true", session.at("source/app/bin/true")).unwrap();
    // Named by its path in the source, relative to the working directory.
    session.done("-q record source -o trace -- source/app/bin/true".split(' '));
    let trace = Trace::parse(&fs::read(session.at("trace")).unwrap()).unwrap();
    let (data, names): (Vec<_>, Vec<_>) = accesses(&trace)
        .into_iter()
        .partition(|access| access.starts_with(['R', 'F', 'M']));
    let expected = [
        "D /",
        "L /app",
        "D /app",
        "L /app/bin",
        "D /app/bin",
        "L /app/bin/true",
    ];
    assert_eq!(names, expected);
    // The kernel reads the head of the program before it maps it.
    assert_eq!(data[0], "R 0-0 /app/bin/true");
    assert!(
        data.iter().any(|access| access.starts_with('F')),
        "{data:?}"
    );
    assert!(
        data.iter().all(|access| access.ends_with(" /app/bin/true")),
        "{data:?}"
    );
}

#[test]
fn hard_links_are_recorded_under_their_first_path_and_odd_names_escaped() {
    if skip::without_recording() {
        return;
    }
    let session = session();
    let odd = OsStr::from_bytes(source::NOT_UTF_8);
    let script = r#"read -r line < "$1" && exec dd if="$2" bs=4096 of=/dev/null status=none"#;
    let paths = [
        Path::new("source/app/bin/zz-same"),
        &Path::new("source").join(odd),
    ];
    let args = RECORD_SH
        .into_iter()
        .chain([script, "sh"])
        .map(OsString::from);
    session.done(args.chain(paths.map(OsString::from)));
    let text = fs::read_to_string(session.at("trace")).unwrap();
    assert!(text.contains(" /app/bin/tool\n"), "{text}");
    assert!(!text.contains(" /app/bin/zz-same\n"), "{text}");
    assert!(text.contains(r" R 0-0 /caf\xe9/na\xefve"), "{text}");
    let trace = Trace::parse(text.as_bytes()).unwrap();
    let path = [b"/", source::NOT_UTF_8].concat();
    let mut files = trace.working_set().files.into_iter();
    assert!(files.any(|file| file.path == path));
}

#[test]
fn arguments_reach_the_program_with_paths_of_the_source_rewritten() {
    if skip::without_recording() {
        return;
    }
    let session = session();
    let source = session.at("source").into_os_string();
    let join = |parts: &[&[u8]]| OsString::from_vec(parts.concat());
    let bytes = source.as_bytes();
    let odd = [b"/", source::NOT_UTF_8].concat();
    // Given, and what the program gets; `@` is the mount.
    let arguments: Vec<(OsString, Vec<u8>)> = vec![
        (source.clone(), b"@".to_vec()),
        (
            join(&[bytes, b"/with space/a file"]),
            b"@/with space/a file".to_vec(),
        ),
        (join(&[bytes, &odd]), [b"@", odd.as_slice()].concat()),
        (join(&[b"HOME=", bytes, b"/app"]), b"HOME=@/app".to_vec()),
        ("source/data".into(), b"@/data".to_vec()),
        ("--at={root}/data:{root}".into(), b"--at=@/data:@".to_vec()),
        // What is not in the source stays as it is.
        (join(&[bytes, b"/nowhere"]), [bytes, b"/nowhere"].concat()),
        ("/etc/passwd".into(), b"/etc/passwd".to_vec()),
        ("a b  c".into(), b"a b  c".to_vec()),
        ("".into(), Vec::new()),
        ("$HOME '\"\\ *".into(), b"$HOME '\"\\ *".to_vec()),
        (
            OsString::from_vec(b"\xff\xfe=\xfd".to_vec()),
            b"\xff\xfe=\xfd".to_vec(),
        ),
    ];
    let out = session.at("arguments");
    let script = format!(
        r#"printf '%s\0' "$@" > {}; test -e "$1/data""#,
        out.display()
    );
    let args = RECORD_SH.into_iter().chain([&*script, "sh", "{root}"]);
    let given = arguments.iter().map(|(given, _)| given.clone());
    session.done(args.map(OsString::from).chain(given));
    let got = fs::read(out).unwrap();
    let mut got = got.strip_suffix(b"\0").unwrap().split(|byte| *byte == 0);
    let mount = got.next().unwrap();
    assert!(mount.starts_with(b"/"), "{}", mount.escape_ascii());
    for ((given, expected), got) in arguments.iter().zip(got.by_ref()) {
        let pieces: Vec<&[u8]> = expected.split(|byte| *byte == b'@').collect();
        let expected = pieces.join(mount);
        assert_eq!(
            got.escape_ascii().to_string(),
            expected.escape_ascii().to_string(),
            "{given:?}"
        );
    }
    assert_eq!(got.next(), None);
}

#[test]
fn the_trace_goes_to_standard_output_and_names_its_command() {
    if skip::without_recording() {
        return;
    }
    let session = session();
    let script = read("data/large-0", 0, 1);
    let ran = session.done(["record", "source", "--", "/bin/sh", "-c", &script]);
    let trace = Trace::parse(&ran.stdout).unwrap();
    let field = |key: &str| {
        let fields = &trace.header.fields;
        &*fields.iter().find(|(name, _)| name == key).unwrap().1
    };
    assert_eq!(field("source"), "source");
    assert_eq!(field("command"), format!("/bin/sh -c {script}"));
    assert_eq!(field("lost-events"), "0");
    assert_eq!(field("page-size"), "4096");
    assert_eq!(accesses(&trace).last().unwrap(), "R 0-0 /data/large-0");
    assert_eq!(
        ran.stderr,
        "kernel: recorded 5 events: 1 file read, 3 lookups, 2 directories searched\n"
    );
}

#[test]
fn a_chroot_has_the_image_as_root_with_proc_dev_and_a_writable_tmp() {
    if skip::without_recording() {
        return;
    }
    let session = Session::new();
    source::write_root(&session.at("root"));
    // Builtins only: there is no other program. `$1` is the root that `{root}` stands for, `$2` a
    // path of the source.
    let script = "set -e; test $1 = /; test $2 = /words; test $PWD = /; read -r line < /words; \
                  test \"$line\" = 'a few words'; test -d /proc/self; test -c /dev/null; \
                  echo x > /tmp/x; test ! -e /etc; ! (: > /words)";
    let args = "-q record root -o trace --chroot -- /bin/sh -c".split(' ');
    session.done(args.chain([script, "sh", "{root}", "root/words"]));
    let trace = Trace::parse(&fs::read(session.at("trace")).unwrap()).unwrap();
    let accesses = accesses(&trace);
    for access in ["R 0-0 /words", "R 0-0 /bin/sh"] {
        assert!(
            accesses.iter().any(|other| other == access),
            "{accesses:#?}"
        );
    }
    let faults = accesses.iter().filter(|access| access.starts_with('F'));
    let libraries = faults.filter(|access| access.contains("libc.so"));
    assert!(libraries.count() > 0, "{accesses:#?}");
    // Every path is one of the root file system, none of the machine.
    for event in &trace.events {
        let path = Path::new(OsStr::from_bytes(&event.path[1..]));
        let metadata = session.at("root").join(path).symlink_metadata();
        assert!(metadata.is_ok(), "{event:?}");
    }
    assert_eq!(fs::read_dir(session.at("root/tmp")).unwrap().count(), 0);
}

#[test]
fn a_command_that_fails_leaves_the_old_trace() {
    if skip::without_recording() {
        return;
    }
    let session = session();
    fs::write(session.at("trace"), "old").unwrap();
    let script = "echo no such tune >&2; exit 3";
    let ran = session.run(RECORD_SH.into_iter().chain([script]));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    for part in ["error: ", "`/bin/sh`", "exit status 3", "no such tune"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    assert_eq!(fs::read(session.at("trace")).unwrap(), b"old");
}

#[test]
fn nobody_else_finds_the_image_that_is_recorded() {
    if skip::without_recording() {
        return;
    }
    let session = session();
    let modes = session.at("modes");
    let script = format!(
        "{}; stat -c '%n %a' {{root}}/.. {{root}}/../images > {1}; ls {{root}}/../images >> {1}",
        read("data/large-3", 0, 1),
        modes.display()
    );
    record(&session, &script);
    let text = fs::read_to_string(modes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].ends_with("/.. 711"), "{text}");
    assert!(lines[1].ends_with("/images 700"), "{text}");
    assert!(lines.len() > 2, "{text}");
}
