//! A TCP port that accepts connections.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use crate::Error;

/// What a connection may take. A port of this machine accepts or refuses at once; only one whose
/// queue is full lets others wait, and nobody asks for its output meanwhile.
const PATIENCE: Duration = Duration::from_millis(20);

/// Refuses a port that accepts already.
pub(super) fn begin(port: u16) -> Result<(), Error> {
    if accepts(port) {
        let what = format!("port {port} accepts connections");
        return Err(Error::AlreadyReady { what });
    }
    Ok(())
}

/// Whether it accepts a connection, which is closed at once.
pub(super) fn accepts(port: u16) -> bool {
    let addresses: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    addresses.into_iter().any(|address| {
        TcpStream::connect_timeout(&SocketAddr::new(address, port), PATIENCE).is_ok()
    })
}
