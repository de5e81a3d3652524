//! Lines of pseudo definitions, as `unsquashfs -pf` writes them.

use coldpress_format::{Body, DeviceNumber, Inode};

/// A path as a definition begins with it: without the slash in front, white space, quotation marks
/// and backslashes behind a backslash. `None` if it holds a line break, which no line can.
///
/// A `#` at its beginning would make the line a comment, so it stands behind a backslash too; the
/// path that unsquashfs writes there is lost.
pub(crate) fn name(path: &[u8]) -> Option<Vec<u8>> {
    let path = match path {
        b"/" => return Some(b"/".to_vec()),
        [b'/', rest @ ..] => rest,
        path => path,
    };
    let mut name = Vec::with_capacity(path.len());
    for (at, byte) in path.iter().enumerate() {
        match byte {
            b'\n' => return None,
            b'"' | b'\\' | b' ' | b'\t' | b'\x0b'..=b'\r' => name.push(b'\\'),
            b'#' if at == 0 => name.push(b'\\'),
            _ => {}
        }
        name.push(*byte);
    }
    Some(name)
}

/// Whether the target of a symbolic link can stand at the end of a line as it is.
pub(crate) fn is_writable_target(target: &[u8]) -> bool {
    let begins = target.first().is_some_and(|byte| !is_space(*byte));
    begins && !target.contains(&b'\n') && !target.ends_with(b"\\")
}

/// The line of an inode.
///
/// * `time_s`: its modification time.
/// * `owner`: its user and group. As in unsquashfs, numbers over 2147483647 are negative.
/// * `data_start`: where the data of a file begins in the data section.
pub(crate) fn line(
    name: &[u8],
    inode: &Inode,
    time_s: u32,
    owner: (u32, u32),
    data_start: u64,
) -> Vec<u8> {
    let (letter, rest) = match &inode.body {
        Body::Directory(_) => ('D', Vec::new()),
        Body::File(file) => {
            let sparse = u8::from(file.sparse_bytes > 0);
            let text = format!(" {} {data_start} {sparse}", file.size_bytes);
            ('R', text.into_bytes())
        }
        Body::Symlink(target) => ('S', [b" ", target.as_slice()].concat()),
        Body::BlockDevice(device) => ('B', device_numbers(*device)),
        Body::CharDevice(device) => ('C', device_numbers(*device)),
        Body::Fifo => ('I', b" f".to_vec()),
        Body::Socket => ('I', b" s".to_vec()),
    };
    let mode = inode.mode;
    let (uid, gid) = (owner.0.cast_signed(), owner.1.cast_signed());
    let attributes = format!(" {letter} {time_s} {mode:o} {uid} {gid}");
    [name, attributes.as_bytes(), &rest, b"\n"].concat()
}

fn device_numbers(device: DeviceNumber) -> Vec<u8> {
    format!(" {} {}", device.major, device.minor).into_bytes()
}

/// `name=value` of an extended attribute; `None` if it cannot be written so.
///
/// A value is text in which octal numbers are bytes (`0t`) if it holds bytes that do not print, or
/// would be read as something else: behind `0` and a letter, or with a backslash at its end.
pub(crate) fn xattr(name: &[u8], value: &[u8]) -> Option<Vec<u8>> {
    if value.is_empty() || name.iter().any(|byte| matches!(byte, b'=' | b'\n')) {
        return None;
    }
    let prints = value.iter().all(|byte| matches!(byte, b' '..=b'~'));
    let is_prefixed = matches!(
        value,
        [
            b'0',
            b's' | b'S' | b'x' | b'X' | b't' | b'T' | b'b' | b'B',
            ..
        ]
    );
    if prints && !is_prefixed && !value.ends_with(b"\\") {
        return Some([name, b"=", value].concat());
    }
    let mut text = [name, b"=0t"].concat();
    for byte in value {
        match byte {
            b' '..=b'~' if *byte != b'\\' => text.push(*byte),
            byte => text.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    Some(text)
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_as_they_are() {
        for (path, expected) in [
            ("/", Some("/")),
            ("/a/b", Some("a/b")),
            ("/a b/\tc", Some("a\\ b/\\\tc")),
            ("/back\\slash", Some("back\\\\slash")),
            ("/quo\"te", Some("quo\\\"te")),
            ("/#hash", Some("\\#hash")),
            ("/a#", Some("a#")),
            ("/new\nline", None),
        ] {
            let expected = expected.map(|name| name.as_bytes().to_vec());
            assert_eq!(name(path.as_bytes()), expected, "{path}");
        }
    }

    #[test]
    fn values_are_text_where_they_can_be() {
        for (value, expected) in [
            (&b"plain text"[..], Some("user.a=plain text")),
            (b"a\\b", Some("user.a=a\\b")),
            (b"a\\", Some("user.a=0ta\\134")),
            (b"0x41", Some("user.a=0t0x41")),
            (b"0k", Some("user.a=0k")),
            (b"\0\xff\\", Some("user.a=0t\\000\\377\\134")),
            (b"", None),
        ] {
            let expected = expected.map(|text| text.as_bytes().to_vec());
            assert_eq!(
                xattr(b"user.a", value),
                expected,
                "{}",
                value.escape_ascii()
            );
        }
        assert_eq!(xattr(b"user.a=b", b"c"), None);
    }

    #[test]
    fn targets_that_a_line_would_change_are_not_writable() {
        for (target, expected) in [
            ("a b", true),
            ("a ", true),
            (" a", false),
            ("a\\", false),
            ("a\nb", false),
        ] {
            assert_eq!(is_writable_target(target.as_bytes()), expected, "{target}");
        }
    }
}
