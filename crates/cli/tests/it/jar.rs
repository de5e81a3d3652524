//! `coldpress jar`: archives of other tools, ordered and looked at.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use coldpress_testkit::without_peer;

use crate::run::Stage;

/// An archive of python3 with a hundred entries, and what a start says of it.
fn stage() -> Option<Stage> {
    if without_peer("python3") {
        return None;
    }
    let stage = Stage::new();
    let script = "import zipfile\n\
                  with zipfile.ZipFile('app.jar', 'w', zipfile.ZIP_DEFLATED) as jar:\n    \
                  for i in range(100): jar.writestr(f'd/{i}', str(i) * 9000)\n";
    let made = Command::new("python3")
        .args(["-c", script])
        .current_dir(stage.at(""))
        .status();
    assert!(made.unwrap().success());
    fs::write(
        stage.at("jar.log"),
        "lib/app.jar d/70\nother.jar d/1\nlib/app.jar d/3\n",
    )
    .unwrap();
    Some(stage)
}

#[test]
fn an_archive_is_ordered_by_what_a_program_said() {
    let Some(stage) = stage() else { return };
    let ran = stage.run([
        "jar",
        "order",
        "app.jar",
        "-o",
        "new.jar",
        "--log",
        "jar.log",
        "--known-as",
        "/lib/app.jar",
        "--store",
        "hot",
        "--verify",
        "--json",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let done = ran.json();
    assert_eq!(
        (&done["layout"], &done["hot_entries"]),
        (&"tail".into(), &2.into())
    );
    assert_eq!(
        (&done["stored_entries"], &done["hot_runs"]),
        (&2.into(), &1.into())
    );
    // All of the old archive lies in one block.
    let predicted = &done["predicted"]["image_before"]["reads"];
    assert_eq!(predicted, 1, "{}", done["predicted"]);
    let listed = stage.run(["jar", "ls", "new.jar", "--json"]);
    let listed = listed.json();
    let last: Vec<_> = listed.as_array().unwrap()[98..]
        .iter()
        .map(|row| &row["name"])
        .collect();
    assert_eq!(last, ["d/70", "d/3"]);
    let script = "import zipfile; jar = zipfile.ZipFile('new.jar'); \
                  assert jar.testzip() is None and jar.read('d/70') == b'70' * 9000";
    let read = Command::new("python3")
        .args(["-c", script])
        .current_dir(stage.at(""))
        .status();
    assert!(read.unwrap().success());
}

#[test]
fn a_trace_names_entries_by_their_pages_and_is_carried_over() {
    let Some(stage) = stage() else { return };
    let text = stage.run(["jar", "ls", "app.jar", "--json"]).json();
    let page = text[50]["start"].as_u64().unwrap() / 4096;
    let trace = format!("coldpress-trace 1\n0 1 R {page}-{page} /opt/app.jar\n");
    fs::write(stage.at("start.trace"), trace).unwrap();
    let log = stage.run(["jar", "log", "app.jar", "--trace", "start.trace"]);
    assert!(log.text().contains("app.jar d/50\n"), "{}", log.text());
    let ran = stage.run([
        "jar",
        "order",
        "app.jar",
        "-o",
        "new.jar",
        "--trace",
        "start.trace",
        "--trace-out",
        "new.trace",
        "--layout",
        "double",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let carried = fs::read_to_string(stage.at("new.trace")).unwrap();
    let events: Vec<&str> = carried
        .lines()
        .filter(|line| line.ends_with("/opt/app.jar"))
        .collect();
    assert!(
        matches!(events[..], [event] if event.contains(" R ")),
        "{carried}"
    );
    let again = stage.run([
        "jar",
        "log",
        "new.jar",
        "--trace",
        "new.trace",
        "--known-as",
        "app.jar",
    ]);
    let names = |text: &str| -> Vec<String> {
        text.lines()
            .map(|line| line.split(' ').nth(1).unwrap().to_owned())
            .collect()
    };
    let (before, after) = (names(&log.text()), names(&again.text()));
    assert!(
        before.iter().all(|name| after.contains(name)),
        "{before:?} {after:?}"
    );
}

#[test]
fn a_file_is_replaced_only_if_asked_and_keeps_its_mode() {
    let Some(stage) = stage() else { return };
    let before = fs::read(stage.at("app.jar")).unwrap();
    fs::set_permissions(stage.at("app.jar"), fs::Permissions::from_mode(0o640)).unwrap();
    let ran = stage.run(["jar", "order", "app.jar", "--log", "jar.log"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let same = stage.run([
        "jar", "order", "app.jar", "-o", "app.jar", "--log", "jar.log",
    ]);
    assert_eq!(same.code, Some(2), "{}", same.stderr);
    assert_eq!(fs::read(stage.at("app.jar")).unwrap(), before);
    let names = "d/9\nd/8\n";
    fs::write(stage.at("names"), names).unwrap();
    let ran = stage.run(["jar", "order", "app.jar", "--in-place", "--log", "names"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let after = fs::metadata(stage.at("app.jar")).unwrap();
    assert_eq!(after.permissions().mode() & 0o777, 0o640);
    assert_ne!(fs::read(stage.at("app.jar")).unwrap(), before);
}

#[test]
fn damage_is_told_with_its_place() {
    let Some(stage) = stage() else { return };
    let mut bytes = fs::read(stage.at("app.jar")).unwrap();
    bytes[40] ^= 0x55;
    fs::write(stage.at("bad.jar"), bytes).unwrap();
    let ran = stage.run(["jar", "check", "app.jar", "bad.jar"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let text = ran.text();
    assert!(
        text.contains("app.jar: 100 of 100 entries verified"),
        "{text}"
    );
    assert!(
        text.contains("bad.jar: 99 of 100 entries verified\n  error: the entry `d/0` at byte 0"),
        "{text}"
    );
    fs::write(stage.at("none.jar"), "x".repeat(100)).unwrap();
    let ran = stage.run(["jar", "check", "none.jar"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("is neither a ZIP nor an asar archive"),
        "{}",
        ran.stderr
    );
    let ran = stage.run([
        "jar", "order", "app.jar", "-o", "new.jar", "--log", "bad.jar",
    ]);
    assert!(
        ran.stderr.contains("nothing says that `app.jar` was used"),
        "{}",
        ran.stderr
    );
}

#[test]
fn explain_names_the_entry_that_a_read_was_for() {
    let Some(stage) = stage() else { return };
    fs::create_dir(stage.at("tree")).unwrap();
    fs::rename(stage.at("app.jar"), stage.at("tree/app.jar")).unwrap();
    stage.done(["-q", "build", "tree", "image", "-b", "4K"]);
    fs::write(
        stage.at("start.trace"),
        "coldpress-trace 1\n0 1 R 0-0 /app.jar\n",
    )
    .unwrap();
    let args = ["explain", "image", "--trace", "start.trace"];
    let json = stage.done(args.iter().copied().chain(["--json"])).json();
    let found = &json["archives"][0];
    assert_eq!(
        (&found["archive"], &found["device_reads"]),
        (&"/app.jar".into(), &1.into())
    );
    assert!(found["name"].as_str().unwrap().starts_with("d/"), "{found}");
    assert!(stage.done(args).text().contains("entry of an archive"));
}

#[test]
fn profiles_give_lists_of_entries() {
    let Some(stage) = stage() else { return };
    fs::create_dir(stage.at("tree")).unwrap();
    fs::rename(stage.at("app.jar"), stage.at("tree/app.jar")).unwrap();
    fs::write(
        stage.at("start.trace"),
        "coldpress-trace 1\n0 1 R 0-0 /app.jar\n",
    )
    .unwrap();
    let args = ["profile", "export", "start.trace", "--format", "jarlog"];
    let ran = stage.done(args.iter().copied().chain(["--source", "tree"]));
    assert!(ran.text().starts_with("app.jar d/0\n"), "{}", ran.text());
    let ran = stage.run(args);
    assert!(
        ran.stderr
            .contains("give the tree with the archives as `--source`"),
        "{}",
        ran.stderr
    );
}
