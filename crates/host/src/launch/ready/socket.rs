//! A Unix socket that accepts connections.

use std::os::fd::AsRawFd;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use super::place::Place;
use crate::Error;

/// Refuses a socket that accepts already.
pub(super) fn begin(place: &Place) -> Result<(), Error> {
    if accepts(place) {
        let what = format!("the socket {} accepts connections", place.name());
        return Err(Error::AlreadyReady { what });
    }
    Ok(())
}

/// Whether it accepts a connection, which is closed at once. A socket file that a program left
/// behind does not.
pub(super) fn accepts(place: &Place) -> bool {
    let Ok(file) = place.open() else { return false };
    // By its descriptor: the path may be that of another root, and longer than an address can be.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let Ok(address) = SocketAddrUnix::new(path) else {
        return false;
    };
    let kinds = [SocketType::STREAM, SocketType::SEQPACKET, SocketType::DGRAM];
    kinds.into_iter().any(|kind| {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let answer = socket_with(AddressFamily::UNIX, kind, flags, None)
            .and_then(|socket| connect(&socket, &address));
        // Its queue is full: it listens.
        matches!(answer, Ok(()) | Err(Errno::AGAIN))
    })
}
