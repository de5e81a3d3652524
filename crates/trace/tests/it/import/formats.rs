//! One sample of each format, short, as its tool writes it.

use coldpress_trace::Error;
use coldpress_trace::import::{Device, Format, Imported, Inodes, Part, detect, devices, read};

use super::{events, import, timeless, trace, unread};

/// Format, text, events.
type Case<'a> = (Format, &'a str, &'a str);

pub(super) const FIND: &str = "./usr/bin/app\nusr/lib/a b\n\n/etc/passwd\n# what follows is cold\n";

/// `opensnoop -T -U` of bcc.
pub(super) const OPENSNOOP: &str = "\
TIME(s)       UID    PID    COMM               FD ERR PATH
0.000000000   0      17326  sh                  3   0 /etc/ld.so.cache
0.000201000   0      17326  Web Content        -1   2 /usr/lib/x/a b.so
0.000301000   0      17326  sh                 -1  13 /root/key
";

pub(super) const NYDUS_CSV: &str = "\
path,size,elapsed
/lib/x86_64-linux-gnu/ld-2.31.so,177928,13500
\"/a, b\",1,13600
/readable,1.2 MiB,14ms
";

pub(super) const NYDUS_LINES: &str = r#"{"path":"/bin/sh","size":125688,"elapsed":50}
{"path":"/etc/hosts","size":0,"elapsed":40}
"#;

pub(super) const NYDUS_PREFETCH: &str = r#"{"version":"v1","files":[
  {"path":"/usr/bin/ls","ranges":null},
  {"path":"/usr/lib/libc.so","ranges":[[0,4096],[8192,4097]]},
  {"path":"/usr/lib/libm.so","ranges":[{"offset":4096,"size":1},{"offset":0,"size":0}]}
]}"#;

pub(super) const ESTARGZ: &str = r#"{"path":"usr/bin/bash","manifestDigest":"sha256:5d070ad5","layerIndex":0}
{"path":"etc/ld.so.cache","manifestDigest":"sha256:5d070ad5","layerIndex":1}
"#;

pub(super) const UREADAHEAD: &str = "\
/var/lib/ureadahead/pack: created Sat, 21 Nov 2026 19:36:40 +0000 for hdd 8:1
2 inode groups, 2 files, 2 blocks (152 kB)
/lib/x86_64-linux-gnu/libc.so.6 (1881 kB), 2 blocks (152 kB)
  [@##.................................@#                                    ]

\t0, 143360 bytes (at 1209462784)
\t155648, 8192 bytes (at 1209618432)

/etc/a b (1) (0 kB), 0 blocks (0 kB)

";

/// `perf script`; and the kernel's own file.
pub(super) const PERF_SCRIPT: &str = "\
# tracer: nop
            true 27794 [000] 23080.301207:                  filemap:mm_filemap_fault: dev=7:0 ino=a ofs=32768
            a b  27794 [000] 23080.301266:              filemap:mm_filemap_map_pages: dev=7:0 ino=4f8cb ofs=106496-159743
 python3-23129   [001] ..... 23081.280767: mm_filemap_get_pages: dev=7:0 ino=a ofs=0-4095
            true 27794 [000] 23080.301270:  filemap:mm_filemap_add_to_page_cache: dev 7:0 ino a pfn=0x1482e0 ofs=0 order=0
            true 27794 [000] 23080.301275:                  filemap:mm_filemap_fault: dev=254:0 ino=a ofs=0
";

pub(super) const PERF_TRACE: &str = "\
         ? (         ): true/27790  ... [continued]: execve())                                           = 0
     0.000 ( 0.000 ms): true/27790 majfault [elf_load+0x28a] => 0x55f0a7d781e0 (?k)
     0.205 ( 0.000 ms): true/27790 minfault [_start+0x0] => /usr/lib/ld-linux-x86-64.so.2@0x1ab70 (d.)
     0.276 ( 0.016 ms): cat/27802 openat(dfd: CWD, filename: 0x69ca80b1, flags: RDONLY|CLOEXEC)         = 3
     0.713 ( 0.000 ms): true/27790 minfault [_dl_init_paths+0xce] => //anon@0x7f97cf063008 (d.)
     0.759 ( 0.000 ms): true/27790 minfault [_dl_map_object+0x11] => [stack]@0x7fff303bcc48 (d.)
     0.880 ( 0.000 ms): true/27790 majfault [memset+0x32] => /usr/lib/a b@0x1d4868 (d.)
";

pub(super) const ETRACE_FILE: &str = r#"{"ExecvePaths":{
  "AllFiles":[{"Path":"/snap/x/1/late","Size":5000,"Program":""},
    {"Path":"/snap/x/1/bin/x","Size":8193,"Program":"x"},{"Path":"/snap/x/1/none","Size":-1,"Program":"x"}],
  "Processes":[{"Start":"2020-06-16T18:45:52.000010512-05:00","Exe":"/snap/x/1/bin/x","RunDuration":12,
    "PathAccesses":[{"Time":"2020-06-16T18:45:52.000020-05:00","Path":"/snap/x/1/bin/x","Syscall":"read"},
      {"Time":"2020-06-16T18:45:52.00003-05:00","Path":"/snap/x/1/none","Syscall":"openat"},
      {"Time":"2020-06-16T18:45:52.00004-05:00","Path":"/snap/x/1","Syscall":"getdents64"},
      {"Time":"2020-06-16T18:45:52.00005-05:00","Path":"relative","Syscall":"stat"}]}],
  "TotalTime":1000},"TimeToDisplay":2030000000}
"#;

pub(super) const ETRACE_EXEC: &str = r#"{"Runs":[
  {"ExecveTiming":{"TotalTime":5,"ExeRuntimes":[{"Start":"2020-06-16T18:45:52.000002Z","Exe":"/b","TotalSec":3},
    {"Start":"2020-06-16T18:45:52.000001Z","Exe":"/a","TotalSec":3}]},"TimeToDisplay":1,"TimeToRun":1,"Errors":null},
  {"TimeToDisplay":1}]}
"#;

/// Every sample that needs no inode numbers.
pub(super) const SAMPLES: &[Case<'_>] = &[
    (
        Format::List,
        FIND,
        "0 L /usr/bin/app\n0 M 0-0 /usr/bin/app\n0 L /usr/lib/a b\n0 M 0-0 /usr/lib/a b\n\
         0 L /etc/passwd\n0 M 0-0 /etc/passwd\n",
    ),
    (
        Format::List,
        "/a\nb\0/c\0",
        "0 L /a\\nb\n0 M 0-0 /a\\nb\n0 L /c\n0 M 0-0 /c\n",
    ),
    (
        Format::Opensnoop,
        OPENSNOOP,
        "17326 L /etc/ld.so.cache\n17326 M 0-0 /etc/ld.so.cache\n17326 D /usr/lib/x\n\
         17326 L /root/key\n",
    ),
    (
        Format::Nydus,
        NYDUS_LINES,
        "0 L /etc/hosts\n0 L /bin/sh\n0 M 0-30 /bin/sh\n",
    ),
    (
        Format::Nydus,
        NYDUS_PREFETCH,
        "0 L /usr/bin/ls\n0 M 0-0 /usr/bin/ls\n0 L /usr/lib/libc.so\n0 M 0-0 /usr/lib/libc.so\n\
         0 M 2-3 /usr/lib/libc.so\n0 L /usr/lib/libm.so\n0 M 1-1 /usr/lib/libm.so\n",
    ),
    (
        Format::Estargz,
        ESTARGZ,
        "0 L /usr/bin/bash\n0 M 0-0 /usr/bin/bash\n0 L /etc/ld.so.cache\n0 M 0-0 /etc/ld.so.cache\n",
    ),
    (
        Format::Ureadahead,
        UREADAHEAD,
        "0 L /lib/x86_64-linux-gnu/libc.so.6\n0 M 0-34 /lib/x86_64-linux-gnu/libc.so.6\n\
         0 M 38-39 /lib/x86_64-linux-gnu/libc.so.6\n0 L /etc/a b (1)\n",
    ),
    (
        Format::PerfTrace,
        PERF_TRACE,
        "27790 F 26 /usr/lib/ld-linux-x86-64.so.2\n27790 F 468 /usr/lib/a b\n",
    ),
    (
        Format::Etrace,
        ETRACE_EXEC,
        "0 L /a\n0 M 0-0 /a\n0 L /b\n0 M 0-0 /b\n",
    ),
];

#[test]
fn every_format_is_told_by_its_content_and_read() {
    for (format, text, expected) in SAMPLES {
        assert_eq!(detect(text.as_bytes()), Some(*format), "{text}");
        let imported = import(*format, text.as_bytes()).expect("a sample");
        assert_eq!(unread(&imported), [], "{text}");
        assert_eq!(timeless(&trace(imported)), *expected, "{text}");
    }
    assert_eq!(detect(PERF_SCRIPT.as_bytes()), Some(Format::PerfScript));
    assert_eq!(detect(ETRACE_FILE.as_bytes()), Some(Format::Etrace));
    for text in [
        "",
        "\n\n",
        "hello\nworld\n",
        "{\"a\": 1}",
        "123",
        "a = 3\n",
        "\u{0}",
    ] {
        let expected = (text == "\u{0}").then_some(Format::List);
        assert_eq!(detect(text.as_bytes()), expected, "{text:?}");
    }
}

#[test]
fn times_are_kept_where_there_are_any() {
    let opensnoop = "0 17326 L /etc/ld.so.cache\n0 17326 M 0-0 /etc/ld.so.cache\n\
                     201 17326 D /usr/lib/x\n301 17326 L /root/key\n";
    let csv = "0 0 L /readable\n0 0 M 0-0 /readable\n13498 0 L /lib/x86_64-linux-gnu/ld-2.31.so\n\
               13498 0 M 0-43 /lib/x86_64-linux-gnu/ld-2.31.so\n13598 0 L /a, b\n13598 0 M 0-0 /a, b\n";
    for (format, text, expected) in [
        (Format::Opensnoop, OPENSNOOP, opensnoop),
        (Format::Nydus, NYDUS_CSV, csv),
        (
            Format::List,
            "/a\n/b\n",
            "0 0 L /a\n0 0 M 0-0 /a\n1 0 L /b\n1 0 M 0-0 /b\n",
        ),
    ] {
        let imported = import(format, text.as_bytes()).expect("a sample");
        assert_eq!(events(&trace(imported)), expected, "{text}");
    }
}

#[test]
fn etrace_tells_sizes_and_what_calls_did() {
    let imported = import(Format::Etrace, ETRACE_FILE.as_bytes()).expect("a sample");
    assert_eq!(
        unread(&imported),
        [(0, "a relative path, to no known directory")]
    );
    let expected = "0 0 L /snap/x/1/bin/x\n0 0 M 0-2 /snap/x/1/bin/x\n\
                    20 0 L /snap/x/1/none\n30 0 D /snap/x/1\n40 0 L /snap/x/1/late\n40 0 M 0-1 /snap/x/1/late\n";
    assert_eq!(events(&trace(imported)), expected);
}

fn with_inodes(text: &str, major: u32) -> Imported {
    let mut path_of = |inode: u64| match inode {
        0xa => Some(b"/usr/bin/true".to_vec()),
        0x4f8cb => Some(b"/usr/lib/ld.so".to_vec()),
        _ => None,
    };
    let inodes = Inodes {
        device: Device { major, minor: 0 },
        path_of: &mut path_of,
    };
    let part = Part {
        text: text.as_bytes(),
        pid: None,
    };
    read(&[part], Format::PerfScript, Some(inodes)).expect("small")
}

#[test]
fn inode_numbers_become_paths_of_the_image_on_its_device() {
    let imported = with_inodes(PERF_SCRIPT, 7);
    assert_eq!((unread(&imported), imported.elsewhere_count), (vec![], 1));
    let expected = "0 27794 F 8 /usr/bin/true\n59 27794 M 26-38 /usr/lib/ld.so\n\
                    979560 23129 R 0-0 /usr/bin/true\n";
    assert_eq!(events(&trace(imported)), expected);
    let known: Vec<_> = devices(PERF_SCRIPT.as_bytes()).into_iter().collect();
    let device = |major| Device { major, minor: 0 };
    assert_eq!(known, [device(7), device(254)]);
    let text =
        "x 1 [000] 1.0: filemap:mm_filemap_fault: dev=7:0 ino=ff ofs=0\nx 1 [000] 1.0: other\n";
    let expected = [
        (1, "the image has no inode of this number"),
        (2, "not an event of the page cache"),
    ];
    assert_eq!(unread(&with_inodes(text, 7)), expected);
    let error = import(Format::PerfScript, PERF_SCRIPT.as_bytes()).expect_err("no image");
    assert_eq!(error, Error::Inodes);
}

/// Format, text, lines that are not understood and why.
type Wrong<'a> = (Format, &'a str, &'a [(u64, &'a str)]);

#[test]
fn lines_that_are_wrong_are_named() {
    let relative =
        "PID    COMM               FD ERR PATH\n1      sh                  3   0 x\n1 sh\n";
    let cases: &[Wrong<'_>] = &[
        (
            Format::Opensnoop,
            relative,
            &[
                (
                    2,
                    "a relative path; opensnoop does not record the directory",
                ),
                (3, "not a line of the table"),
            ],
        ),
        (
            Format::Nydus,
            "path,size,elapsed\n/a\n\"/b,1,2\n/c,1,2\n",
            &[
                (2, "not the three fields path, size and elapsed"),
                (3, "the path ends on another line"),
            ],
        ),
        (
            Format::Estargz,
            "{\"path\":\"a\"}\n{\"other\":1}\nnonsense\n",
            &[
                (2, "not a JSON object with a path"),
                (3, "not a JSON object with a path"),
            ],
        ),
        (
            Format::Ureadahead,
            "/a (1 kB), 1 blocks (1 kB)\n\t0, x bytes (at 1)\n",
            &[(2, "neither a file nor a piece of one")],
        ),
        (
            Format::PerfTrace,
            "0.1 ( 0.0 ms): a/1 minfault [b] => /c@0x1 (d.)\nnonsense\n",
            &[(2, "not a line of perf trace")],
        ),
    ];
    for (format, text, expected) in cases {
        let imported = import(*format, text.as_bytes()).expect("lines are no error");
        assert_eq!(unread(&imported), *expected, "{text}");
    }
    let long = format!("/{}\n/b\n", "a".repeat(4095));
    let imported = import(Format::List, long.as_bytes()).expect("lines are no error");
    let why = "the path is longer than the kernel allows";
    assert_eq!(unread(&imported), [(1, why)]);
}

#[test]
fn a_time_that_is_none_is_named() {
    let text = ETRACE_EXEC.replacen("2020-06-16T18:45:52.000002Z", "yesterday", 1);
    let imported = import(Format::Etrace, text.as_bytes()).expect("a document");
    assert_eq!(unread(&imported), [(0, "not a time")]);
    assert_eq!(timeless(&trace(imported)), "0 L /a\n0 M 0-0 /a\n");
}

#[test]
fn documents_that_are_wrong_are_located() {
    let etrace = "expected what `etrace file --json` or `etrace exec --json` prints";
    for (format, text, expected) in [
        (
            Format::Etrace,
            "{\"Runs\":\n[}",
            "etrace, line 2, column 2: this is no JSON",
        ),
        (
            Format::Etrace,
            "{\"Runs\":[",
            "column 9: the JSON ends too early",
        ),
        (Format::Etrace, "{\"Runs\":7}", etrace),
        (
            Format::Nydus,
            "{\"version\":\"v1\",\"files\":[{}]}",
            "a value is missing or has another type; expected a prefetch file of version v1",
        ),
    ] {
        let error = import(format, text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(expected), "{error}\nlacks {expected}");
    }
}
