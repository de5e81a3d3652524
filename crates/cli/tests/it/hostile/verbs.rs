//! The verbs that read images, and running all of them on one.

use std::process::Stdio;
use std::sync::OnceLock;

use coldpress_nasty::{Case, Packing, Tables, sample};

use super::bounded::{Yard, is_full};

/// Every way to read the image `image`, also beside `sound`, which breaks no rule. What is written
/// goes to `out`, which is not there before.
///
/// A new verb is a new line.
const VERBS: &[&[&str]] = &[
    &["ls", "-lR", "image"],
    &["ls", "-R", "--json", "image"],
    &["cat", "image", "/dir/file", "/tail", "/link", "/dir/sub"],
    &["info", "image"],
    &["check", "image"],
    &["check", "--json", "image"],
    &["extract", "image", "out"],
    &["build", "image", "out"],
    &["build", "-c", "none", "-b", "256K", "image", "out"],
    &["build", "source", "out", "--reuse", "image"],
    &["plan", "lint", "plan", "--from", "plan", "--tree", "image"],
    &["tree", "image"],
    &["find", "image", "--json", "--uid", "0"],
    &["find", "image", "--xattr", "user.*"],
    &["stat", "image", "/", "/dir/file", "/tail", "/link"],
    &["dump", "image"],
    &["dump", "--json", "image", "/dir", "/tail"],
    &["diff", "image", "sound"],
    &["diff", "sound", "image", "--all", "--extract", "out"],
    &["tar", "image"],
    &["identify", "image"],
    &["resquash", "image"],
    &["doctor", "image"],
    &["unsquashfs", "-lls", "image"],
    &["unsquashfs", "-d", "out", "image"],
    &["sqfscat", "image", "dir/file", "tail"],
];

/// The plan for `plan lint`.
const PLAN: &[u8] = b"coldpress-plan 1\n[data]\nblocks /dir/file\n[inodes]\n/dir/sub\n";

fn sound() -> &'static [u8] {
    static SOUND: OnceLock<Vec<u8>> = OnceLock::new();
    SOUND.get_or_init(|| Tables::new(&sample(Packing::STORED)).write().bytes)
}

/// Runs every verb and reads every image, at least once each; all with all if the environment asks
/// for it by `COLDPRESS_TESTS=full`, which takes minutes.
pub(super) fn everywhere(cases: &[Case]) {
    run_all(cases, VERBS);
}

/// As [`everywhere`], without the verbs that begin with some words.
pub(super) fn everywhere_but(left_out: &[&str], cases: &[Case]) {
    let verbs = VERBS.iter().copied();
    let verbs: Vec<_> = verbs
        .filter(|words| !left_out.contains(&words[0]))
        .collect();
    run_all(cases, &verbs);
}

fn run_all(cases: &[Case], verbs: &[&[&str]]) {
    let yard = Yard::new();
    if is_full() {
        for case in cases {
            for words in verbs {
                run(&yard, case, words);
            }
        }
        return;
    }
    for number in 0..cases.len().max(verbs.len()) {
        run(
            &yard,
            &cases[number % cases.len()],
            verbs[number % verbs.len()],
        );
    }
}

fn run(yard: &Yard, case: &Case, words: &[&str]) {
    yard.put("image", &case.bytes);
    yard.put("plan", PLAN);
    yard.put("source", b"a file");
    yard.put("sound", sound());
    let (code, said) = yard.run(&case.what, words, Stdio::null());
    yard.clear();
    let is_check = words[0] == "check";
    match case.says {
        Some("") if is_check => assert_eq!(code, 0, "{}: {said}", case.what),
        Some(says) if is_check && !says.is_empty() => {
            assert_ne!(code, 0, "{} is said to be sound", case.what);
        }
        _ => {}
    }
}
