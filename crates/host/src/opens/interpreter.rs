//! The program that runs a program: named in its ELF headers, or behind `#!`.
//!
//! The kernel opens it itself, by no call that could be told.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

/// What the kernel looks at to know how to run a program.
const HEAD_BYTES: usize = 256;
/// More program headers than linkers write.
const HEADERS_MAX: u64 = 64;
/// `PT_INTERP`.
const INTERPRETER: u64 = 3;
/// The longest path there is.
const PATH_BYTES_MAX: u64 = 4096;

/// The interpreter of a program; nothing if it needs none or cannot be read.
///
/// * `program`: open as a place only.
pub(super) fn find(program: &OwnedFd) -> Option<Vec<u8>> {
    let file = File::open(format!("/proc/self/fd/{}", program.as_raw_fd())).ok()?;
    let mut head = [0; HEAD_BYTES];
    let len = file.read_at(&mut head, 0).ok()?;
    let head = head.get(..len)?;
    match head.strip_prefix(b"#!") {
        Some(line) => of_script(line),
        None => of_elf(head, &file),
    }
}

/// The first word of the line.
fn of_script(line: &[u8]) -> Option<Vec<u8>> {
    let line = line.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t' | 0));
    words.find(|word| !word.is_empty()).map(<[u8]>::to_vec)
}

/// The path in the program header that is for it.
fn of_elf(head: &[u8], file: &impl FileExt) -> Option<Vec<u8>> {
    let is_wide = match head.get(..5)? {
        b"\x7fELF\x01" => false,
        b"\x7fELF\x02" => true,
        _ => return None,
    };
    let order = match head.get(5)? {
        1 => Order::LittleEndian,
        2 => Order::BigEndian,
        _ => return None,
    };
    // Positions of fields in the header and in the program headers: <elf.h>.
    let (word_bytes, table, entry_size, count, file_offset, file_size) = if is_wide {
        (8, 32, 54, 56, 8, 32)
    } else {
        (4, 28, 42, 44, 4, 16)
    };
    let table = order.number(head, table, word_bytes)?;
    let entry_size = order.number(head, entry_size, 2)?;
    let count = order.number(head, count, 2)?;
    for index in 0..count.min(HEADERS_MAX) {
        let mut entry = [0; 64];
        let start = table.checked_add(index.checked_mul(entry_size)?)?;
        let len = file.read_at(&mut entry, start).ok()?;
        let entry = entry.get(..len)?;
        if order.number(entry, 0, 4)? == INTERPRETER {
            let start = order.number(entry, file_offset, word_bytes)?;
            let len = order.number(entry, file_size, word_bytes)?;
            let mut path = vec![0; usize::try_from(len.min(PATH_BYTES_MAX)).ok()?];
            file.read_exact_at(&mut path, start).ok()?;
            let end = path.iter().position(|byte| *byte == 0)?;
            path.truncate(end);
            return Some(path);
        }
    }
    None
}

/// The order of the bytes of numbers.
#[derive(Clone, Copy)]
enum Order {
    LittleEndian,
    BigEndian,
}

impl Order {
    fn number(self, bytes: &[u8], start: usize, len: usize) -> Option<u64> {
        let bytes = bytes.get(start..start.checked_add(len)?)?;
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(match self {
            Self::LittleEndian => bytes.iter().rev().fold(0, add),
            Self::BigEndian => bytes.iter().fold(0, add),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn found(bytes: &[u8]) -> Option<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), bytes).unwrap();
        let path = find(&File::open(file.path()).unwrap().into())?;
        Some(String::from_utf8(path).unwrap())
    }

    #[test]
    fn scripts_name_theirs_in_the_first_line() {
        for (script, expected) in [
            (&b"#!/bin/sh\necho"[..], Some("/bin/sh")),
            (b"#! \t/usr/bin/env python3\n", Some("/usr/bin/env")),
            (b"#!relative", Some("relative")),
            (b"#!\n/bin/sh", None),
            (b"# /bin/sh", None),
            (b"", None),
        ] {
            assert_eq!(
                found(script).as_deref(),
                expected,
                "{}",
                script.escape_ascii()
            );
        }
    }

    #[test]
    fn programs_name_theirs_in_a_header_and_broken_ones_none() {
        let mut program = vec![0; 256];
        program[..6].copy_from_slice(b"\x7fELF\x02\x01");
        program[32] = 64;
        program[54] = 56;
        program[56] = 2;
        // The second program header.
        program[64 + 56] = 3;
        program[64 + 56 + 8] = 200;
        program[64 + 56 + 32] = 12;
        program[200..211].copy_from_slice(b"/lib/ld.so\0");
        assert_eq!(found(&program).as_deref(), Some("/lib/ld.so"));
        for len in [5, 40, 60, 130, 205] {
            assert_eq!(found(&program[..len]), None, "cut at {len}");
        }
        for (byte, value) in [(4, 3), (5, 0), (39, 255), (64 + 56 + 15, 255)] {
            let mut broken = program.clone();
            broken[byte] = value;
            assert_eq!(found(&broken), None, "byte {byte}");
        }
    }

    #[test]
    fn the_shell_of_this_machine_has_one_or_none() {
        let shell = File::open("/bin/sh").unwrap();
        let path = find(&shell.into());
        assert!(path.is_none_or(|path| path.starts_with(b"/")));
    }
}
