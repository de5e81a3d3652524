//! A condition, watched from before the start until it comes true.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::Duration;

use super::bus::BusWatch;
use super::file::FileWatch;
use super::place::{Place, Seen};
use super::probe::Probe;
use super::window::WindowWatch;
use super::{Ready, mount_point, port, socket};
use crate::Error;

/// How often a port or a socket is tried: nothing tells when one begins to listen.
const CONNECT_PAUSE: Duration = Duration::from_millis(5);
/// How often is looked at what nothing, or not all, is told of.
const LOOK_PAUSE: Duration = Duration::from_millis(10);
const MOUNT_PAUSE: Duration = Duration::from_millis(1);

/// A condition under watch.
#[derive(Debug)]
pub(in crate::launch) enum Watch {
    /// The end of the main process.
    Exit,
    /// A line: whoever takes the output sees it.
    Line,
    Port(u16),
    Socket(Place),
    File(FileWatch),
    Window(Box<WindowWatch>),
    Name(BusWatch),
    Command(Probe),
    MountPoint(PathBuf),
}

impl Watch {
    /// Before the start: what is there already is no sign.
    pub(in crate::launch) fn begin(ready: &Ready, seen: &Seen<'_>) -> Result<Self, Error> {
        Ok(match ready {
            Ready::Exit => Self::Exit,
            Ready::Line(_) => Self::Line,
            Ready::Port(number) => {
                port::begin(*number)?;
                Self::Port(*number)
            }
            Ready::Socket(path) => {
                let place = seen.place(path);
                socket::begin(&place)?;
                Self::Socket(place)
            }
            Ready::File(path) => Self::File(FileWatch::begin(seen.place(path))?),
            Ready::Window { display, name } => {
                Self::Window(Box::new(WindowWatch::begin(display, name.clone())?))
            }
            Ready::Name { bus, name } => Self::Name(BusWatch::begin(bus, name)?),
            Ready::Command(text) => Self::Command(Probe::new(text, seen)),
            Ready::MountPoint(directory) => Self::MountPoint(directory.clone()),
        })
    }

    /// The program runs, under this number.
    pub(in crate::launch) fn follow(&mut self, pid: u32) {
        match self {
            Self::Socket(place) => place.follow(pid),
            Self::File(file) => file.follow(pid),
            Self::Command(probe) => probe.follow(pid),
            _ => {}
        }
    }

    /// Whether the end of the program is what is waited for.
    pub(in crate::launch) fn is_exit(&self) -> bool {
        matches!(self, Self::Exit)
    }

    /// What becomes readable when there is news.
    pub(in crate::launch) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::File(file) => Some(file.descriptor()),
            Self::Window(window) => Some(window.descriptor()),
            Self::Name(bus) => Some(bus.descriptor()),
            Self::Command(probe) => probe.descriptor(),
            Self::Exit | Self::Line | Self::Port(_) | Self::Socket(_) | Self::MountPoint(_) => None,
        }
    }

    /// After which time to look again, news or not.
    pub(in crate::launch) fn pause(&self) -> Option<Duration> {
        match self {
            Self::Exit | Self::Line | Self::Window(_) | Self::Name(_) => None,
            Self::Port(_) | Self::Socket(_) => Some(CONNECT_PAUSE),
            Self::File(_) | Self::Command(_) => Some(LOOK_PAUSE),
            Self::MountPoint(_) => Some(MOUNT_PAUSE),
        }
    }

    /// Whether it has come true; never waits.
    pub(in crate::launch) fn came_true(&mut self) -> Result<bool, Error> {
        match self {
            Self::Exit | Self::Line => Ok(false),
            Self::Port(number) => Ok(port::accepts(*number)),
            Self::Socket(place) => Ok(socket::accepts(place)),
            Self::File(file) => Ok(file.came_true()),
            Self::Window(window) => window.came_true(),
            Self::Name(bus) => bus.came_true(),
            Self::Command(probe) => probe.came_true(),
            Self::MountPoint(directory) => Ok(mount_point::is_mounted(directory)),
        }
    }

    /// Asks the program to end by what shows that it is ready, if that is a window which can be
    /// asked; returns whether it was.
    pub(in crate::launch) fn ask_to_close(&self) -> bool {
        match self {
            Self::Window(window) => window.ask_to_close(),
            _ => false,
        }
    }
}
