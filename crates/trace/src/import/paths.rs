//! Paths of other recorders, made absolute.

/// Bytes of the longest path that the kernel takes, without its NUL (`PATH_MAX`).
pub const PATH_BYTES_MAX: usize = 4095;

/// A path below a directory, which is absolute and plain, without empty, `.` and `..` components.
///
/// `..` takes away the component before it, as if that were no symbolic link.
pub(super) fn join(directory: &[u8], path: &[u8]) -> Vec<u8> {
    let mut joined = directory.strip_suffix(b"/").unwrap_or(directory).to_vec();
    for component in path.split(|&byte| byte == b'/') {
        match component {
            b"" | b"." => {}
            b".." => {
                let slash = joined.iter().rposition(|&byte| byte == b'/');
                joined.truncate(slash.unwrap_or(0));
            }
            _ => {
                joined.push(b'/');
                joined.extend_from_slice(component);
            }
        }
    }
    if joined.is_empty() {
        joined.push(b'/');
    }
    joined
}

/// The part of a plain path below a plain prefix, as a path; `None` if it is elsewhere.
pub(super) fn below<'path>(path: &'path [u8], prefix: &[u8]) -> Option<&'path [u8]> {
    if prefix == b"/" {
        return Some(path);
    }
    match path.strip_prefix(prefix)? {
        [] => Some(b"/"),
        rest @ [b'/', ..] => Some(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_paths_are_plain() {
        for (directory, path, joined) in [
            ("/", "", "/"),
            ("/", "usr//lib/./x", "/usr/lib/x"),
            ("/usr/bin", "../lib/x/", "/usr/lib/x"),
            ("/usr", "../../../etc", "/etc"),
            ("/", "..", "/"),
            ("/a", ".", "/a"),
            ("/a", "b/..", "/a"),
            ("/a", "...", "/a/..."),
        ] {
            assert_eq!(
                join(directory.as_bytes(), path.as_bytes()),
                joined.as_bytes(),
                "{directory} {path}"
            );
        }
    }

    #[test]
    fn a_prefix_ends_where_a_component_does() {
        for (path, prefix, rest) in [
            ("/snap/x/1/bin/a", "/snap/x/1", Some("/bin/a")),
            ("/snap/x/1", "/snap/x/1", Some("/")),
            ("/snap/x/12", "/snap/x/1", None),
            ("/etc", "/snap", None),
            ("/etc", "/", Some("/etc")),
        ] {
            assert_eq!(
                below(path.as_bytes(), prefix.as_bytes()),
                rest.map(str::as_bytes),
                "{path} {prefix}"
            );
        }
    }
}
