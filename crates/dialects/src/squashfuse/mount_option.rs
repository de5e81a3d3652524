//! One of the words behind `-o`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use coldpress_image::ImageOffset;

use crate::parse_offset;

/// One of the words behind `-o`, of squashfuse and of `coldpress mount`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MountOption {
    /// Where the image begins.
    Offset(ImageOffset),
    /// The directory of the image that becomes the root.
    Subdir(OsString),
    /// The owner of everything.
    Uid(u32),
    /// The group of everything.
    Gid(u32),
    /// Idle seconds; 0 is never.
    Timeout(u64),
    /// Other users are let in.
    AllowOther,
    /// Owners and modes count.
    DefaultPermissions,
    /// The pipe that hears whether it is mounted.
    NotifyPipe(PathBuf),
    /// What is so in any case.
    Usual,
}

impl FromStr for MountOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |value: &str| {
            let number = value.parse();
            number.map_err(|_| "must be a whole number below 4294967296".to_owned())
        };
        let seconds = |value: &str| {
            let number = value.parse();
            number.map_err(|_| "must be a whole number of seconds".to_owned())
        };
        match text.split_once('=') {
            Some(("offset", value)) => parse_offset(value).map(Self::Offset),
            Some(("subdir", value)) => Ok(Self::Subdir(value.into())),
            Some(("uid", value)) => number(value).map(Self::Uid),
            Some(("gid", value)) => number(value).map(Self::Gid),
            Some(("timeout", value)) => seconds(value).map(Self::Timeout),
            Some(("notify_pipe", value)) => Ok(Self::NotifyPipe(value.into())),
            Some(("notify_fd", value)) => {
                number(value).map(|fd| Self::NotifyPipe(format!("/proc/self/fd/{fd}").into()))
            }
            None if text == "allow_other" => Ok(Self::AllowOther),
            None if text == "default_permissions" => Ok(Self::DefaultPermissions),
            None if ["ro", "nodev", "nosuid"].contains(&text) => Ok(Self::Usual),
            _ => Err(
                "is not one of offset=, subdir=, uid=, gid=, timeout=, notify_pipe=, notify_fd=, \
                      allow_other, default_permissions, ro, nodev, nosuid"
                    .to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_squashfuse() {
        for (text, option) in [
            (
                "offset=4K",
                Some(MountOption::Offset(ImageOffset::Bytes(4096))),
            ),
            ("offset=auto", Some(MountOption::Offset(ImageOffset::Auto))),
            (
                "subdir=usr/share=x",
                Some(MountOption::Subdir("usr/share=x".into())),
            ),
            ("uid=4294967295", Some(MountOption::Uid(u32::MAX))),
            ("gid=0", Some(MountOption::Gid(0))),
            ("timeout=60", Some(MountOption::Timeout(60))),
            (
                "notify_pipe=a=b",
                Some(MountOption::NotifyPipe("a=b".into())),
            ),
            (
                "notify_fd=3",
                Some(MountOption::NotifyPipe("/proc/self/fd/3".into())),
            ),
            ("allow_other", Some(MountOption::AllowOther)),
            ("default_permissions", Some(MountOption::DefaultPermissions)),
            ("ro", Some(MountOption::Usual)),
            ("uid=root", None),
            ("uid=", None),
            ("uid=-1", None),
            ("timeout=1.5", None),
            ("notify_fd=-1", None),
            ("offset=", None),
            ("allow_other=1", None),
            ("suid", None),
            ("", None),
        ] {
            assert_eq!(text.parse::<MountOption>().ok(), option, "{text}");
        }
    }
}
