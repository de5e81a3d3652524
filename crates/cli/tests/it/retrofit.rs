//! `coldpress retrofit`: AppImages and SIF containers with another image in them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use coldpress_image::{Sif, read_sif};

use crate::press::unprivileged::as_nobody;
use crate::run::{self, Ran, Session};
use crate::skip::{self, without_peer};

const PLAN: &str = "coldpress-plan 1\n[data]\nblocks /large\n";
/// Names and sizes of the sections of the program that [`program`] makes.
const SECTIONS: [(&str, usize); 4] = [
    (".digest_md5", 16),
    (".upd_info", 64),
    (".sha256_sig", 1024),
    (".sig_key", 4096),
];

/// A program that nothing can start, but with sections; the first is at byte 64.
fn program() -> Vec<u8> {
    let mut bytes = vec![0; 64];
    bytes[..11].copy_from_slice(b"\x7fELF\x02\x01\x01\0AI\x02");
    let (mut names, mut headers) = (vec![0_u8], Vec::new());
    for (name, len) in SECTIONS.into_iter().chain([("", 0)]) {
        let len = if name.is_empty() { names.len() } else { len };
        let mut header = vec![0; 64];
        header[0] = u8::try_from(names.len()).unwrap();
        header[24..32].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(len as u64).to_le_bytes());
        headers.extend_from_slice(&header);
        if name.is_empty() {
            bytes.extend_from_slice(&names);
        } else {
            names.extend_from_slice(name.as_bytes());
            names.push(0);
            bytes.resize(bytes.len() + len, 0);
        }
    }
    let table = bytes.len() as u64;
    bytes[40..48].copy_from_slice(&table.to_le_bytes());
    bytes[58..64].copy_from_slice(&[64, 0, 5, 0, 4, 0]);
    bytes.extend_from_slice(&headers);
    bytes[64 + 16..][..9].copy_from_slice(b"zsync|url");
    bytes
}

/// A session with a tree, and its image behind a program.
fn session(program: &[u8]) -> Session {
    let session = Session::new();
    let tree = session.at("tree");
    fs::create_dir(&tree).unwrap();
    for (name, byte) in [("large", 1), ("a", 2), ("z", 3)] {
        let content: Vec<u8> = (0..300_000_u32)
            .flat_map(|number| (number * byte).to_le_bytes())
            .collect();
        fs::write(tree.join(name), content).unwrap();
    }
    fs::write(
        tree.join("AppRun"),
        "#!/bin/sh\ncat \"$APPDIR/z\" \"$@\" > /dev/null\n",
    )
    .unwrap();
    fs::set_permissions(tree.join("AppRun"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(session.at("plan"), PLAN).unwrap();
    session.done(["-q", "build", "-c", "gzip", "tree", "image"]);
    let file = [program, &fs::read(session.at("image")).unwrap()].concat();
    fs::write(session.at("App"), file).unwrap();
    fs::set_permissions(session.at("App"), fs::Permissions::from_mode(0o755)).unwrap();
    session
}

fn retrofit(session: &Session, args: &str) -> Ran {
    let words = ["-q", "retrofit"].into_iter().chain(args.split(' '));
    as_nobody(session, words)
}

#[test]
fn an_app_image_keeps_everything_but_its_image() {
    let mut old = program();
    let session = session(&old);
    let args = "App -o New --plan plan --zsync https://example.org/New --json";
    let ran = retrofit(&session, args);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let summary = &ran.json()["summary"];
    assert_eq!(summary["signature"], "none");
    assert_eq!(summary["recomputed"], serde_json::json!([]));
    assert_eq!(summary["identical"][1], ".upd_info: zsync|url");
    let new = fs::read(session.at("New")).unwrap();
    assert!(new[..old.len()] == old);
    let mode = fs::metadata(session.at("New"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o755);
    session.done([
        "-q", "build", "-c", "gzip", "tree", "planned", "--plan", "plan",
    ]);
    assert!(new[old.len()..] == fs::read(session.at("planned")).unwrap());
    let zsync = fs::read(session.at("New.zsync")).unwrap();
    let length = format!("Length: {}\n", new.len());
    let text = String::from_utf8_lossy(&zsync);
    assert!(text.starts_with("zsync: 0.6.2\nFilename: New\n") && text.contains(&length));
    // In place, without a signature, but with a digest.
    let sections = [(64, 16), (64 + 16 + 64, 9)];
    let mut file = fs::read(session.at("App")).unwrap();
    for (start, len) in sections {
        file[start..start + len].fill(7);
        old[start..start + len].fill(0);
    }
    fs::write(session.at("App"), &file).unwrap();
    let signed = retrofit(&session, "App --in-place --plan plan");
    assert_eq!(signed.code, Some(2));
    assert!(
        signed.stderr.contains("--drop-signature"),
        "{}",
        signed.stderr
    );
    assert!(fs::read(session.at("App")).unwrap() == file);
    let ran = retrofit(
        &session,
        "App --in-place --plan plan --drop-signature --json",
    );
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let summary = &ran.json()["summary"];
    assert_eq!(summary["signature"], "dropped");
    assert_eq!(summary["dropped"], serde_json::json!([".sha256_sig"]));
    assert_eq!(summary["recomputed"], serde_json::json!([".digest_md5"]));
    let mut replaced = fs::read(session.at("App")).unwrap();
    assert!(replaced[64..80] != [7; 16] && replaced[64..80] != [0; 16]);
    replaced[64..80].fill(0);
    assert!(replaced[..old.len()] == old && replaced[old.len()..] == new[old.len()..]);
}

#[test]
fn an_app_image_is_signed_as_appimagetool_signs() {
    if without_peer("gpg") || without_peer("gpg-agent") {
        return;
    }
    let old = program();
    let session = session(&old);
    // Without mkfs.ext4 in PATH nothing is measured, and this program cannot be started.
    let [home, path] = ["home", "path"].map(|name| session.at(name));
    fs::create_dir(&path).unwrap();
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    let find = run::program(Command::new("sh").args(["-c", "command -v gpg"]));
    symlink(find.text().trim(), path.join("gpg")).unwrap();
    let gpg = |words: &str| {
        let mut command = Command::new("gpg");
        command.args(["--batch", "--passphrase", ""]);
        let ran = command
            .args(words.split(' '))
            .current_dir(session.directory());
        run::program(ran.env("GNUPGHOME", &home))
    };
    gpg("--quick-generate-key tester@example.org ed25519 sign never");
    let sign = |key: &str| {
        let words = ["-q", "retrofit", "App", "-o", "New", "--plan", "plan"];
        let words = words.into_iter().chain(["--json", "--sign", key]);
        let mut command = session.command(words);
        let command = command.env("GNUPGHOME", &home).env("PATH", &path);
        Ran::of(command.output().unwrap())
    };
    let ran = sign("nobody@example.org");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot be signed"), "{}", ran.stderr);
    assert!(!session.at("New").exists());
    let ran = sign("tester@example.org");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let summary = &ran.json()["summary"];
    assert_eq!(summary["signature"], "made");
    // What `validate` of AppImageKit does.
    let mut new = fs::read(session.at("New")).unwrap();
    let (signature, key) = (64 + 16 + 64, 64 + 16 + 64 + 1024);
    let text = |bytes: &[u8]| bytes.split(|byte| *byte == 0).next().unwrap().to_vec();
    fs::write(session.at("signature"), text(&new[signature..key])).unwrap();
    assert!(text(&new[key..key + 4096]).starts_with(b"-----BEGIN PGP PUBLIC KEY"));
    new[signature..key + 4096].fill(0);
    assert!(new[..old.len()] == old);
    fs::write(session.at("zeroed"), &new).unwrap();
    let sum = run::program(Command::new("sha256sum").arg(session.at("zeroed")));
    fs::write(session.at("digest"), &sum.text()[..64]).unwrap();
    gpg("--verify signature digest");
    let mut stop = Command::new("gpgconf");
    run::program(stop.args(["--kill", "all"]).env("GNUPGHOME", &home));
}

#[test]
fn what_cannot_be_rebuilt_is_refused() {
    let session = session(&program());
    for (args, parts) in [
        (
            "image -o New --plan plan",
            &["is no AppImage of type 2, SIF container, live ISO or snap"][..],
        ),
        (
            "App -o New --plan plan -c zstd",
            &[
                "the AppImage's program reads no images of zstd",
                "without --compressor",
            ],
        ),
        ("App -o App --plan plan", &["is a source itself"]),
        (
            "App -o New --chroot -- /a",
            &["an AppImage is not started inside itself"],
        ),
    ] {
        let ran = retrofit(&session, args);
        assert_eq!(ran.code, Some(2), "{args}: {}", ran.stderr);
        for part in parts {
            assert!(ran.stderr.contains(part), "{args}: {}", ran.stderr);
        }
        assert!(!session.at("New").exists());
    }
}

#[test]
fn a_start_of_an_app_image_is_recorded_and_both_are_started() {
    if skip::without_measuring() || without_peer("mkfs.ext4") {
        return;
    }
    // A program that starts, whatever comes after it.
    let mut program = fs::read("/bin/true").unwrap();
    program[8..11].copy_from_slice(b"AI\x02");
    let session = session(&program);
    let args = [
        "-q", "retrofit", "App", "-o", "New", "--runs", "1", "--json",
    ];
    let ran = session.done(args.into_iter().chain(["--", "/dev/null"]));
    assert_eq!(ran.json()["summary"]["proven"], true);
    assert_eq!(ran.json()["summary"]["recorded"], true);
    let new = fs::read(session.at("New")).unwrap();
    assert!(new.starts_with(&program));
    let listed = |name: &str| session.done(["ls", "-lR", "--offset", "auto", name]).text();
    assert_eq!(listed("New"), listed("App"));
    // What was read comes first.
    let places = session.done(["stat", "--blocks", "--offset", "auto", "New", "/z"]);
    let first = "fragment block   image byte 96 to";
    assert!(places.text().contains(first), "{}", places.text());
}

#[test]
fn a_file_that_is_replaced_keeps_its_owner() {
    if skip::without_root() {
        return;
    }
    let session = session(&program());
    let app = session.at("App");
    std::os::unix::fs::chown(&app, Some(1234), Some(5678)).unwrap();
    // Nothing can start it: only the proof is missing.
    session.run(["-q", "retrofit", "App", "--in-place", "--plan", "plan"]);
    let metadata = fs::metadata(&app).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (1234, 5678));
    assert_eq!(metadata.mode() & 0o777, 0o755);
}

#[test]
fn a_live_medium_keeps_its_other_files() {
    if without_peer("xorriso") {
        return;
    }
    let session = session(&[]);
    let live = session.at("medium/live");
    fs::create_dir_all(&live).unwrap();
    for name in ["filesystem.squashfs", "second.squashfs"] {
        fs::copy(session.at("image"), live.join(name)).unwrap();
    }
    fs::write(live.join("vmlinuz"), [7; 5000]).unwrap();
    let make = "cd medium && sha256sum live/* > SHA256SUMS && xorriso -as mkisofs -quiet -r -J -o ../old.iso .";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", make]).current_dir(session.at("."));
    assert!(shell.status().unwrap().success());
    let unclear = retrofit(&session, "old.iso -o new.iso --plan plan");
    assert_eq!(unclear.code, Some(2));
    for part in ["holds 2 images", "live/second.squashfs", "--image"] {
        assert!(unclear.stderr.contains(part), "{}", unclear.stderr);
    }
    let image = "--image live/filesystem.squashfs";
    // In place, and by xorriso because blocks that are stored take more.
    for (options, moved) in [("--plan plan", 0), ("--plan plan --level 1 -b 4K", 1)] {
        let ran = retrofit(
            &session,
            &format!("old.iso -o new.iso --json {image} {options}"),
        );
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        let moved_parts = ran.json()["summary"]["moved"].as_array().unwrap().len();
        assert_eq!(moved_parts, moved);
    }
    let ran = retrofit(&session, &format!("old.iso --in-place --json {image}"));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("no profile and no command") || ran.stderr.is_empty());
    let again = retrofit(
        &session,
        &format!("old.iso -o again.iso {image} --plan plan"),
    );
    assert_eq!(again.code, Some(1), "{}", again.stderr);
}

#[test]
fn each_image_of_a_live_medium_gets_its_part_of_a_profile() {
    if without_peer("xorriso") {
        return;
    }
    let session = session(&[]);
    let live = session.at("medium/casper");
    fs::create_dir_all(&live).unwrap();
    // Over the files of `tree`: another `a`, and one of its own.
    let upper = session.at("upper");
    fs::create_dir(&upper).unwrap();
    for name in ["a", "own"] {
        fs::copy(session.at("tree/large"), upper.join(name)).unwrap();
    }
    session.done(["-q", "build", "-c", "gzip", "upper", "image-upper"]);
    let other = session.at("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("else"), b"else").unwrap();
    session.done(["-q", "build", "-c", "gzip", "other", "image-other"]);
    let names = ["base.squashfs", "base.live.squashfs", "other.squashfs"];
    for (name, image) in names
        .into_iter()
        .zip(["image", "image-upper", "image-other"])
    {
        fs::copy(session.at(image), live.join(name)).unwrap();
    }
    let trace = "coldpress-trace 1\n0 1 L /z\n1 1 R 0-1 /z\n2 1 L /a\n3 1 R 0-1 /a\n";
    fs::write(session.at("trace"), trace).unwrap();
    session.done(["-q", "profile", "merge", "trace", "-o", "profile"]);
    let shell = |script: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-ec", script]).current_dir(session.at("."));
        assert!(shell.status().unwrap().success(), "{script}");
    };
    shell(
        "cd medium && sha256sum casper/* > SHA256SUMS && xorriso -as mkisofs -quiet -r -J -o \
         ../old.iso .",
    );
    let refused = retrofit(
        &session,
        "old.iso -o new.iso --profile profile -- /bin/true",
    );
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("inside of one image"),
        "{}",
        refused.stderr
    );
    let ran = retrofit(&session, "old.iso -o new.iso --profile profile --json");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let recomputed = &ran.json()["summary"]["recomputed"];
    let sizes = recomputed.as_array().unwrap().iter();
    let sizes = sizes.filter(|it| it.as_str().unwrap().starts_with("size of casper/base"));
    assert!(sizes.count() <= 2, "{recomputed}");
    shell(
        "xorriso -osirrox on -indev new.iso -extract / new 2>/dev/null && cd new && \
         sha256sum -c --quiet SHA256SUMS && chmod -R u+w .",
    );
    let listed = |image: &Path| {
        session
            .done([OsStr::new("ls"), OsStr::new("-lR"), image.as_os_str()])
            .text()
    };
    let is_first = |image: &Path, path: &str| {
        let places = session.done(["stat", "--blocks", image.to_str().unwrap(), path]);
        places.text().contains("image byte 96 to")
    };
    for (name, stays) in names.into_iter().zip([false, false, true]) {
        let (old, new) = (live.join(name), session.at("new/casper").join(name));
        assert_eq!(listed(&old), listed(&new));
        let is_same = fs::read(&old).unwrap() == fs::read(&new).unwrap();
        assert_eq!(is_same, stays, "{name}");
    }
    let new = session.at("new/casper");
    // What the upper layer hides is no part of the lower one.
    assert!(is_first(&new.join("base.squashfs"), "/z"));
    assert!(is_first(&new.join("base.live.squashfs"), "/a"));
    let none = "coldpress-trace 1\n0 1 L /none\n1 1 R 0-1 /none\n";
    fs::write(session.at("trace"), none).unwrap();
    session.done(["-q", "profile", "merge", "trace", "-o", "none"]);
    let ran = retrofit(&session, "old.iso -o none.iso --profile none");
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("no image has a file of the profile"),
        "{}",
        ran.stderr
    );
    assert!(!session.at("none.iso").exists());
}

#[test]
fn a_container_keeps_its_other_objects() {
    let session = session(&[]);
    session.done(["-q", "build", "tree", "old.sif"]);
    let ran = retrofit(&session, "old.sif -o new.sif --plan plan --json");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let read = |name: &str| {
        let bytes = fs::read(session.at(name)).unwrap();
        let sif: Sif = read_sif(&bytes).unwrap().unwrap();
        assert_eq!(sif.damage, None);
        (bytes, sif.descriptors)
    };
    let ((old, before), (new, after)) = (read("old.sif"), read("new.sif"));
    let start = usize::try_from(before.last().unwrap().start).unwrap();
    assert_eq!(before.len(), after.len());
    assert_eq!(before[..before.len() - 1], after[..after.len() - 1]);
    assert!(old[32176..start] == new[32176..start]);
    assert!(new[start..] != old[start..]);
    let none = retrofit(&session, "old.sif -o other.sif");
    assert!(
        none.stderr.contains("there is no command to start"),
        "{}",
        none.stderr
    );
}
