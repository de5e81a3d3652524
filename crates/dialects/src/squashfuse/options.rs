//! Lists of options behind `-o`, as libfuse reads them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use anyhow::{anyhow, bail};
use coldpress_report::failure::hint;
use coldpress_report::text::escaped;

use super::MountOption;
use super::table::{Treatment, find};

/// What one option asks for; nothing if it has no effect.
///
/// * `option`: of any bytes, since paths may be.
///
/// # Errors
///
/// If it is unknown, refused, or has no proper value.
pub(super) fn read(option: &[u8]) -> anyhow::Result<Option<MountOption>> {
    let shown = || escaped(option);
    let row = find(option).ok_or_else(|| {
        let error = anyhow!("`-o {}` is not an option of squashfuse", shown());
        hint(error, "docs/squashfuse.md lists all options")
    })?;
    let (name, (_, treatment, remark)) = row;
    match treatment {
        Treatment::NoEffect => return Ok(None),
        Treatment::Refused => bail!("`-o {}` is not supported: {remark}", shown()),
        Treatment::Supported => {}
    }
    let value = option.get(name.len()..).unwrap_or_default();
    let path = || OsString::from_vec(value.to_vec());
    let parsed = match name {
        "debug" => return Ok(None),
        // The value of the programs that means that none was given.
        "uid=" | "gid=" if value == b"0" => return Ok(None),
        "subdir=" => return Ok(Some(MountOption::Subdir(path()))),
        "notify_pipe=" => return Ok(Some(MountOption::NotifyPipe(path().into()))),
        _ => String::from_utf8_lossy(option).parse::<MountOption>(),
    };
    match parsed {
        Ok(option) => Ok(Some(option)),
        Err(rule) => bail!("`-o {}`: {rule}", shown()),
    }
}

/// The options of one list, without the backslashes that keep commas and octal numbers: as libfuse
/// reads it.
pub(super) fn split(list: &[u8]) -> Vec<Vec<u8>> {
    let mut options = vec![Vec::new()];
    let mut rest = list;
    while let [byte, after @ ..] = rest {
        rest = after;
        let byte = match (*byte, after) {
            (b',', _) => {
                options.push(Vec::new());
                continue;
            }
            (
                b'\\',
                [
                    high @ b'0'..=b'3',
                    middle @ b'0'..=b'7',
                    low @ b'0'..=b'7',
                    after @ ..,
                ],
            ) => {
                rest = after;
                (high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0')
            }
            (b'\\', [kept, after @ ..]) => {
                rest = after;
                *kept
            }
            (byte, _) => byte,
        };
        if let Some(option) = options.last_mut() {
            option.push(byte);
        }
    }
    options.retain(|option| !option.is_empty());
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use coldpress_image::ImageOffset;
    use coldpress_report::failure::sentence;

    #[test]
    fn lists_are_split_as_libfuse_splits_them() {
        for (list, options) in [
            (&b"ro"[..], &[&b"ro"[..]][..]),
            (b"ro,uid=1", &[b"ro", b"uid=1"]),
            (b",ro,,", &[b"ro"]),
            (b"subdir=a\\,b,ro", &[b"subdir=a,b", b"ro"]),
            (b"subdir=a\\\\b", &[b"subdir=a\\b"]),
            (b"subdir=\\054\\101\\9", &[b"subdir=,A9"]),
            (b"subdir=\xff\\", &[b"subdir=\xff\\"]),
            (b"", &[]),
        ] {
            assert_eq!(split(list), options, "{}", list.escape_ascii());
        }
    }

    #[test]
    fn options_mean_what_they_mean_to_squashfuse() {
        let subdir = |bytes: &[u8]| MountOption::Subdir(OsString::from_vec(bytes.to_vec()));
        for (option, meant) in [
            (
                &b"offset=4096"[..],
                Some(MountOption::Offset(ImageOffset::Bytes(4096))),
            ),
            (b"offset=auto", Some(MountOption::Offset(ImageOffset::Auto))),
            (b"subdir=a\xff=b", Some(subdir(b"a\xff=b"))),
            (b"uid=1000", Some(MountOption::Uid(1000))),
            (b"uid=0", None),
            (b"gid=0", None),
            (b"timeout=0", Some(MountOption::Timeout(0))),
            (
                b"notify_pipe=/p\xff",
                Some(MountOption::NotifyPipe(
                    OsString::from_vec(b"/p\xff".to_vec()).into(),
                )),
            ),
            (
                b"notify_fd=3",
                Some(MountOption::NotifyPipe("/proc/self/fd/3".into())),
            ),
            (b"allow_other", Some(MountOption::AllowOther)),
            (b"debug", None),
            (b"ro", Some(MountOption::Usual)),
            (b"fsname=x", None),
        ] {
            assert_eq!(read(option).unwrap(), meant, "{}", option.escape_ascii());
        }
        for (option, error) in [
            (&b"foo"[..], "`-o foo` is not an option of squashfuse"),
            (b"ro=1", "`-o ro=1` is not an option of squashfuse"),
            (b"uid", "`-o uid` is not an option of squashfuse"),
            (b"a\xffb", "`-o a\\xffb` is not an option of squashfuse"),
            (
                b"suid",
                "`-o suid` is not supported: devices and set-user-ID programs of an image never work in user space",
            ),
            (
                b"uid=x",
                "`-o uid=x`: must be a whole number below 4294967296",
            ),
            (
                b"timeout=1.5",
                "`-o timeout=1.5`: must be a whole number of seconds",
            ),
        ] {
            assert_eq!(sentence(&read(option).unwrap_err()), error);
        }
    }
}
