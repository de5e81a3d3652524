//! `perf`: accesses to pages, with the file's inode number or its path.
//!
//! ```text
//! true 27794 [000] 23080.301207: filemap:mm_filemap_fault: dev=7:0 ino=4f8cb ofs=32768
//! 0.205 ( 0.000 ms): true/27790 minfault [_start+0x0] => /usr/lib/libc.so.6@0x1ab70 (d.)
//! ```
//!
//! The first is of `perf script`, and but for the first columns of the kernel's own trace file;
//! inode numbers are hexadecimal. The second is of `perf trace -F all`.

use std::collections::BTreeSet;

use super::imported::Seen;
use super::notes::{Notes, map, read};
use super::text::{decimal, hexadecimal, lines, rsplit_once, seconds_us, split_once, split_word};
use super::{Device, Inodes};
use crate::event::{Access, PAGE_SIZE_BYTES};

const EVENT: &[u8] = b"mm_filemap_";

/// An event of the page cache.
struct FilemapEvent<'line> {
    time_us: Option<u64>,
    pid: u32,
    /// What follows `mm_filemap_`.
    name: &'line [u8],
    device: Device,
    inode: u64,
    /// First and last byte; none of events that tell no bytes.
    bytes: Option<(u64, u64)>,
}

/// Whether the line is an event of the page cache.
pub(super) fn is_filemap_event(line: &[u8]) -> bool {
    parse_event(line).is_some()
}

/// The devices on which files were accessed.
pub fn devices(text: &[u8]) -> BTreeSet<Device> {
    let events = lines(text).filter_map(|(line, _)| parse_event(line));
    events.map(|event| event.device).collect()
}

/// Reads events of the page cache. Pages that were only added to it are no accesses.
pub(super) fn read_script(text: &[u8], inodes: &mut Inodes<'_>, notes: &mut Notes) {
    for (line, number) in lines(text) {
        notes.begin_line(number);
        if line.trim_ascii().is_empty() || line.starts_with(b"#") {
            continue;
        }
        let Some(event) = parse_event(line) else {
            notes.cannot_read(line, "not an event of the page cache");
            continue;
        };
        if event.device != inodes.device {
            notes.leave_out();
        } else if let Some(as_pages) = access_of(event.name) {
            match ((inodes.path_of)(event.inode), event.bytes) {
                (Some(path), Some((first, last))) if first <= last => {
                    let time_us = event.time_us.unwrap_or_else(|| notes.next_time_us());
                    let len_bytes = (last - first).saturating_add(1);
                    notes.see_bytes((time_us, event.pid), (first, len_bytes), as_pages, &path);
                }
                (None, _) => notes.cannot_read(line, "the image has no inode of this number"),
                _ => notes.cannot_read(line, "no range of bytes"),
            }
        }
    }
}

/// The access that an event is, from its first and last page.
fn access_of(name: &[u8]) -> Option<fn(u64, u64) -> Access> {
    match name {
        b"get_pages" => Some(read),
        b"fault" => Some(fault),
        b"map_pages" => Some(map),
        _ => None,
    }
}

fn fault(page: u64, _: u64) -> Access {
    Access::Fault { page }
}

fn parse_event(line: &[u8]) -> Option<FilemapEvent<'_>> {
    let (head, rest) = split_once(line, EVENT)?;
    let (name, fields) = split_once(rest, b": ")?;
    // `dev=7:0 ino=4 ofs=0-4095` of accesses, `dev 7:0 ino 4 pfn=0x1482e0 ofs=0` of the others.
    let mut words = fields.split(|&byte| matches!(byte, b' ' | b'='));
    let mut value = |name: &[u8]| words.by_ref().skip_while(|word| *word != name).nth(1);
    let (major, minor) = split_once(value(b"dev")?, b":")?;
    let inode = hexadecimal(value(b"ino")?)?;
    let bytes = value(b"ofs").and_then(|range| match split_once(range, b"-") {
        Some((first, last)) => Some((decimal(first)?, decimal(last)?)),
        None => decimal(range).map(|byte| (byte, byte)),
    });
    let (time_us, pid) = time_and_pid(head);
    let device = Device {
        major: decimal(major)?,
        minor: decimal(minor)?,
    };
    Some(FilemapEvent {
        time_us,
        pid,
        name,
        device,
        inode,
        bytes,
    })
}

/// `true 27794 [000] 23080.301207:                  filemap:`, or
/// `python3-23129 [001] ..... 1108.280767: `.
fn time_and_pid(head: &[u8]) -> (Option<u64>, u32) {
    let head = head.strip_suffix(b"filemap:").unwrap_or(head).trim_ascii();
    let (before, time) = rsplit_once(head, b" ").unwrap_or((b"", head));
    let time_us = time.strip_suffix(b":").and_then(seconds_us);
    let task = rsplit_once(before, b" [").map_or(before, |(task, _)| task);
    let begin = task.trim_ascii_end();
    let begin = begin
        .iter()
        .rposition(|byte| matches!(byte, b' ' | b'-' | b'/'));
    let pid = begin.and_then(|at| decimal(task.get(at + 1..)?.trim_ascii()));
    (time_us, pid.unwrap_or(0))
}

/// A line of `perf trace`: time, process and the rest.
fn parse_trace(line: &[u8]) -> Option<(u64, u32, &[u8])> {
    let (millis, rest) = split_word(line);
    let (_, rest) = split_once(rest.strip_prefix(b"(")?, b"): ")?;
    // Read as seconds, these are a thousand times too many.
    let time_us = if millis == b"?" {
        0
    } else {
        seconds_us(millis)? / 1000
    };
    let (task, rest) = split_once(rest, b" ")?;
    let pid = rsplit_once(task, b"/").map_or(task, |(_, pid)| pid);
    Some((time_us, decimal(pid).unwrap_or(0), rest))
}

/// Whether the line is one of `perf trace`.
pub(super) fn is_trace_line(line: &[u8]) -> bool {
    parse_trace(line).is_some()
}

/// Reads page faults. System calls, which `perf trace` tells without paths, are left out.
pub(super) fn read_trace(text: &[u8], notes: &mut Notes) {
    for (line, number) in lines(text) {
        notes.begin_line(number);
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Some((time_us, pid, rest)) = parse_trace(line) else {
            notes.cannot_read(line, "not a line of perf trace");
            continue;
        };
        let is_fault = split_once(rest, b"fault [").is_some();
        if let Some((_, place)) = rsplit_once(rest, b"] => ").filter(|_| is_fault)
            && let Some((path, offset)) = fault_place(place)
        {
            let page = offset / PAGE_SIZE_BYTES;
            notes.see(time_us, pid, Seen::Access(Access::Fault { page }), path);
        }
    }
}

/// `/usr/lib/libc.so.6@0x1d4868 (d.)`; `None` of memory that no file is behind.
fn fault_place(place: &[u8]) -> Option<(&[u8], u64)> {
    let (place, _) = rsplit_once(place, b" (")?;
    let (path, offset) = rsplit_once(place, b"@0x")?;
    let is_file = path.starts_with(b"/") && !path.starts_with(b"//");
    Some((path, hexadecimal(offset)?)).filter(|_| is_file)
}
