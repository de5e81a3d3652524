//! Words of `/proc/PID/mountinfo`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// A path as it is. The kernel writes blank, tab, newline, `#` and backslash as three octal digits.
pub(crate) fn unescaped(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(byte);
            rest = after.get(3..).unwrap_or_default();
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}
