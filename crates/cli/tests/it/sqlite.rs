//! `coldpress sqlite`: what it says of databases, and how it rewrites them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::disk::{Disk, extents};
use crate::run::{Stage, comes_true, command};

/// Half of the rows are gone again.
fn fill(path: &Path, settings: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(settings).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE history(id INTEGER PRIMARY KEY, url TEXT, icon BLOB);
             CREATE INDEX urls ON history(url);
             CREATE TABLE plain(a, b);
             CREATE VIEW urls_only AS SELECT url FROM history;
             CREATE TRIGGER gone AFTER DELETE ON plain BEGIN DELETE FROM history; END;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
             INSERT INTO history SELECT i, 'https://example.org/' || i, zeroblob(i % 900) FROM n;
             INSERT INTO plain SELECT id * 0.5, url FROM history WHERE id % 7 = 0;
             DELETE FROM history WHERE id % 2 = 0;",
        )
        .unwrap();
    connection
}

/// A database without anything beside it, in pieces.
fn database(disk: &Disk, settings: &str) -> std::path::PathBuf {
    let made = disk.at("made");
    fill(&made, settings).close().unwrap();
    let path = disk.in_pieces("data.sqlite", &fs::read(&made).unwrap());
    fs::remove_file(made).unwrap();
    path
}

fn one<T: rusqlite::types::FromSql>(path: &Path, sql: &str) -> T {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let connection = Connection::open_with_flags(path, flags).unwrap();
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn survey(stage: &Stage, name: &str, code: i32) -> Value {
    let ran = stage.run(["sqlite", "--json", name]);
    assert_eq!(ran.code, Some(code), "{}", ran.stderr);
    ran.json()[0].clone()
}

#[test]
fn a_database_is_described() {
    let stage = Stage::new();
    let path = stage.at("data.sqlite");
    let settings = "PRAGMA page_size = 1024; PRAGMA encoding = 'UTF-16le'; PRAGMA auto_vacuum = 2;
                    PRAGMA user_version = 7; PRAGMA application_id = 8;";
    fill(&path, settings).close().unwrap();
    let row = survey(&stage, "data.sqlite", 0);
    let expected = json!({
        "path": "data.sqlite", "page_size_bytes": 1024, "journal_mode": "rollback", "wal_bytes": 0,
        "encoding": "UTF-16le", "auto_vacuum": "incremental", "user_version": 7, "application_id": 8,
        "growth_chunk_bytes": null, "integrity": "sound", "has_hot_journal": false,
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&row[name], value, "{name}");
    }
    let pages: u64 = one::<i64>(&path, "PRAGMA page_count").try_into().unwrap();
    let free: u64 = one::<i64>(&path, "PRAGMA freelist_count")
        .try_into()
        .unwrap();
    assert_eq!(
        (&row["pages"], &row["free_pages"]),
        (&pages.into(), &free.into())
    );
    assert!(free > 10);
    let text = stage.done(["sqlite", "data.sqlite"]).text();
    for line in [
        "page size    1.00 KiB\n",
        "journal      rollback\n",
        "check        sound\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn looking_at_a_database_in_wal_mode_leaves_nothing_beside_it() {
    let stage = Stage::new();
    let path = stage.at("data.sqlite");
    let connection = fill(&path, "PRAGMA journal_mode = WAL;");
    let row = survey(&stage, "data.sqlite", 0);
    assert_eq!(row["journal_mode"], "wal");
    assert!(row["wal_bytes"].as_u64() > Some(0));
    connection.close().unwrap();
    let row = survey(&stage, "data.sqlite", 0);
    assert_eq!(
        (&row["wal_bytes"], &row["integrity"]),
        (&json!(0), &json!("sound"))
    );
    assert_eq!(crate::run::names(stage.directory()), ["data.sqlite"]);
}

#[test]
fn damage_and_locks_are_told() {
    let stage = Stage::new();
    let path = stage.at("data.sqlite");
    let connection = fill(&path, "");
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let row = survey(&stage, "data.sqlite", 1);
    assert!(
        row["integrity"]["unknown"]
            .as_str()
            .unwrap()
            .contains("locked"),
        "{row}"
    );
    drop(connection);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[8192..middle].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    let row = survey(&stage, "data.sqlite", 1);
    assert!(row["integrity"]["damaged"].is_array(), "{row}");
    let text = stage.run(["sqlite", "data.sqlite"]).text();
    assert!(text.contains("\ndamage       "), "{text}");
    fs::write(
        stage.at("text"),
        "no database, but long enough for a header\n".repeat(9),
    )
    .unwrap();
    fs::write(stage.at("empty"), "").unwrap();
    for (args, says) in [
        (&["text"][..], "`text` is no SQLite database: byte 0: "),
        (&["empty"], "`empty` is no SQLite database: it is empty"),
        (&["missing"], "cannot read `missing`"),
        (&["."], "`.` is not a regular file"),
        (&["--page-size", "4096", "text"], "--fix"),
        (
            &["--fix", "--page-size", "5000", "text"],
            "page size is 5000 bytes",
        ),
        (
            &["--fix", "--page-size", "128K", "text"],
            "page size is 131072 bytes",
        ),
    ] {
        let ran = stage.run([&["sqlite"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_database_is_rewritten_as_asked() {
    let Some(disk) = Disk::new() else {
        return;
    };
    for (settings, mode) in [
        (
            "PRAGMA user_version = 5; PRAGMA application_id = 9;",
            "delete",
        ),
        (
            "PRAGMA user_version = 5; PRAGMA application_id = 9; PRAGMA journal_mode = WAL;",
            "wal",
        ),
    ] {
        let path = database(&disk, settings);
        rustix::fs::setxattr(&path, "user.note", b"x", rustix::fs::XattrFlags::empty()).unwrap();
        std::os::unix::fs::chown(&path, Some(1234), Some(4321)).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
        let old = fs::read(&path).unwrap();
        let before = extents(&path);
        let args = [
            "sqlite",
            "--fix",
            "--page-size",
            "8K",
            "--chunk",
            "2M",
            "--keep-old",
            "--json",
            "data.sqlite",
        ];
        let row = disk.done(&args).json()[0].clone();
        assert_eq!(
            (&row["page_size_bytes"], &row["free_pages"]),
            (&json!(8192), &json!(0))
        );
        assert_eq!(
            (&row["extents"], &row["integrity"]),
            (&json!(1), &json!("sound"))
        );
        assert_eq!(row["before"]["extents"], before);
        let metadata = path.metadata().unwrap();
        let space = row["size_bytes"].as_u64().unwrap() + row["reserved_bytes"].as_u64().unwrap();
        assert_eq!(space, 2 << 20);
        assert_eq!(
            (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777),
            (1234, 4321, 0o640)
        );
        assert_eq!(
            rustix::fs::getxattr(&path, "user.note", &mut [0; 8][..]),
            Ok(1)
        );
        assert!(metadata.len() < old.len() as u64);
        assert_eq!(fs::read(disk.at("data.sqlite.bak")).unwrap(), old);
        assert_eq!(disk.names(), ["data.sqlite", "data.sqlite.bak"]);
        assert_eq!(one::<String>(&path, "PRAGMA journal_mode"), mode);
        let rows = "SELECT count(*) || ' ' || sum(length(icon)) FROM history";
        assert_eq!(
            one::<String>(&path, rows),
            one::<String>(&disk.at("data.sqlite.bak"), rows)
        );
        assert_eq!(one::<i64>(&path, "PRAGMA user_version"), 5);
        // What is kept is not replaced.
        let ran = disk.run(&["sqlite", "--fix", "--keep-old", "data.sqlite"]);
        assert_eq!(ran.code, Some(1));
        assert!(
            ran.stderr.contains("data.sqlite.bak` exists already"),
            "{}",
            ran.stderr
        );
        for name in disk.names() {
            fs::remove_file(disk.at(&name)).unwrap();
        }
    }
}

#[test]
fn what_a_killed_program_left_in_the_log_is_not_lost() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let connection = fill(&disk.at("made"), "PRAGMA journal_mode = WAL;");
    connection
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0")
        .unwrap();
    connection
        .execute_batch("INSERT INTO plain VALUES ('only in the log', 1)")
        .unwrap();
    // As a kill leaves them.
    for ending in ["", "-wal"] {
        fs::copy(
            disk.at(&format!("made{ending}")),
            disk.at(&format!("data.sqlite{ending}")),
        )
        .unwrap();
    }
    drop(connection);
    fs::remove_file(disk.at("made")).unwrap();
    disk.done(&["sqlite", "--fix", "data.sqlite"]);
    let path = disk.at("data.sqlite");
    assert_eq!(
        one::<i64>(
            &path,
            "SELECT count(*) FROM plain WHERE a = 'only in the log'"
        ),
        1
    );
    assert_eq!(disk.names(), ["data.sqlite"]);
}

#[test]
fn a_database_that_is_open_damaged_or_linked_is_left() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let path = database(&disk, "");
    let bytes = fs::read(&path).unwrap();
    let refused = |says: &str| {
        let ran = disk.run(&["sqlite", "--fix", "data.sqlite"]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert!(ran.stderr.contains(says), "{says}: {}", ran.stderr);
        assert_eq!(ran.stdout, b"");
    };
    let stdin = fs::File::open(&path).unwrap();
    let mut child = Command::new("sleep")
        .arg("60")
        .stdin(stdin)
        .spawn()
        .unwrap();
    refused("it is in use by sleep (process ");
    child.kill().unwrap();
    child.wait().unwrap();
    fs::hard_link(&path, disk.at("link")).unwrap();
    refused("it must have one");
    fs::remove_file(disk.at("link")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
    let mut damaged = bytes;
    let middle = damaged.len() / 2;
    damaged[8192..middle].fill(0x5a);
    fs::write(&path, &damaged).unwrap();
    refused("is damaged: ");
    assert_eq!(fs::read(&path).unwrap(), damaged);
    assert_eq!(disk.names(), ["data.sqlite"]);
}

#[test]
fn a_kill_leaves_a_whole_database() {
    let Some(disk) = Disk::new() else {
        return;
    };
    let path = database(&disk, "");
    let rows: i64 = one(&path, "SELECT count(*) FROM history");
    for moment in 0..20 {
        let mut command = disk.command(&["-q", "sqlite", "--fix", "data.sqlite"]);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(moment * 6));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            comes_true(|| disk.names() == ["data.sqlite"]),
            "{moment}: {:?}",
            disk.names()
        );
        assert_eq!(
            one::<String>(&path, "PRAGMA integrity_check"),
            "ok",
            "{moment}"
        );
        assert_eq!(
            one::<i64>(&path, "SELECT count(*) FROM history"),
            rows,
            "{moment}"
        );
    }
    disk.done(&["sqlite", "--fix", "data.sqlite"]);
    assert_eq!(extents(&path), 1);
    let mut closed = command();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ran = closed
        .arg("sqlite")
        .arg(&path)
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(0));
}
