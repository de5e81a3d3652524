//! The modules of a JDK.

use std::fs;
use std::path::Path;
use std::process::Command;

use coldpress_archive::Jimage;
use coldpress_testkit::{missing, without_peer};

#[test]
fn classes_are_found_by_name_and_place() {
    if without_peer("java") {
        return;
    }
    let shown = ["-XshowSettings:properties", "-version"];
    let shown = Command::new("java")
        .args(shown)
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&shown.stderr).into_owned();
    let home = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("java.home = "));
    let path = Path::new(home.expect("it says where it is")).join("lib/modules");
    let Ok(file) = fs::File::open(&path) else {
        missing("peers", "lib/modules of java");
        return;
    };
    let jimage = Jimage::read(&file)
        .expect("it is sound")
        .expect("it is one");
    let class = |name: &str| {
        let mut resources = jimage.resources.iter();
        let found = resources.find(|(found, _)| found == name.as_bytes());
        found
            .map(|(_, range)| range.clone())
            .expect("every JDK has it")
    };
    assert!(jimage.resources.len() > 5000);
    let object = class("/java.base/java/lang/Object.class");
    assert!(object.end - object.start > 500);
    class("/java.base/java/util/concurrent/locks/ReentrantLock.class");
}

#[test]
fn a_damaged_index_is_refused() {
    let head = |slots: u32, locations: u32, strings: u32| {
        let fields = [0xcafe_dada, 0x0001_0000, 0, 1, slots, locations, strings];
        fields
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    let mut small = head(1, 5, 4);
    small.extend([0; 8]);
    // Content of 200 bytes at 0, of which none are there; no names.
    small.extend([7 << 3, 200, 0, 0, 0]);
    small.extend([0; 4]);
    let error = Jimage::read(&small).expect_err("it is cut off").to_string();
    assert!(
        error.contains("takes 200 bytes, but only 0 are there"),
        "{error}"
    );
    for (slots, locations) in [(1 << 30, 1), (3, 1 << 20)] {
        Jimage::read(&head(slots, locations, 1)).expect_err("the index is not there");
    }
    assert!(Jimage::read(&b"PK".to_vec()).expect("it is read").is_none());
}
