//! Names without versions.

/// Stands for a version; no name has this byte.
const MARK: u8 = 0;

/// A name, or path, with each version replaced by a byte that no name has.
///
/// A version is a number with dots in it, a number behind `.so.` or a hyphen, and a name that is a
/// number. Others say what a thing is (`x86_64`, `libz3`), not how old.
pub(super) fn versionless(name: &[u8]) -> Vec<u8> {
    let mut without = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some(&byte) = rest.first() {
        let number = number_len(rest);
        let (here, behind) = rest.split_at(number.max(1));
        if number > 0 && is_version(&name[..name.len() - rest.len()], here, behind) {
            without.push(MARK);
        } else if number > 0 {
            without.extend_from_slice(here);
        } else {
            without.push(byte);
        }
        rest = behind;
    }
    without
}

/// The length of the number with dots that text begins with, 0 if it does not.
fn number_len(text: &[u8]) -> usize {
    let mut len = 0;
    for (place, byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => len = place + 1,
            // A dot is part of it between digits only.
            b'.' if place > 0 && len == place => {}
            _ => break,
        }
    }
    len
}

/// Whether a number is a version, by what stands around it.
fn is_version(before: &[u8], number: &[u8], behind: &[u8]) -> bool {
    let begins = before.is_empty() || before.ends_with(b"/");
    let ends = behind.is_empty() || behind.starts_with(b"/");
    number.contains(&b'.')
        || before.ends_with(b"-")
        || before.ends_with(b".so.")
        || (begins && ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_from_other_numbers() {
        let same = [
            ("libfoo.so.1.2.3", "libfoo.so.1.3.0"),
            ("libfoo.so.1", "libfoo.so.12"),
            ("libpython3.11.so.1.0", "libpython3.12.so.1.0"),
            ("python3.11", "python3.12"),
            ("os.cpython-311.pyc", "os.cpython-312.pyc"),
            ("app-1.2.3", "app-1.10"),
            ("foo-1.2.3.dist-info", "foo-2.0.dist-info"),
            ("vmlinuz-6.1.0-13-amd64", "vmlinuz-6.12.0-1-amd64"),
            ("java-17-openjdk-amd64", "java-21-openjdk-amd64"),
            ("12", "13"),
            ("150.0.7000.1", "151.0.7100.20"),
            (
                "/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
                "/usr/lib/gcc/x86_64-linux-gnu/13/cc1",
            ),
        ];
        for (old, new) in same {
            let (old, new) = (old.as_bytes(), new.as_bytes());
            assert_eq!(versionless(old), versionless(new), "{}", old.escape_ascii());
            assert!(versionless(old).contains(&MARK));
        }
        for other in [
            "x86_64", "libz3.so", "python3", "ls.1", "a.", ".5a", "lib64", "", "1a", "v8_7",
        ] {
            assert_eq!(versionless(other.as_bytes()), other.as_bytes(), "{other}");
        }
        assert_ne!(versionless(b"libfoo.so"), versionless(b"libfoo.so.1"));
        assert_eq!(versionless(b"a-1..2"), b"a-\0..2");
    }
}
