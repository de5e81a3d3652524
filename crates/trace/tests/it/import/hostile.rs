//! Any text is read to its end, and what was read can be written.

use coldpress_trace::Trace;
use coldpress_trace::import::{Device, Format, Inodes, Part, detect, devices, read};
use proptest::prelude::*;

use super::formats::{
    ETRACE_EXEC, ETRACE_FILE, NYDUS_CSV, NYDUS_PREFETCH, OPENSNOOP, PERF_SCRIPT, PERF_TRACE,
    SAMPLES, UREADAHEAD,
};
use super::trace;

const FORMATS: [Format; 9] = [
    Format::Strace,
    Format::Etrace,
    Format::List,
    Format::Opensnoop,
    Format::Nydus,
    Format::Estargz,
    Format::Ureadahead,
    Format::PerfScript,
    Format::PerfTrace,
];

const STRACE: &str = r#"[pid 7] 10:00:00.000001 openat(AT_FDCWD</a>, "/b\303", O_RDONLY) = 3</b<char 1:3>>
8 1795289800.5 clone3({flags=CLONE_FS|CLONE_FILES} => {parent_tid=[9]}, 88 <unfinished ...>
9 (+ 0.1) read(3, "x"..., 5) = 5
8 <... clone3 resumed>) = 9
8 mmap(NULL, 18446744073709551615, PROT_READ, MAP_PRIVATE, 3</b>, 0xffffffffffffffff) = 0x7f
strace: Process 26908 attached
"#;

/// Reads a text as every format. What comes of it is a trace.
fn read_as_all(text: &[u8]) {
    detect(text);
    devices(text);
    for format in FORMATS {
        let mut path_of = |inode: u64| Some(format!("/{inode}").into_bytes());
        let inodes = Inodes {
            device: Device { major: 7, minor: 0 },
            path_of: &mut path_of,
        };
        let parts = [Some(7), None].map(|pid| Part { text, pid });
        let Ok(mut imported) = read(&parts, format, Some(inodes)) else {
            continue;
        };
        assert!(imported.unread.len() as u64 <= imported.unread_count);
        let whole = trace(imported.clone());
        let mut written = Vec::new();
        whole.write(&mut written).expect("a trace keeps the rules");
        assert_eq!(Trace::parse(&written).as_ref(), Ok(&whole));
        imported.strip(b"/usr");
        assert!(trace(imported).events.len() <= whole.events.len());
    }
}

fn sample() -> impl Strategy<Value = &'static str> {
    let all = [
        STRACE,
        ETRACE_EXEC,
        ETRACE_FILE,
        NYDUS_CSV,
        NYDUS_PREFETCH,
        OPENSNOOP,
        PERF_SCRIPT,
        PERF_TRACE,
        UREADAHEAD,
    ];
    let others = SAMPLES.iter().map(|(_, text, _)| *text);
    let all: Vec<&'static str> = all.into_iter().chain(others).collect();
    prop::sample::select(all)
}

proptest! {
    #[test]
    fn any_bytes_are_borne(text in prop::collection::vec(any::<u8>(), 0..200)) {
        read_as_all(&text);
    }

    #[test]
    fn damaged_recordings_are_borne(
        sample in sample(),
        at in any::<prop::sample::Index>(),
        junk in "[<>(){}\\[\\]\"\\\\, =0-9a/\n.:x-]{0,6}",
        cut in 0_usize..8,
    ) {
        let mut text = sample.as_bytes().to_vec();
        let at = at.index(text.len());
        let end = (at + cut).min(text.len());
        text.splice(at..end, junk.into_bytes());
        read_as_all(&text);
    }
}
