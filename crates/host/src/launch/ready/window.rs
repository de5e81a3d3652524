//! An X11 window, seen when it is mapped.
//!
//! Windows are followed from their making on, so that those that a window manager puts into a
//! frame, which are not below the root window any more when they are mapped, are seen too. Only
//! windows that were made after the start count, so the clients that there were before take no
//! part.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

use x11rb::connection::Connection as _;
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask,
    MapState, Window,
};
use x11rb::rust_connection::RustConnection;

use crate::Error;

/// What is read of a property at most, in units of four bytes.
const PROPERTY_WORDS: u32 = 256;

/// Windows that are followed at once; a program that makes more has made its first one long ago.
const WINDOWS_MAX: usize = 10_000;

/// A server that resets when its last client has gone, as Xvfb does between two starts, refuses and
/// drops connections for some milliseconds. So it is tried again, for so long.
const RESET_TIME: Duration = Duration::from_secs(1);
const RESET_PAUSE: Duration = Duration::from_millis(10);

/// An X11 display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Display(String);

impl Display {
    pub(super) fn parse(variable: Option<OsString>) -> Result<Self, String> {
        let name = variable.and_then(|name| name.into_string().ok());
        let name = name.filter(|name| !name.is_empty());
        name.map(Self)
            .ok_or_else(|| "DISPLAY names no X display, where windows are looked for".to_owned())
    }

    /// Its name, as in `DISPLAY`.
    pub fn name(&self) -> &str {
        &self.0
    }

    fn cannot_watch(&self, why: String) -> Error {
        Error::CannotWatch {
            what: format!("the X display `{}`", self.name()),
            why,
        }
    }
}

/// A connection that is told of new windows.
struct Link {
    connection: RustConnection,
    root: Window,
    atoms: Atoms,
}

impl Link {
    /// Tries again for as long as a reset may take.
    fn open_within_reset(display: &Display, began: Instant) -> Result<Self, String> {
        loop {
            match Self::open(display) {
                Err(why) if began.elapsed() > RESET_TIME => return Err(why),
                Err(_) => sleep(RESET_PAUSE),
                Ok(link) => return Ok(link),
            }
        }
    }

    fn open(display: &Display) -> Result<Self, String> {
        let connected = x11rb::connect(Some(display.name()));
        let (connection, screen) = connected.map_err(|error| error.to_string())?;
        let begin = || -> Result<(Window, Atoms), ReplyError> {
            let roots = &connection.setup().roots;
            let screen = roots.get(screen).ok_or(ConnectionError::UnknownError)?;
            let mask = ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
            connection
                .change_window_attributes(screen.root, &mask)?
                .check()?;
            let atom = |name: &str| -> Result<Atom, ReplyError> {
                Ok(connection
                    .intern_atom(false, name.as_bytes())?
                    .reply()?
                    .atom)
            };
            let atoms = Atoms {
                net_wm_name: atom("_NET_WM_NAME")?,
                wm_protocols: atom("WM_PROTOCOLS")?,
                wm_delete_window: atom("WM_DELETE_WINDOW")?,
            };
            Ok((screen.root, atoms))
        };
        let (root, atoms) = begin().map_err(|error| error.to_string())?;
        Ok(Self {
            connection,
            root,
            atoms,
        })
    }
}

/// The windows of a display.
#[derive(Debug)]
pub(in crate::launch) struct WindowWatch {
    display: Display,
    /// When the watch began.
    began: Instant,
    connection: RustConnection,
    root: Window,
    name: Option<String>,
    atoms: Atoms,
    /// Whether each that is followed is mapped.
    windows: HashMap<Window, bool>,
    found: Option<Window>,
}

#[derive(Debug, Clone, Copy)]
struct Atoms {
    net_wm_name: Atom,
    wm_protocols: Atom,
    wm_delete_window: Atom,
}

impl WindowWatch {
    pub(super) fn begin(display: &Display, name: Option<String>) -> Result<Self, Error> {
        let began = Instant::now();
        let link =
            Link::open_within_reset(display, began).map_err(|why| display.cannot_watch(why))?;
        Ok(Self {
            display: display.clone(),
            began,
            connection: link.connection,
            root: link.root,
            name,
            atoms: link.atoms,
            windows: HashMap::new(),
            found: None,
        })
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.connection.stream().as_fd()
    }

    /// Whether a window that is looked for has been mapped.
    pub(super) fn came_true(&mut self) -> Result<bool, Error> {
        if let Err(error) = self.take_events() {
            if self.began.elapsed() > RESET_TIME {
                return Err(self.display.cannot_watch(error.to_string()));
            }
            self.connect_again()
                .map_err(|why| self.display.cannot_watch(why))?;
        }
        Ok(self.found.is_some())
    }

    /// After a reset, in which the server destroyed all windows: those that are there by now are
    /// new.
    fn connect_again(&mut self) -> Result<(), String> {
        loop {
            let link = Link::open_within_reset(&self.display, self.began)?;
            (self.connection, self.root, self.atoms) = (link.connection, link.root, link.atoms);
            self.windows.clear();
            match self.follow_all() {
                Err(error) if self.began.elapsed() > RESET_TIME => return Err(error.to_string()),
                Err(_) => sleep(RESET_PAUSE),
                Ok(()) => return Ok(()),
            }
        }
    }

    fn follow_all(&mut self) -> Result<(), ConnectionError> {
        let asked = self.connection.query_tree(self.root)?;
        let children = unless_gone(asked.reply())?.map_or_else(Vec::new, |tree| tree.children);
        for window in children {
            let asked = self.connection.get_window_attributes(window)?;
            let attributes = unless_gone(asked.reply())?;
            if attributes.is_some_and(|it| !it.override_redirect) {
                self.follow(window)?;
            }
        }
        self.take_events()
    }

    /// Asks the window to close, if it takes part in that (ICCCM 4.2.8.1); returns whether it does.
    pub(super) fn ask_to_close(&self) -> bool {
        let Some(window) = self.found else {
            return false;
        };
        let Atoms {
            wm_protocols,
            wm_delete_window,
            ..
        } = self.atoms;
        let ask = || -> Result<bool, ReplyError> {
            let protocols = self.connection.get_property(
                false,
                window,
                wm_protocols,
                AtomEnum::ATOM,
                0,
                PROPERTY_WORDS,
            )?;
            let protocols = protocols.reply()?;
            let mut protocols = protocols.value32().into_iter().flatten();
            if !protocols.any(|protocol| protocol == wm_delete_window) {
                return Ok(false);
            }
            let data = [wm_delete_window, x11rb::CURRENT_TIME, 0, 0, 0];
            let message = ClientMessageEvent::new(32, window, wm_protocols, data);
            let sent = self
                .connection
                .send_event(false, window, EventMask::NO_EVENT, message)?;
            sent.check()?;
            Ok(true)
        };
        ask().unwrap_or(false)
    }

    fn take_events(&mut self) -> Result<(), ConnectionError> {
        while self.found.is_none() {
            let Some(event) = self.connection.poll_for_event()? else {
                return Ok(());
            };
            match event {
                Event::CreateNotify(made) if !made.override_redirect => self.follow(made.window)?,
                Event::MapNotify(mapped) => self.map(mapped.window)?,
                Event::UnmapNotify(unmapped) => {
                    self.windows
                        .entry(unmapped.window)
                        .and_modify(|is_mapped| *is_mapped = false);
                }
                // A title or class that comes after the window.
                Event::PropertyNotify(changed)
                    if self.windows.get(&changed.window) == Some(&true) =>
                {
                    self.map(changed.window)?;
                }
                Event::DestroyNotify(gone) => drop(self.windows.remove(&gone.window)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Asks for the events of a new window itself. It may be mapped already, or gone.
    fn follow(&mut self, window: Window) -> Result<(), ConnectionError> {
        if self.windows.len() >= WINDOWS_MAX {
            return Ok(());
        }
        let mask = EventMask::STRUCTURE_NOTIFY | EventMask::PROPERTY_CHANGE;
        let mask = ChangeWindowAttributesAux::new().event_mask(mask);
        let asked = self.connection.change_window_attributes(window, &mask)?;
        if unless_gone(asked.check())?.is_none() {
            return Ok(());
        }
        self.windows.insert(window, false);
        let state = self.connection.get_window_attributes(window)?.reply();
        match unless_gone(state)? {
            Some(state) if state.map_state != MapState::UNMAPPED => self.map(window),
            _ => Ok(()),
        }
    }

    /// A window that is followed is mapped: whether it is the one.
    fn map(&mut self, window: Window) -> Result<(), ConnectionError> {
        if let Some(is_mapped) = self.windows.get_mut(&window) {
            *is_mapped = true;
            if self.is_wanted(window)? {
                self.found = Some(window);
            }
        }
        Ok(())
    }

    /// By name; without one, any that has a class or a title, which frames and helpers lack.
    fn is_wanted(&self, window: Window) -> Result<bool, ConnectionError> {
        let class = self.property(window, AtomEnum::WM_CLASS.into())?;
        let titles = [
            self.property(window, self.atoms.net_wm_name)?,
            self.property(window, AtomEnum::WM_NAME.into())?,
        ];
        let Some(name) = &self.name else {
            return Ok(!class.is_empty() || titles.iter().any(|title| !title.is_empty()));
        };
        let name = name.as_bytes();
        let is_class = class.split(|byte| *byte == 0).any(|part| part == name);
        let is_title = |title: &Vec<u8>| title.windows(name.len()).any(|part| part == name);
        Ok(is_class || titles.iter().any(is_title))
    }

    fn property(&self, window: Window, property: Atom) -> Result<Vec<u8>, ConnectionError> {
        let asked = self.connection.get_property(
            false,
            window,
            property,
            AtomEnum::ANY,
            0,
            PROPERTY_WORDS,
        )?;
        Ok(unless_gone(asked.reply())?.map_or_else(Vec::new, |found| found.value))
    }
}

/// Windows can be gone by the time they are asked about.
fn unless_gone<T>(answer: Result<T, ReplyError>) -> Result<Option<T>, ConnectionError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(ReplyError::X11Error(_)) => Ok(None),
        Err(ReplyError::ConnectionError(error)) => Err(error),
    }
}
