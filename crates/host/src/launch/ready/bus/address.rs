//! Where a message bus is reached: `unix:path=/run/user/0/bus;unix:abstract=/tmp/x,guid=12`.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};

/// Connects to the first address that answers.
///
/// # Errors
///
/// That of the last one, or that none is a Unix socket.
pub(super) fn connect(addresses: &str) -> io::Result<UnixStream> {
    let none = "its address is not that of a Unix socket (`unix:path=...` or `unix:abstract=...`)";
    let mut answer = Err(io::Error::other(none));
    for address in addresses.split(';') {
        let Some(address) = parse(address)? else {
            continue;
        };
        answer = UnixStream::connect_addr(&address);
        if answer.is_ok() {
            break;
        }
    }
    answer
}

/// `None` for an address of another kind.
fn parse(address: &str) -> io::Result<Option<SocketAddr>> {
    let Some(options) = address.strip_prefix("unix:") else {
        return Ok(None);
    };
    for option in options.split(',') {
        match option.split_once('=') {
            Some(("path", value)) => {
                let path = unescaped(value);
                return SocketAddr::from_pathname(OsStr::from_bytes(&path)).map(Some);
            }
            Some(("abstract", value)) => {
                return SocketAddr::from_abstract_name(unescaped(value)).map(Some);
            }
            _ => {}
        }
    }
    Ok(None)
}

/// `%20` is a blank.
fn unescaped(value: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| first == b'%');
        let hex = hex.and_then(|hex| std::str::from_utf8(hex).ok());
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let path = |address: &str| {
            let address = parse(address).unwrap()?;
            let name = address.as_abstract_name().map(<[u8]>::to_vec);
            name.or_else(|| Some(address.as_pathname()?.as_os_str().as_bytes().to_vec()))
        };
        for (address, expected) in [
            ("unix:path=/run/bus", Some("/run/bus")),
            ("unix:guid=12,path=/run/a%20b%2", Some("/run/a b%2")),
            ("unix:abstract=/tmp/x,guid=12", Some("/tmp/x")),
            ("tcp:host=localhost,port=12", None),
            ("unix:guid=12", None),
            ("", None),
        ] {
            assert_eq!(
                path(address).as_deref(),
                expected.map(str::as_bytes),
                "{address}"
            );
        }
        let error = connect("tcp:host=localhost;").unwrap_err();
        assert!(
            error.to_string().contains("not that of a Unix socket"),
            "{error}"
        );
    }
}
