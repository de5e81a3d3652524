//! Without root: what can be done is done, and what not is said.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use coldpress_layout::{Plan, PlanItem};

use super::session;
use crate::run::{Ran, Session, program};

/// `nobody`, of whom nothing is.
const NOBODY: u32 = 65_534;

/// Runs the binary as nobody, if the tests run as root.
pub(crate) fn as_nobody<'a>(session: &Session, args: impl IntoIterator<Item = &'a str>) -> Ran {
    if !rustix::process::geteuid().is_root() {
        return session.run(args);
    }
    // The place where it was built may be closed to others.
    let binary = session.at("coldpress");
    if !binary.exists() {
        fs::copy(env!("CARGO_BIN_EXE_coldpress"), &binary).unwrap();
        let everyone = fs::Permissions::from_mode(0o777);
        fs::set_permissions(session.directory(), everyone).unwrap();
        program(
            Command::new("chmod")
                .arg("-R")
                .arg("a+rX")
                .arg(session.directory()),
        );
    }
    let mut command = Command::new(binary);
    command.args(args).current_dir(session.directory());
    command
        .uid(NOBODY)
        .gid(NOBODY)
        .env("COLDPRESS_HISTORY", "off")
        .env("COLDPRESS_CALIBRATION", "off")
        .env_remove("SOURCE_DATE_EPOCH");
    let output = session.start(&mut command).wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn run(session: &Session, args: &str) -> Ran {
    as_nobody(session, args.split(' '))
}

/// Some of what is lacked, and a word of the reason for each.
const LACKED: [(&str, &str); 3] = [
    ("CAP_SYS_ADMIN", "mounted again"),
    ("loop devices", "block device"),
    ("drop_caches", "cold"),
];

#[test]
fn without_root_a_press_says_what_it_lacks_and_builds_and_verifies() {
    let session = session();
    let plan = "coldpress-plan 1\n[data]\nblocks /data/large-7\n";
    fs::write(session.at("plan"), plan).unwrap();
    let ran = run(&session, "press source -o image --plan plan -- /bin/false");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    for (what, why) in LACKED {
        let told = ran.stderr.contains(what) && ran.stderr.contains(why);
        assert!(told, "{what}: {}", ran.stderr);
    }
    let unproven = "nothing shows that it starts faster";
    for part in ["root", "nothing is measured", "; verified\n", unproven] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    assert_eq!(session.done(["check", "image"]).text(), "");
    session.done(["-q", "build", "--plan", "plan", "source", "built"]);
    assert!(fs::read(session.at("image")).unwrap() == fs::read(session.at("built")).unwrap());
}

#[test]
fn without_root_a_profile_orders_a_press() {
    let session = session();
    let profile = "coldpress-profile 1\n# recordings: 1\nR 0 /data/large-7\n";
    fs::write(session.at("profile"), profile).unwrap();
    let ran = run(
        &session,
        "-q press source -o image --profile profile -- /bin/false",
    );
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    session.done(["-q", "build", "--profile", "profile", "source", "built"]);
    assert!(fs::read(session.at("image")).unwrap() == fs::read(session.at("built")).unwrap());
}

#[test]
fn without_root_a_press_records_what_is_opened_and_orders_by_it() {
    let session = session();
    let mut args: Vec<&str> = "press source -o image --json --plan-out plan --trace-out trace --"
        .split(' ')
        .collect();
    args.extend([
        "/bin/sh",
        "-c",
        "cat {root}/data/large-7 {root}/app/bin/tool",
    ]);
    let ran = as_nobody(&session, args);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    // By `fuse` where everyone may open /dev/fuse.
    let told = ["recorded by `", "`, as `kernel` lacks "];
    assert!(
        told.iter().all(|words| ran.stderr.contains(words)),
        "{}",
        ran.stderr
    );
    let json = ran.json();
    let size_bytes = fs::metadata(session.at("image")).unwrap().len();
    assert!(json["study"].is_null(), "{json}");
    let summary = &json["summary"];
    assert_eq!(summary["image_bytes"], size_bytes);
    for (key, value) in [("recorded", true), ("verified", true), ("proven", false)] {
        assert_eq!(summary[key], value, "{key}");
    }
    let plan = Plan::parse(&fs::read(session.at("plan")).unwrap()).unwrap();
    assert_eq!(plan.data[0], PlanItem::Blocks(b"/data/large-7".to_vec()));
    assert!(session.at("trace").exists());
}
