//! A name on a message bus that gets an owner.
//!
//! Only what is needed of D-Bus is here, three calls and one signal: the crates that speak it whole
//! bring an asynchronous runtime and thirty others with them, or are not kept.

mod address;
mod message;

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use self::message::{Kind, Message, NOT_A_MESSAGE, call};
use crate::Error;

/// How long a bus may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
const READ_BYTES: usize = 4096;
const SYSTEM: &str = "system:";

/// A message bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bus {
    is_system: bool,
    /// Where it can be reached, as the specification of D-Bus writes it.
    addresses: String,
}

impl Bus {
    /// `NAME`, or `system:NAME`.
    pub(super) fn parse(
        text: &str,
        environment: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<(Self, String), String> {
        let (is_system, name) = match text.strip_prefix(SYSTEM) {
            Some(name) => (true, name),
            None => (false, text),
        };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let is_name = name.contains('.') && !name.starts_with('.') && name.bytes().all(is_plain);
        if !is_name || name.len() > 255 {
            return Err(format!(
                "`{name}` is no name of a message bus, as org.example.App is"
            ));
        }
        let variable = |name| environment(name).and_then(|value| value.into_string().ok());
        let addresses = if is_system {
            variable("DBUS_SYSTEM_BUS_ADDRESS")
                .or_else(|| Some("unix:path=/run/dbus/system_bus_socket".to_owned()))
        } else {
            let runtime = || {
                let directory = variable("XDG_RUNTIME_DIR")?;
                Some(format!("unix:path={directory}/bus"))
            };
            variable("DBUS_SESSION_BUS_ADDRESS").or_else(runtime)
        };
        let rule = "DBUS_SESSION_BUS_ADDRESS names no session bus; `dbus=system:NAME` is on the \
        system bus";
        let addresses = addresses.ok_or_else(|| rule.to_owned())?;
        let bus = Self {
            is_system,
            addresses,
        };
        Ok((bus, name.to_owned()))
    }

    /// What stands before the name of one that is not the session bus.
    pub(super) fn prefix(&self) -> &'static str {
        if self.is_system { SYSTEM } else { "" }
    }
}

/// A connection to a bus that tells when a name gets an owner.
#[derive(Debug)]
pub(in crate::launch) struct BusWatch {
    name: String,
    stream: UnixStream,
    /// What has been read and is not yet a whole message.
    bytes: Vec<u8>,
}

impl BusWatch {
    pub(super) fn begin(bus: &Bus, name: &str) -> Result<Self, Error> {
        let mut watch = Self::connect(bus, name).map_err(|error| failed(name, &error))?;
        let is_owned = watch.subscribe().map_err(|error| failed(name, &error))?;
        if is_owned {
            let what = format!("`{name}` has an owner on the message bus");
            return Err(Error::AlreadyReady { what });
        }
        Ok(watch)
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Whether the name has got an owner.
    pub(super) fn came_true(&mut self) -> Result<bool, Error> {
        let answer = self.take_messages();
        answer.map_err(|error| failed(&self.name, &error))
    }

    /// Connects and proves who we are (`EXTERNAL`: the kernel tells the bus).
    fn connect(bus: &Bus, name: &str) -> io::Result<Self> {
        let mut stream = address::connect(&bus.addresses)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(b"\0AUTH EXTERNAL ")?;
        // The digits of the user's number as text, each byte in hexadecimal.
        for digit in rustix::process::geteuid().as_raw().to_string().bytes() {
            write!(stream, "{digit:02x}")?;
        }
        stream.write_all(b"\r\n")?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            answer.extend(byte);
            if answer.len() > READ_BYTES {
                return Err(io::Error::other(NOT_A_MESSAGE));
            }
        }
        if !answer.starts_with(b"OK ") {
            return Err(io::Error::other(
                "the message bus does not let this user in",
            ));
        }
        stream.write_all(b"BEGIN\r\n")?;
        Ok(Self {
            name: name.to_owned(),
            stream,
            bytes: Vec::new(),
        })
    }

    /// Asks to be told of the name, then whether it has an owner already.
    fn subscribe(&mut self) -> io::Result<bool> {
        let rule = format!(
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',\
             member='NameOwnerChanged',arg0='{}'",
            self.name
        );
        self.stream.write_all(&call(1, "Hello", None))?;
        self.stream.write_all(&call(2, "AddMatch", Some(&rule)))?;
        self.stream
            .write_all(&call(3, "NameHasOwner", Some(&self.name)))?;
        loop {
            let message = self.next_message()?;
            match message.kind {
                Kind::Reply if message.reply_to == Some(3) => {
                    self.stream.set_nonblocking(true)?;
                    return Ok(message.flag().unwrap_or(false));
                }
                Kind::Error => {
                    let said = message.texts().into_iter().next();
                    let said = said.unwrap_or_else(|| "the message bus refuses".to_owned());
                    return Err(io::Error::other(said));
                }
                _ => {}
            }
        }
    }

    /// Reads on until there is a whole message.
    fn next_message(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = Message::take(&mut self.bytes)? {
                return Ok(message);
            }
            let mut buffer = [0; READ_BYTES];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::ConnectionReset.into()),
                Ok(len) => self
                    .bytes
                    .extend_from_slice(buffer.get(..len).unwrap_or(&[])),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn take_messages(&mut self) -> io::Result<bool> {
        loop {
            match self.next_message() {
                Ok(message) => {
                    let is_signal =
                        message.kind == Kind::Signal && message.member == "NameOwnerChanged";
                    // Name, old owner, new owner.
                    if is_signal
                        && let [name, _, owner, ..] = message.texts().as_slice()
                        && *name == self.name
                        && !owner.is_empty()
                    {
                        return Ok(true);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }
}

fn failed(name: &str, error: &io::Error) -> Error {
    Error::CannotWatch {
        what: format!("the name `{name}` on the message bus"),
        why: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_buses_are_read() {
        let none = |_: &str| None;
        let session = |name: &str| {
            (name == "DBUS_SESSION_BUS_ADDRESS").then(|| OsString::from("unix:path=/a"))
        };
        let (bus, name) = Bus::parse("org.example.App", &session).unwrap();
        assert_eq!(
            (bus.addresses.as_str(), name.as_str()),
            ("unix:path=/a", "org.example.App")
        );
        let (bus, name) = Bus::parse("system:org.example.App", &none).unwrap();
        assert!(bus.is_system && bus.addresses.starts_with("unix:path="));
        assert_eq!(name, "org.example.App");
        let runtime =
            |name: &str| (name == "XDG_RUNTIME_DIR").then(|| OsString::from("/run/user/7"));
        let (bus, _) = Bus::parse("a.b", &runtime).unwrap();
        assert_eq!(bus.addresses, "unix:path=/run/user/7/bus");
        assert!(
            Bus::parse("a.b", &none)
                .unwrap_err()
                .contains("no session bus")
        );
        for name in ["", "app", ".a", "a.b'", "a b.c", "system:", "a.\u{e9}"] {
            assert!(Bus::parse(name, &session).is_err(), "{name}");
        }
    }
}
