//! Each field broken once gives the error that names it and its place.

mod inodes;
mod superblocks;
mod tables;

use coldpress_format::Corrupt;

/// Puts `value` over the bytes at `at`.
fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

fn message<T>(result: Result<T, Corrupt>) -> String {
    result
        .err()
        .map_or_else(|| "no error".to_owned(), |corrupt| corrupt.to_string())
}
