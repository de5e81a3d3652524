//! Windows, with an X server of the test's own.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use coldpress_host::{Error, Outcome, Ready, launch};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
    Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::{command, demand_ready};
use crate::stage::can_run;

/// An X server without a screen that anyone sees; ends with the test.
struct Server {
    server: Child,
    display: String,
}

impl Server {
    /// `None` without Xvfb.
    fn start() -> Option<Self> {
        // It takes the first display that is free, and tells which when it is ready.
        let spawned = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "640x480x24", "-noreset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        if !can_run("peers", "Xvfb", spawned.is_ok()) {
            return None;
        }
        let mut server = spawned.unwrap();
        let mut number = String::new();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        output.read_line(&mut number).unwrap();
        Some(Self {
            server,
            display: format!(":{}", number.trim_end()),
        })
    }

    fn ready(&self, condition: &str) -> Ready {
        let display = OsString::from(&self.display);
        Ready::parse(condition.as_ref(), &move |_| Some(display.clone())).unwrap()
    }

    /// This test program as a client that does what it is told.
    fn client(&self, play: &str, condition: &str) -> Outcome {
        self.launch(play, condition, &mut || false).unwrap()
    }

    /// The same, for half a second in which the condition must not come true.
    fn never(&self, play: &str, condition: &str) {
        let started = Instant::now();
        let mut stop = || started.elapsed() > Duration::from_millis(500);
        let error = self.launch(play, condition, &mut stop).unwrap_err();
        assert!(
            matches!(error, Error::Stopped),
            "{play} {condition}: {error}"
        );
    }

    fn launch(
        &self,
        play: &str,
        condition: &str,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Outcome, Error> {
        self.launch_until(play, self.ready(condition), stop)
    }

    fn launch_until(
        &self,
        play: &str,
        ready: Ready,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Outcome, Error> {
        let program = std::env::current_exe().unwrap();
        let play = format!("{PLAY}={play}");
        let display = format!("DISPLAY={}", self.display);
        let args = ["env", &play, &display, program.to_str().unwrap()];
        let args = [
            &args[..],
            &["--ignored", "--exact", "ready::window::client"],
        ]
        .concat();
        let command = command(&args, ready);
        launch(&command, Path::new("/"), None, stop)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// What the client does: words, one after the other.
const PLAY: &str = "COLDPRESS_TEST_CLIENT";

/// Run by others in a process of its own.
#[test]
#[ignore = "plays the program of another test"]
fn client() {
    let Ok(play) = std::env::var(PLAY) else {
        return;
    };
    let (connection, screen) = x11rb::connect(None).unwrap();
    let root = connection.setup().roots[screen].root;
    let mut window = make(&connection, root, false);
    for word in play.split(',') {
        match word {
            "make" => window = make(&connection, root, false),
            "menu" => window = make(&connection, root, true),
            "class" => text(
                &connection,
                window,
                AtomEnum::WM_CLASS,
                "calc\0Calculator\0",
            ),
            "title" => text(
                &connection,
                window,
                AtomEnum::WM_NAME,
                "Sums - Calculator 3",
            ),
            "map" => drop(connection.map_window(window).unwrap()),
            // As a window manager does, without which nobody would.
            "frame" => {
                let frame = make(&connection, root, true);
                connection.reparent_window(window, frame, 2, 20).unwrap();
                connection.map_window(window).unwrap();
                connection.map_window(frame).unwrap();
            }
            "closes" => {
                let [protocols, delete] = ["WM_PROTOCOLS", "WM_DELETE_WINDOW"].map(|name| {
                    let atom = connection.intern_atom(false, name.as_bytes()).unwrap();
                    atom.reply().unwrap().atom
                });
                connection
                    .change_property32(
                        PropMode::REPLACE,
                        window,
                        protocols,
                        AtomEnum::ATOM,
                        &[delete],
                    )
                    .unwrap();
            }
            "wait" => {
                connection.flush().unwrap();
                std::thread::sleep(Duration::from_millis(100));
            }
            other => panic!("{other}"),
        }
        connection.flush().unwrap();
    }
    loop {
        if let Event::ClientMessage(_) = connection.wait_for_event().unwrap() {
            std::process::exit(5);
        }
    }
}

fn make(connection: &RustConnection, root: Window, is_menu: bool) -> Window {
    let window = connection.generate_id().unwrap();
    let attributes = CreateWindowAux::new().override_redirect(u32::from(is_menu));
    let (depth, class) = (x11rb::COPY_DEPTH_FROM_PARENT, WindowClass::INPUT_OUTPUT);
    connection
        .create_window(depth, window, root, 0, 0, 90, 60, 0, class, 0, &attributes)
        .unwrap();
    window
}

fn text(connection: &RustConnection, window: Window, property: AtomEnum, text: &str) {
    connection
        .change_property8(
            PropMode::REPLACE,
            window,
            property,
            AtomEnum::STRING,
            text.as_bytes(),
        )
        .unwrap();
}

#[test]
fn a_window_ends_the_start_when_it_is_mapped() {
    let Some(server) = Server::start() else {
        return;
    };
    for (play, condition) in [
        ("class,map", "window"),
        ("title,map", "window"),
        ("class,map", "window=calc"),
        ("class,map", "window=Calculator"),
        ("title,map", "window=Sums"),
        // A title that comes late, a second window, one in a frame.
        ("map,wait,title", "window=Sums"),
        ("title,map,make,class,wait,map", "window=calc"),
        ("class,wait,frame", "window=calc"),
        ("class,frame", "window"),
    ] {
        demand_ready(&server.client(play, condition));
    }
}

#[test]
fn other_windows_do_not() {
    let Some(server) = Server::start() else {
        return;
    };
    for (play, condition) in [
        ("class", "window"),
        ("map", "window"),
        ("menu,class,map", "window"),
        ("class,map", "window=Calc"),
        ("title,map", "window=Other"),
    ] {
        server.never(play, condition);
    }
}

#[test]
fn a_window_that_was_there_before_does_not() {
    let Some(server) = Server::start() else {
        return;
    };
    let (connection, screen) = x11rb::connect(Some(&server.display)).unwrap();
    let root = connection.setup().roots[screen].root;
    let before = make(&connection, root, false);
    text(
        &connection,
        before,
        AtomEnum::WM_CLASS,
        "calc\0Calculator\0",
    );
    // Selected, so that the request is known to be done when the answer is there.
    let events = ChangeWindowAttributesAux::new().event_mask(EventMask::STRUCTURE_NOTIFY);
    connection
        .change_window_attributes(before, &events)
        .unwrap();
    connection.map_window(before).unwrap().check().unwrap();
    server.never("make", "window=calc");
}

#[test]
fn a_window_is_asked_to_close_if_it_takes_part() {
    let Some(server) = Server::start() else {
        return;
    };
    let outcome = server.client("class,closes,map", "window");
    demand_ready(&outcome);
    assert_eq!(outcome.status.code, Some(5), "{outcome:?}");
    let outcome = server.client("class,map", "window");
    demand_ready(&outcome);
    assert_eq!(outcome.status.signal, Some(15), "{outcome:?}");
}

/// Stands between clients and a server as one that resets: connections are refused, dropped, and
/// cut while they are used.
fn reset_in_front_of(server: &Server, socket: &Path) {
    let listener = UnixListener::bind(socket).unwrap();
    let number = server.display.trim_start_matches(':');
    let server = format!("/tmp/.X11-unix/X{number}");
    thread::spawn(move || {
        for (index, client) in listener.incoming().enumerate() {
            let client = client.unwrap();
            if index < 2 {
                continue;
            }
            let server = UnixStream::connect(&server).unwrap();
            let ends = [(&client, &server), (&server, &client)].map(|(from, to)| {
                let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Both);
                })
            });
            if index == 2 {
                thread::sleep(Duration::from_millis(50));
                let _ = client.shutdown(Shutdown::Both);
                let _ = server.shutdown(Shutdown::Both);
            }
            drop(ends);
        }
    });
}

#[test]
fn a_server_that_resets_is_asked_again() {
    let Some(server) = Server::start() else {
        return;
    };
    let stage = tempfile::tempdir().unwrap();
    let socket = stage.path().join("display");
    reset_in_front_of(&server, &socket);
    // A path is a display too.
    let variable = socket.into_os_string();
    let ready = Ready::parse("window=calc".as_ref(), &|_| Some(variable.clone())).unwrap();
    let play = "wait,wait,wait,class,map";
    let outcome = server.launch_until(play, ready, &mut || false).unwrap();
    demand_ready(&outcome);
}

#[test]
fn a_display_that_is_not_there_is_named() {
    let nowhere = |_: &str| Some(OsString::from(":32767"));
    let ready = Ready::parse("window".as_ref(), &nowhere).unwrap();
    let command = command(&["true"], ready);
    let error = launch(&command, Path::new("/"), None, &mut || false).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot watch the X display `:32767`: "),
        "{error}"
    );
}
