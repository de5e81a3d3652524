//! Lists of files in the order of their first access, as other tools read them.
//!
//! | | paths | also |
//! |---|---|---|
//! | [`Format::List`] | absolute, a line each | |
//! | [`Format::Nul`] | absolute, before a NUL each | any path |
//! | [`Format::Dwarfs`] | relative to the root, a line each | `mkdwarfs --hotness-list`, `--order explicit` |
//! | [`Format::Nydus`] | absolute | the bytes that were touched; prefetch files of Nydus, v1 |
//! | [`Format::Estargz`] | relative to the root | `ctr-remote image convert --estargz-record-in` |

use std::io;

use serde::Serialize;

use crate::event::PAGE_SIZE_BYTES;
use crate::working_set::{FileAccess, WorkingSet};

/// How a list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A path on each line.
    List,
    /// A NUL behind each path.
    Nul,
    /// A path without the first slash on each line.
    Dwarfs,
    /// A prefetch file of Nydus.
    Nydus,
    /// JSON lines of eStargz.
    Estargz,
}

#[derive(Debug, Serialize)]
struct Prefetch<'a> {
    version: &'static str,
    files: Vec<PrefetchFile<'a>>,
}

#[derive(Debug, Serialize)]
struct PrefetchFile<'a> {
    path: &'a str,
    /// Offsets and lengths, in bytes.
    ranges: Vec<(u64, u64)>,
}

#[derive(Debug, Serialize)]
struct Record<'a> {
    path: &'a str,
}

/// Writes the files of a working set, and gives back the paths that the format cannot spell: with
/// line ends in lines, not UTF-8 in JSON.
///
/// # Errors
///
/// Those of `out`.
pub fn write<'set>(
    set: &'set WorkingSet,
    format: Format,
    out: &mut impl io::Write,
) -> io::Result<Vec<&'set [u8]>> {
    let can_spell = |path: &[u8]| match format {
        Format::List | Format::Dwarfs => !path.contains(&b'\n') && path != b"/",
        Format::Nul => true,
        Format::Nydus | Format::Estargz => str::from_utf8(path).is_ok(),
    };
    let (files, left): (Vec<_>, Vec<_>) = set.files.iter().partition(|file| can_spell(&file.path));
    match format {
        Format::List => write_paths(&files, |path| path, b"\n", out)?,
        Format::Nul => write_paths(&files, |path| path, b"\0", out)?,
        Format::Dwarfs => write_paths(&files, relative, b"\n", out)?,
        Format::Nydus => write_prefetch(&files, out)?,
        Format::Estargz => {
            for path in files
                .iter()
                .filter_map(|file| str::from_utf8(relative(&file.path)).ok())
            {
                serde_json::to_writer(&mut *out, &Record { path })?;
                out.write_all(b"\n")?;
            }
        }
    }
    Ok(left.into_iter().map(|file| file.path.as_slice()).collect())
}

fn relative(path: &[u8]) -> &[u8] {
    path.strip_prefix(b"/").unwrap_or(path)
}

fn write_paths(
    files: &[&FileAccess],
    spell: fn(&[u8]) -> &[u8],
    end: &[u8],
    out: &mut impl io::Write,
) -> io::Result<()> {
    for file in files {
        out.write_all(spell(&file.path))?;
        out.write_all(end)?;
    }
    Ok(())
}

fn write_prefetch(files: &[&FileAccess], out: &mut impl io::Write) -> io::Result<()> {
    let files = files.iter().filter_map(|file| {
        let path = str::from_utf8(&file.path).ok()?;
        let ranges = byte_ranges(file);
        Some(PrefetchFile { path, ranges })
    });
    let prefetch = Prefetch {
        version: "v1",
        files: files.collect(),
    };
    serde_json::to_writer(&mut *out, &prefetch)?;
    out.write_all(b"\n")
}

/// The touched pages as ranges of bytes that do not touch.
fn byte_ranges(file: &FileAccess) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for run in &file.pages {
        let begin = run.first_page * PAGE_SIZE_BYTES;
        let len = (run.last_page - run.first_page + 1).saturating_mul(PAGE_SIZE_BYTES);
        match ranges.last_mut() {
            Some((last, last_len)) if last.saturating_add(*last_len) == begin => {
                *last_len = last_len.saturating_add(len);
            }
            _ => ranges.push((begin, len)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trace;

    fn exported(format: Format) -> (String, usize) {
        let trace = "coldpress-trace 1\n0 1 L /stat\n1 1 R 2-3 /b/c\n2 1 F 4 /b/c\n3 1 M 8-9 /b/c\n\
                     4 1 R 0-0 /a b\n5 1 R 0-0 /n\\nl\n6 1 R 0-0 /x\\xff\n";
        let set = Trace::parse(trace.as_bytes())
            .expect("a trace")
            .working_set();
        let mut out = Vec::new();
        let left = write(&set, format, &mut out).expect("a vector takes all");
        (String::from_utf8_lossy(&out).into_owned(), left.len())
    }

    #[test]
    fn files_with_data_are_listed_in_the_order_of_their_first_access() {
        let cases = [
            (Format::List, "/b/c\n/a b\n/x\u{fffd}\n", 1),
            (Format::Nul, "/b/c\0/a b\0/n\nl\0/x\u{fffd}\0", 0),
            (Format::Dwarfs, "b/c\na b\nx\u{fffd}\n", 1),
            (
                Format::Nydus,
                "{\"version\":\"v1\",\"files\":[{\"path\":\"/b/c\",\"ranges\":[[8192,12288],[32768,8192]]},\
                 {\"path\":\"/a b\",\"ranges\":[[0,4096]]},{\"path\":\"/n\\nl\",\"ranges\":[[0,4096]]}]}\n",
                1,
            ),
            (
                Format::Estargz,
                "{\"path\":\"b/c\"}\n{\"path\":\"a b\"}\n{\"path\":\"n\\nl\"}\n",
                1,
            ),
        ];
        for (format, text, left) in cases {
            assert_eq!(exported(format), (text.to_owned(), left), "{format:?}");
        }
    }
}
