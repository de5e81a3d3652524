//! `fusermount3`: it opens the device, mounts, and sends the device through a socket.

use std::ffi::OsString;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::cmsg_space;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType,
    recvmsg, socketpair,
};

use super::{FuseOptions, source};
use crate::Error;

/// Of FUSE 3, and of FUSE 2.
const NAMES: [&str; 2] = ["fusermount3", "fusermount"];
/// Tells the helper the number of the socket.
const SOCKET_VARIABLE: &str = "_FUSE_COMMFD";

/// Whether there is a helper.
pub(super) fn is_there() -> bool {
    NAMES.iter().any(|name| {
        let mut command = Command::new(name);
        command.arg("-V").stdin(Stdio::null());
        command.output().is_ok_and(|output| output.status.success())
    })
}

/// Mounts with the helper.
pub(super) fn mount(at: &Path, options: &FuseOptions) -> Result<OwnedFd, Error> {
    let refused = |said: String| Error::NotServed {
        path: at.to_owned(),
        said,
    };
    let system = |source: io::Error| Error::System {
        action: "talk to fusermount3",
        source,
    };
    // The helper inherits its end by number, ours is closed in it.
    let (ours, theirs) = socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::empty(),
        None,
    )
    .map_err(|errno| system(errno.into()))?;
    fcntl_setfd(&ours, FdFlags::CLOEXEC).map_err(|errno| system(errno.into()))?;
    let spawned = NAMES.iter().find_map(|name| {
        Command::new(name)
            .arg("-o")
            .arg(option_list(options))
            .arg("--")
            .arg(at)
            .env(SOCKET_VARIABLE, theirs.as_raw_fd().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .ok()
    });
    let Some(helper) = spawned else {
        return Err(refused(
            "mounting needs root here, or `fusermount3` of the package fuse3".to_owned(),
        ));
    };
    // Without this the end of the helper would not show.
    drop(theirs);
    let device = receive(&ours);
    let output = helper.wait_with_output().map_err(system)?;
    match device {
        Ok(Some(device)) => Ok(device),
        Ok(None) => Err(refused(said(&output))),
        Err(error) => Err(system(error)),
    }
}

/// Unmounts with the helper; `false` if it is in use.
pub(super) fn unmount(at: &Path, detach: bool) -> Result<bool, Error> {
    let flags: &[&str] = if detach { &["-u", "-z"] } else { &["-u"] };
    let ran = NAMES.iter().find_map(|name| {
        let mut command = Command::new(name);
        command.args(flags).arg("--").arg(at).stdin(Stdio::null());
        command.output().ok()
    });
    match ran {
        Some(output) if output.status.success() => Ok(true),
        Some(output) if said(&output).contains("busy") => Ok(false),
        Some(output) => Err(Error::Io {
            action: "unmount",
            path: at.to_owned(),
            source: io::Error::other(said(&output)),
        }),
        None => Err(Error::Io {
            action: "unmount, without `fusermount3`,",
            path: at.to_owned(),
            source: io::ErrorKind::NotFound.into(),
        }),
    }
}

/// What the helper said, in one line.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(output.stderr.trim_ascii());
    let text = text.replace(|c: char| c.is_control(), " ");
    text.strip_prefix("fusermount3: ")
        .map_or_else(|| text.clone(), str::to_owned)
}

/// The descriptor that the helper sends; `None` if it ends without.
fn receive(socket: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    loop {
        let mut buffers = [IoSliceMut::new(&mut byte)];
        match recvmsg(
            socket,
            &mut buffers,
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        ) {
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    let descriptors = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    Ok(descriptors.flatten().next())
}

/// The options of the helper: commas in the name of the source would begin another one.
fn option_list(options: &FuseOptions) -> OsString {
    let mut list = b"ro,nosuid,nodev,subtype=coldpress,fsname=".to_vec();
    for byte in source(options).as_bytes() {
        if matches!(byte, b',' | b'\\') {
            list.push(b'\\');
        }
        list.push(*byte);
    }
    if options.everyone {
        list.extend_from_slice(b",allow_other");
    }
    if options.checks_permissions {
        list.extend_from_slice(b",default_permissions");
    }
    OsString::from_vec(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_image_is_no_option() {
        let options = |source: &str| FuseOptions {
            source: source.into(),
            everyone: source.is_empty(),
            checks_permissions: true,
        };
        for (source, list) in [
            (
                "a,suid\\,b",
                "ro,nosuid,nodev,subtype=coldpress,fsname=a\\,suid\\\\\\,b,default_permissions",
            ),
            (
                "",
                "ro,nosuid,nodev,subtype=coldpress,fsname=coldpress,allow_other,default_permissions",
            ),
        ] {
            assert_eq!(option_list(&options(source)), list);
        }
    }
}
