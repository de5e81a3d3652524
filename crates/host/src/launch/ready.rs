//! When a start is over: the conditions, and how they are written.

mod bus;
mod file;
mod line;
mod mount_point;
mod place;
mod port;
mod probe;
mod socket;
mod watch;
mod window;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use crate::Error;
pub use bus::Bus;
pub(super) use line::Lines;
pub use line::Pattern;
pub(super) use place::Seen;
pub(super) use watch::Watch;
pub use window::Display;

/// What shows that a program is ready.
///
/// Paths are those of the machine; those of a program that runs inside the image are its own, so
/// that its private `/tmp` can be named. `{root}` stands for the mounted image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Ready {
    /// It has ended, with exit code 0.
    #[default]
    Exit,
    /// It wrote such a line to its standard output or standard error.
    Line(Pattern),
    /// A TCP port of this machine accepts connections, at 127.0.0.1 or `::1`.
    Port(u16),
    /// A Unix socket accepts connections.
    Socket(OsString),
    /// A file is there that was not, or another one than was.
    File(OsString),
    /// An X11 window is mapped that was not there before.
    Window {
        /// Where.
        display: Display,
        /// One of the two names of its class, or a part of its title; `None` for any window with a
        /// class or title.
        name: Option<String>,
    },
    /// A name on a message bus has an owner.
    Name {
        /// Which bus.
        bus: Bus,
        /// The name.
        name: String,
    },
    /// A command of the shell of this machine, run again and again, ends with exit code 0.
    Command(OsString),
    /// A file system is mounted on this directory of the machine.
    MountPoint(PathBuf),
}

impl Ready {
    /// Reads a condition as people write it: `exit`, `line=REGEX`, `port=N`, `socket=PATH`,
    /// `file=PATH`, `window`, `window=NAME`, `dbus=NAME`, `dbus=system:NAME`, `cmd=COMMAND`.
    ///
    /// * `environment`: the value of a variable: of `DISPLAY` and of those that name the message
    ///   bus.
    ///
    /// # Errors
    ///
    /// [`Error::Ready`] names what is wrong.
    pub fn parse(
        text: &OsStr,
        environment: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Self, Error> {
        parse(text.as_bytes(), environment).map_err(|rule| Error::Ready {
            text: text.to_string_lossy().into_owned(),
            rule,
        })
    }

    /// The condition as it is written; bytes of paths that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        let path = |word, path: &OsStr| format!("{word}={}", path.to_string_lossy());
        match self {
            Self::Exit => "exit".to_owned(),
            Self::Line(pattern) => format!("line={}", pattern.text()),
            Self::Port(port) => format!("port={port}"),
            Self::Socket(place) => path("socket", place),
            Self::File(place) => path("file", place),
            Self::Window { name: None, .. } => "window".to_owned(),
            Self::Window {
                name: Some(name), ..
            } => format!("window={name}"),
            Self::Name { bus, name } => format!("dbus={}{name}", bus.prefix()),
            Self::Command(command) => path("cmd", command),
            Self::MountPoint(directory) => path("mount", directory.as_os_str()),
        }
    }

    /// The line that is waited for.
    pub(super) fn line(&self) -> Option<&Pattern> {
        match self {
            Self::Line(pattern) => Some(pattern),
            _ => None,
        }
    }
}

fn parse(text: &[u8], environment: &dyn Fn(&str) -> Option<OsString>) -> Result<Ready, String> {
    let mut parts = text.splitn(2, |byte| *byte == b'=');
    let word = parts.next().unwrap_or_default();
    let value = parts.next();
    if value.is_some_and(<[u8]>::is_empty) {
        return Err("nothing follows `=`".to_owned());
    }
    let needed = || value.ok_or_else(|| "a value must follow it after `=`".to_owned());
    let utf8 = |value: &[u8]| {
        let text = String::from_utf8(value.to_vec());
        text.map_err(|_| "what follows `=` must be UTF-8".to_owned())
    };
    let path = |value: &[u8]| OsString::from_vec(value.to_vec());
    match word {
        b"exit" => match value {
            None => Ok(Ready::Exit),
            Some(_) => Err("`exit` has no value".to_owned()),
        },
        b"line" => Ok(Ready::Line(Pattern::new(&utf8(needed()?)?)?)),
        b"port" => {
            let value = utf8(needed()?)?;
            let port = value.parse().ok().filter(|port| *port > 0);
            let rule = || format!("`{value}` is no port from 1 to 65535");
            Ok(Ready::Port(port.ok_or_else(rule)?))
        }
        b"socket" => Ok(Ready::Socket(path(needed()?))),
        b"file" => Ok(Ready::File(path(needed()?))),
        b"window" => Ok(Ready::Window {
            display: Display::parse(environment("DISPLAY"))?,
            name: value.map(utf8).transpose()?,
        }),
        b"dbus" => {
            let value = utf8(needed()?)?;
            let (bus, name) = Bus::parse(&value, environment)?;
            Ok(Ready::Name { bus, name })
        }
        b"cmd" => Ok(Ready::Command(path(needed()?))),
        _ => Err("it begins with no known word".to_owned()),
    }
}

#[cfg(test)]
mod tests;
