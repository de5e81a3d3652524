//! Archives of the tree are ordered as well, and both orders are measured.

use std::fs;
use std::process::Command;

use coldpress_testkit::without_peer;

use super::{reads, session, study};
use crate::skip;

/// An archive of 16 MB, of which every eighth entry is read, by its index.
const WRITE: &str = "import random, sys, zipfile\n\
                     with zipfile.ZipFile(sys.argv[1], 'w') as jar:\n    \
                     for i in range(400): jar.writestr(f'{i}', random.Random(i).randbytes(40000))";
const READ: &str = "import sys, zipfile\n\
                    jar = zipfile.ZipFile(sys.argv[1] + '/app.jar')\n\
                    for i in range(0, 400, 8): jar.read(f'{i}')";

#[test]
fn a_start_from_ordered_archives_reads_less_and_they_hold_the_same() {
    if skip::without_measuring() || without_peer("python3") {
        return;
    }
    let session = session();
    let jar = session.at("source/app.jar");
    let made = Command::new("python3")
        .args(["-c", WRITE])
        .arg(&jar)
        .status();
    assert!(made.unwrap().success());
    let words = "press source -o image --archives --device usb2 --runs 6 --samples study.json --";
    let words = words.split(' ').chain(["python3", "-c", READ, "{root}"]);
    let ran = session.done(words);
    assert!(
        ran.stderr.contains("of 400 entries, layout tail"),
        "{}",
        ran.stderr
    );
    let predicted = ran.stderr.contains("predicted reads of it: ");
    assert!(predicted, "{}", ran.stderr);
    let study = study(&fs::read(session.at("study.json")).unwrap());
    let (before, after) = (
        reads(&study, "archives as they were"),
        reads(&study, "pressed"),
    );
    for ((_, before), (_, after)) in before.into_iter().zip(after) {
        assert!(after * 1.5 < before, "{after} of {before} bytes");
    }
    // A busy machine may prove nothing; then the other image is kept.
    let is_kept = !ran
        .stderr
        .contains("archives are as they were: nothing shows");
    session.done(["extract", "image", "out", "-q"]);
    let [old, new] = [jar, session.at("out/app.jar")].map(|path| fs::read(path).unwrap());
    assert_eq!(old != new, is_kept, "{}", ran.stderr);
    let checked = session.done(["jar", "check", "out/app.jar"]).text();
    assert_eq!(checked, "out/app.jar: 400 of 400 entries verified\n");
}
