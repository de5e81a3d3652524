//! When a start is over: each condition with what it waits for.

mod bus;
mod window;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process;
use std::time::Duration;

use coldpress_host::{Cgroup, Command, Error, Outcome, Ready, launch, start};

use crate::stage::{Stage, have_all};

/// The longest that anything here may take to be seen; it is there within milliseconds.
const SOON: Duration = Duration::from_secs(10);

pub(crate) fn ready(text: &str) -> Ready {
    Ready::parse(OsStr::new(text), &|name| std::env::var_os(name)).unwrap()
}

pub(crate) fn command(args: &[&str], ready: Ready) -> Command {
    Command {
        args: args.iter().map(OsString::from).collect(),
        chroot: false,
        environment: Vec::new(),
        working_directory: None,
        timeout_s: 30,
        ready,
    }
}

/// Outside any image; needs no root.
pub(crate) fn run(command: &Command) -> Outcome {
    launch(command, Path::new("/nowhere"), None, &mut || false).unwrap()
}

/// A shell that would go on for a minute.
fn shell(script: &str, condition: &str) -> Outcome {
    let script = format!("{script}; sleep 60; true");
    run(&command(&["sh", "-c", &script], ready(condition)))
}

fn demand_ready(outcome: &Outcome) {
    assert!(outcome.became_ready && !outcome.timed_out, "{outcome:?}");
    assert!(u128::from(outcome.wall_ns) < SOON.as_nanos(), "{outcome:?}");
}

/// Names the test that plays a listener; the program is this one.
const LISTENER: &str = "COLDPRESS_TEST_LISTENER";

/// Run by others in a process of its own.
#[test]
#[ignore = "plays the program of another test"]
fn listener() {
    let Ok(what) = std::env::var(LISTENER) else {
        return;
    };
    std::thread::sleep(Duration::from_millis(50));
    let mut byte = [0];
    if let Ok(port) = what.parse::<u16>() {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        let _ = socket.accept().unwrap().0.read(&mut byte);
    } else {
        let socket = UnixListener::bind(what).unwrap();
        let _ = socket.accept().unwrap().0.read(&mut byte);
    }
    std::thread::sleep(Duration::from_mins(1));
}

/// This test program as a listener on a port or at a path.
fn listen(at: &str, condition: &str) -> Command {
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    let variable = format!("{LISTENER}={at}");
    let args = [
        "env",
        &variable,
        program,
        "--ignored",
        "--exact",
        "ready::listener",
    ];
    command(&args, ready(condition))
}

#[test]
fn a_line_on_either_stream_ends_the_start() {
    for script in ["echo up", "echo up >&2", "printf 'a\\nserver up\\r\\nb'"] {
        let outcome = shell(script, "line=up$");
        demand_ready(&outcome);
        assert_eq!(outcome.status.signal, Some(15), "{outcome:?}");
    }
    // The last words of a program that ends with them.
    let outcome = run(&command(&["printf", "up"], ready("line=^up$")));
    demand_ready(&outcome);
}

#[test]
fn a_program_that_ends_before_it_is_ready_has_failed() {
    for (script, code) in [("echo sorry >&2; exit 3", 3), ("exit 0", 0)] {
        let outcome = run(&command(&["sh", "-c", script], ready("line=up")));
        assert!(!outcome.became_ready && !outcome.timed_out, "{outcome:?}");
        assert_eq!(outcome.status.code, Some(code));
    }
}

#[test]
fn a_program_that_is_never_ready_is_killed_when_its_time_is_up() {
    let mut command = command(&["sleep", "600"], ready("line=up"));
    command.timeout_s = 1;
    let outcome = run(&command);
    assert!(outcome.timed_out && !outcome.became_ready, "{outcome:?}");
}

#[test]
fn a_port_ends_the_start_when_it_accepts() {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let number = port.local_addr().unwrap().port();
    let condition = format!("port={number}");
    let error = launch(&listen("1", &condition), Path::new("/"), None, &mut || {
        false
    })
    .unwrap_err();
    let expected = format!("port {number} accepts connections before the program starts");
    assert!(error.to_string().starts_with(&expected), "{error}");
    drop(port);
    demand_ready(&run(&listen(&number.to_string(), &condition)));
}

#[test]
fn a_socket_ends_the_start_when_it_accepts() {
    let work = tempfile::tempdir().unwrap();
    let path = work.path().join("a socket");
    let text = path.to_str().unwrap();
    let condition = format!("socket={text}");
    let listening = UnixListener::bind(&path).unwrap();
    let error = launch(&listen("x", &condition), Path::new("/"), None, &mut || {
        false
    })
    .unwrap_err();
    assert!(matches!(error, Error::AlreadyReady { .. }), "{error}");
    // What a program leaves behind accepts nothing.
    drop(listening);
    let left_behind = shell("echo up", "line=up");
    demand_ready(&left_behind);
    fs::remove_file(&path).unwrap();
    demand_ready(&run(&listen(text, &condition)));
}

#[test]
fn a_file_ends_the_start_when_it_is_new() {
    let work = tempfile::tempdir().unwrap();
    let path = work.path().join("some/where/ready");
    let condition = format!("file={}", path.display());
    let make = format!(
        "sleep 0.1; mkdir -p {0}/some/where; echo > {0}/some/where/ready",
        work.path().display()
    );
    demand_ready(&shell(&make, &condition));
    assert!(path.exists());
    // The file of the start before is none of this one's.
    let again = format!("sleep 0.2; echo again > {}", path.display());
    let outcome = shell(&again, &condition);
    demand_ready(&outcome);
    assert!(outcome.wall_ns >= 200_000_000, "{outcome:?}");
    let moved = format!("sleep 0.1; echo > {0}.new; mv {0}.new {0}", path.display());
    demand_ready(&shell(&moved, &condition));
}

#[test]
fn a_command_that_succeeds_ends_the_start() {
    let work = tempfile::tempdir().unwrap();
    let root = work.path();
    let script = format!("sleep 0.1; echo > '{}/x'", root.display());
    let args = ["sh", "-c", &format!("{script}; sleep 60; true")];
    let command = command(&args, ready("cmd=test -e {root}/x"));
    let outcome = launch(&command, root, None, &mut || false).unwrap();
    demand_ready(&outcome);
    assert!(outcome.wall_ns >= 100_000_000, "{outcome:?}");
}

#[test]
fn a_command_that_hangs_is_killed_with_the_program() {
    let mut command = command(&["sleep", "600"], ready("cmd=sleep 600"));
    command.timeout_s = 1;
    assert!(run(&command).timed_out);
}

#[test]
fn a_ready_program_may_end_in_its_own_way() {
    let outcome = shell(
        "trap 'echo bye; exit 7' TERM; echo up; sleep 60 & wait",
        "line=up",
    );
    demand_ready(&outcome);
    assert_eq!(outcome.status.code, Some(7), "{outcome:?}");
    assert_eq!(outcome.stdout_tail, b"up\nbye\n");
}

#[test]
fn one_that_is_deaf_is_killed() {
    let outcome = run(&command(
        &["sh", "-c", "trap '' TERM; echo up; sleep 60; sleep 60"],
        ready("line=up"),
    ));
    demand_ready(&outcome);
    assert_eq!(outcome.status.signal, Some(9), "{outcome:?}");
}

#[test]
fn what_was_read_is_known_when_it_is_ready_and_not_when_it_has_ended() {
    let command = command(
        &[
            "sh",
            "-c",
            "trap 'sleep 0.3; exit' TERM; echo up; sleep 60 & wait",
        ],
        ready("line=up"),
    );
    let mut running = start(&command, Path::new("/"), None).unwrap();
    running.wait(&mut || false).unwrap();
    let outcome = running.finish(&mut || false).unwrap();
    demand_ready(&outcome);
    assert!(outcome.wall_ns < 300_000_000, "{outcome:?}");
}

#[test]
fn a_service_that_goes_to_the_background_is_waited_for() {
    if !have_all() {
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let path = work.path().join("ready");
    let script = format!(
        "setsid sh -c 'sleep 0.2; echo > {}; sleep 60' & exit 0",
        path.display()
    );
    let service = command(
        &["sh", "-c", &script],
        ready(&format!("file={}", path.display())),
    );
    let cgroup = Cgroup::create("service").unwrap();
    let outcome = launch(&service, Path::new("/"), Some(&cgroup), &mut || false).unwrap();
    demand_ready(&outcome);
    assert!(outcome.wall_ns >= 200_000_000, "{outcome:?}");
    let members = fs::read_to_string(cgroup.path().join("cgroup.procs")).unwrap();
    assert_eq!(members, "");
}

#[test]
fn processor_time_ends_with_the_start() {
    if !have_all() {
        return;
    }
    let count = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let script = format!("{count}; echo up; {count}; {count}; {count}; sleep 60");
    let cgroup = Cgroup::create("busy").unwrap();
    let counting = command(&["sh", "-c", &script], ready("line=up"));
    let outcome = launch(&counting, Path::new("/"), Some(&cgroup), &mut || false).unwrap();
    demand_ready(&outcome);
    assert!(outcome.cpu_ns >= 10_000_000, "{outcome:?}");
    assert!(
        outcome.cpu_ns <= outcome.wall_ns + 20_000_000,
        "{outcome:?}"
    );
}

/// Its `/tmp` is its own, and a link of the image leads to where it leads the program.
#[test]
fn paths_of_a_program_inside_the_image_are_its_own() {
    if !have_all() {
        return;
    }
    let stage = Stage::new(true, |source| {
        crate::launching::small_root(source);
        std::os::unix::fs::symlink("/tmp", source.join("link")).unwrap();
    });
    let name = format!("coldpress-ready-{}", process::id());
    for condition in [
        format!("file=/tmp/{name}"),
        format!("file={{root}}/tmp/{name}"),
        format!("file=/link/{name}"),
        format!("cmd=test -e {{root}}/tmp/{name}"),
    ] {
        // Endless without a program: the image has no `sleep`.
        let script = format!("echo > /tmp/{name}; while :; do cat /mark; done");
        let inside = Command {
            chroot: true,
            ..command(&["sh", "-c", &script], ready(&condition))
        };
        let outcome = launch(&inside, stage.mount.root(), None, &mut || false).unwrap();
        demand_ready(&outcome);
        assert!(!Path::new("/tmp").join(&name).exists());
    }
    stage.mount.unmount().unwrap();
}
