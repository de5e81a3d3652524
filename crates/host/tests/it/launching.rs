//! Programs, inside the image and outside.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process;
use std::time::{Duration, Instant};

use coldpress_host::{Cgroup, Command, Error, Outcome, Ready, launch};

use crate::stage::{Stage, have_all};

fn command(args: &[&str], chroot: bool) -> Command {
    Command {
        args: args.iter().map(OsString::from).collect(),
        chroot,
        environment: Vec::new(),
        working_directory: None,
        timeout_s: 20,
        ready: Ready::Exit,
    }
}

/// Outside any image; needs no root.
fn shell(script: &str) -> Outcome {
    launch(
        &command(&["sh", "-c", script], false),
        Path::new("/nowhere"),
        None,
        &mut || false,
    )
    .unwrap()
}

/// A root file system with a shell, `cat` and `mkdir`, as small as the machine's own are.
pub(crate) fn small_root(source: &Path) {
    let mut files = vec![
        "/bin/sh".to_owned(),
        "/bin/cat".to_owned(),
        "/bin/mkdir".to_owned(),
    ];
    for program in files.clone() {
        let output = process::Command::new("ldd").arg(program).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let words = text.split_whitespace().filter(|word| word.starts_with('/'));
        files.extend(words.map(str::to_owned));
    }
    for file in files {
        let to = source.join(file.trim_start_matches('/'));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&file, &to).unwrap();
        fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for directory in ["proc", "dev", "tmp", "var/tmp"] {
        fs::create_dir_all(source.join(directory)).unwrap();
    }
    fs::write(source.join("mark"), "of the image").unwrap();
}

#[test]
fn exit_codes_and_signals_are_told_apart() {
    let outcome = shell("exit 7");
    assert_eq!(
        (outcome.status.code, outcome.status.signal),
        (Some(7), None)
    );
    assert!(!outcome.status.success());
    let outcome = shell("kill -TERM $$");
    assert_eq!(
        (outcome.status.code, outcome.status.signal),
        (None, Some(15))
    );
    assert!(shell("true").status.success());
}

#[test]
fn a_program_that_takes_too_long_is_killed() {
    let command = Command {
        timeout_s: 1,
        ..command(&["sh", "-c", "echo begun; sleep 600; true"], false)
    };
    let outcome = launch(&command, Path::new("/"), None, &mut || false).unwrap();
    assert!(outcome.timed_out);
    assert_eq!(outcome.status.signal, Some(9));
    assert_eq!(outcome.stdout_tail, b"begun\n");
    assert!(outcome.wall_ns >= 1_000_000_000);
}

#[test]
fn a_program_is_killed_soon_after_the_caller_wants_to_stop() {
    let command = command(&["sh", "-c", "sleep 600 & sleep 600; true"], false);
    let started = Instant::now();
    let mut asked = 0;
    let error = launch(&command, Path::new("/"), None, &mut || {
        asked += 1;
        asked > 3
    })
    .unwrap_err();
    assert!(matches!(error, Error::Stopped), "{error}");
    assert_eq!(asked, 4);
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn output_never_blocks_the_program_and_its_end_is_kept() {
    let outcome = shell("head -c 3000000 /dev/zero; printf end; printf oops >&2");
    assert!(outcome.status.success(), "{outcome:?}");
    assert_eq!(outcome.stdout_tail.len(), 4096);
    assert!(outcome.stdout_tail.ends_with(b"\0end"));
    assert_eq!(outcome.stderr_tail, b"oops");
}

#[test]
fn input_is_empty_and_the_session_is_its_own() {
    let outcome = shell("cat; ps -o sid= -p $$ 2>/dev/null || echo $$; echo $$");
    let text = String::from_utf8(outcome.stdout_tail).unwrap();
    let ids: Vec<_> = text.split_whitespace().collect();
    assert_eq!(ids.len(), 2, "{text}");
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn processor_time_includes_children() {
    let outcome = shell("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; true");
    assert!(outcome.cpu_ns > 10_000_000, "{outcome:?}");
    assert!(outcome.cpu_ns < outcome.wall_ns * 4);
}

#[test]
fn what_a_program_leaves_running_is_killed() {
    let outcome = shell("sleep 600 & echo $!");
    let pid = String::from_utf8(outcome.stdout_tail).unwrap();
    assert!(outcome.wall_ns < 300_000_000_000);
    assert!(is_gone(pid.trim()));
}

#[test]
fn a_cgroup_finds_even_those_that_left_the_session() {
    if !have_all() {
        return;
    }
    let cgroup = Cgroup::create("leavers").unwrap();
    let command = command(
        &["sh", "-c", "setsid sleep 600 & sleep 0.2; pidof sleep"],
        false,
    );
    let outcome = launch(&command, Path::new("/"), Some(&cgroup), &mut || false).unwrap();
    assert_eq!(
        fs::read_to_string(cgroup.path().join("cgroup.procs")).unwrap(),
        ""
    );
    let path = cgroup.path().to_owned();
    drop(cgroup);
    assert!(!path.exists(), "{outcome:?}");
}

fn is_gone(pid: &str) -> bool {
    let stat = Path::new("/proc").join(pid).join("stat");
    // A zombie that nobody has reaped yet uses nothing.
    (0..200).any(|_| {
        let gone = fs::read_to_string(&stat).map_or(true, |text| text.contains(") Z "));
        if !gone {
            std::thread::sleep(Duration::from_millis(10));
        }
        gone
    })
}

#[test]
fn a_missing_program_is_named_and_so_is_where_it_was_sought() {
    let error = launch(
        &command(&["/nowhere/no-such-program"], false),
        Path::new("/"),
        None,
        &mut || false,
    )
    .unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("cannot run `/nowhere/no-such-program`: No such file or directory"),
        "{text}"
    );
    assert!(text.contains("looked up on this machine"), "{text}");
    let error = launch(&command(&[], false), Path::new("/"), None, &mut || false).unwrap_err();
    assert!(matches!(error, Error::EmptyCommand));
}

#[test]
fn a_program_runs_inside_the_image() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(true, small_root);
    let root = stage.mount.root();
    let script = "cat {root}/mark; echo \" $HOME $PWD\"; mkdir /tmp/a /var/tmp/b && \
                  cat </dev/null && cat /proc/self/comm; exit 5";
    let inside = command(&["sh", "-c", script], true);
    let outcome = launch(&inside, root, None, &mut || false).unwrap();
    let text = String::from_utf8_lossy(&outcome.stdout_tail);
    assert_eq!(text, "of the image /tmp /\ncat\n", "{outcome:?}");
    assert_eq!(outcome.status.code, Some(5));

    // The mounts inside the image vanish with the program.
    let mounts = fs::read_to_string("/proc/thread-self/mountinfo").unwrap();
    let below = format!("{}/", root.display());
    assert!(!mounts.contains(&below), "{mounts}");

    let error = launch(&command(&["missing"], true), root, None, &mut || false).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("are looked up inside the image"),
        "{error}"
    );

    // The same program seen from outside.
    let outcome = launch(
        &command(&["{root}/bin/cat", "{root}/mark"], false),
        root,
        None,
        &mut || false,
    )
    .unwrap();
    assert_eq!(outcome.stdout_tail, b"of the image");
    stage.mount.unmount().unwrap();
}

#[test]
fn an_image_without_a_place_for_proc_is_refused_before_the_run() {
    if !have_all() {
        return;
    }
    for missing in ["proc", "dev", "tmp"] {
        let stage = Stage::new(true, |source| {
            small_root(source);
            fs::remove_dir(source.join(missing)).unwrap();
            // A link that leads to the machine's own directory is none of the image.
            std::os::unix::fs::symlink(format!("/{missing}"), source.join(missing)).unwrap();
        });
        let error = launch(
            &command(&["sh"], true),
            stage.mount.root(),
            None,
            &mut || false,
        )
        .unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with(&format!("`/{missing}` is not a directory")),
            "{text}"
        );
    }
}

#[test]
fn a_step_that_fails_before_the_program_is_named() {
    if !have_all() {
        return;
    }
    // An empty directory instead of a mount: prepared, but it vanishes before the program runs.
    let work = tempfile::tempdir().unwrap();
    for directory in ["proc", "dev", "tmp"] {
        fs::create_dir(work.path().join(directory)).unwrap();
    }
    let cgroup = Cgroup::create("vanished").unwrap();
    fs::remove_dir(cgroup.path()).unwrap();
    let error = launch(
        &command(&["sh"], true),
        work.path(),
        Some(&cgroup),
        &mut || false,
    )
    .unwrap_err();
    assert!(error.to_string().starts_with("cannot open `"), "{error}");
}
