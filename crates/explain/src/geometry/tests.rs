use super::executable::executable_pages;

/// A header of a 64-bit program with two segments: data in the first page, code in the second and
/// third.
fn program() -> Vec<u8> {
    let mut bytes = vec![0; 64 + 2 * 56];
    bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    let mut put = |at: usize, value: u64, len: usize| {
        bytes[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
    };
    put(16, 3, 2);
    put(18, 62, 2);
    put(20, 1, 4);
    put(32, 64, 8);
    put(52, 64, 2);
    put(54, 56, 2);
    put(56, 2, 2);
    for (segment, flags, offset, len_bytes) in [(0, 4, 0, 4000), (1, 5, 4096, 4097)] {
        let at = 64 + segment * 56;
        put(at, 1, 4);
        put(at + 4, flags, 4);
        put(at + 8, offset, 8);
        put(at + 32, len_bytes, 8);
    }
    bytes
}

#[test]
fn code_is_found_in_programs_and_nowhere_else() {
    assert_eq!(executable_pages(&program()), Some(vec![(1, 2)]));
    assert_eq!(executable_pages(b"#!/bin/sh\n"), None);
    assert_eq!(executable_pages(b""), None);
    for len in 0..program().len() {
        // Any beginning gives an answer.
        let _ = executable_pages(&program()[..len]);
    }
}
