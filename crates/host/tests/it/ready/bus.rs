//! Names on a message bus, with a bus of the test's own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use coldpress_host::{Error, Ready, launch};

use super::{command, demand_ready, run};
use crate::stage::can_run;

/// A session bus; ends with the test.
struct Bus {
    daemon: Child,
    address: String,
}

impl Bus {
    /// `None` without dbus-daemon.
    fn start() -> Option<Self> {
        let spawned = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--nopidfile", "--print-address"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        if !can_run("peers", "dbus-daemon", spawned.is_ok()) {
            return None;
        }
        let mut daemon = spawned.unwrap();
        let mut address = String::new();
        let mut output = BufReader::new(daemon.stdout.take().unwrap());
        output.read_line(&mut address).unwrap();
        Some(Self {
            daemon,
            address: address.trim_end().to_owned(),
        })
    }

    fn ready(&self, name: &str) -> Ready {
        let address = self.address.clone();
        let text = format!("dbus={name}");
        Ready::parse(text.as_ref(), &move |_| Some(address.clone().into())).unwrap()
    }

    /// This test program as one that takes a name after a while and keeps it.
    fn owner(&self, name: &str, ready: Ready) -> coldpress_host::Command {
        let program = std::env::current_exe().unwrap();
        let owner = format!("{OWNER}={name}");
        let address = format!("DBUS_SESSION_BUS_ADDRESS={}", self.address);
        let args = ["env", &owner, &address, program.to_str().unwrap()];
        let args = [&args[..], &["--ignored", "--exact", "ready::bus::owner"]].concat();
        command(&args, ready)
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// The name that the program takes.
const OWNER: &str = "COLDPRESS_TEST_OWNER";

/// Run by others in a process of its own.
#[test]
#[ignore = "plays the program of another test"]
fn owner() {
    let Ok(name) = std::env::var(OWNER) else {
        return;
    };
    let address = std::env::var("DBUS_SESSION_BUS_ADDRESS").unwrap();
    let path = address.strip_prefix("unix:path=").unwrap();
    let mut bus = UnixStream::connect(path.split(',').next().unwrap()).unwrap();
    bus.write_all(b"\0AUTH EXTERNAL ").unwrap();
    for digit in rustix::process::geteuid().as_raw().to_string().bytes() {
        write!(bus, "{digit:02x}").unwrap();
    }
    bus.write_all(b"\r\n").unwrap();
    assert!(bus.read(&mut [0; 100]).unwrap() > 0);
    bus.write_all(b"BEGIN\r\n").unwrap();
    bus.write_all(&call("Hello", b"", &[])).unwrap();
    thread::sleep(Duration::from_millis(100));
    let mut body = Vec::new();
    put_text(&mut body, &name);
    pad(&mut body, 4);
    // No flags.
    body.extend([0; 4]);
    bus.write_all(&call("RequestName", b"su", &body)).unwrap();
    thread::sleep(Duration::from_mins(1));
}

/// A call of a method of the bus, written here once more, by hand.
fn call(member: &str, signature: &[u8], body: &[u8]) -> Vec<u8> {
    let mut fields = Vec::new();
    for (code, kind, value) in [
        (1, b'o', "/org/freedesktop/DBus"),
        (6, b's', "org.freedesktop.DBus"),
        (3, b's', member),
    ] {
        pad(&mut fields, 8);
        fields.extend([code, 1, kind, 0]);
        put_text(&mut fields, value);
    }
    pad(&mut fields, 8);
    let len = u8::try_from(signature.len()).unwrap();
    fields.extend([8, 1, b'g', 0, len]);
    fields.extend(signature);
    fields.push(0);
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_le_bytes();
    let mut message = vec![b'l', 1, 0, 1];
    message.extend(length(body));
    message.extend([7, 0, 0, 0]);
    message.extend(length(&fields));
    message.extend(fields);
    pad(&mut message, 8);
    message.extend(body);
    message
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    pad(bytes, 4);
    bytes.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.push(0);
}

fn pad(bytes: &mut Vec<u8>, alignment: usize) {
    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
}

#[test]
fn a_name_with_an_owner_ends_the_start() {
    let Some(bus) = Bus::start() else { return };
    let name = "org.example.Started";
    demand_ready(&run(&bus.owner(name, bus.ready(name))));
    // Nobody else's name ends it.
    let other = bus.owner(name, bus.ready("org.example.Other"));
    let started = Instant::now();
    let mut stop = || started.elapsed() > Duration::from_millis(500);
    let error = launch(&other, Path::new("/"), None, &mut stop).unwrap_err();
    assert!(matches!(error, Error::Stopped), "{error}");
}

#[test]
fn a_name_that_has_an_owner_already_is_refused() {
    let Some(bus) = Bus::start() else { return };
    // The bus itself owns its name, and may not be called something that one waits for.
    let command = command(&["true"], bus.ready("org.freedesktop.DBus"));
    let error = launch(&command, Path::new("/"), None, &mut || false).unwrap_err();
    assert!(matches!(error, Error::AlreadyReady { .. }), "{error}");
}

#[test]
fn a_bus_that_is_not_there_is_named() {
    let nowhere = |_: &str| Some("unix:path=/nowhere/bus".into());
    let ready = Ready::parse("dbus=org.example.App".as_ref(), &nowhere).unwrap();
    let command = command(&["true"], ready);
    let error = launch(&command, Path::new("/"), None, &mut || false).unwrap_err();
    let expected = "cannot watch the name `org.example.App` on the message bus: No such file";
    assert!(error.to_string().starts_with(expected), "{error}");
}
