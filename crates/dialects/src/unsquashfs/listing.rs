//! Names of an image, line by line, as unsquashfs prints them.

use std::io::{self, Write};

use coldpress_format::{Body, DeviceNumber, InodeKind};
use coldpress_image::{Image, Visited, walk_chosen};
use coldpress_report::{LocalTime, text};

use super::cursor::Verdict;
use super::owner_names::OwnerNames;
use super::request::Request;
use super::selection::Selection;

/// Columns of owners, size and the spaces between them, unless the owners take more.
const OWNERS_AND_SIZE: usize = 26;
/// What of them a device number takes at the end.
const DEVICE_NUMBER: usize = 7;

/// Writes the names of the paths that are selected.
///
/// * `is_terminal`: whether `out` obeys control characters, which are then escaped.
///
/// # Errors
///
/// If the image is damaged, or `out` cannot be written.
pub fn write_listing(
    image: &Image,
    request: &Request,
    selection: &Selection,
    is_terminal: bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let lines = Lines::new(image, request, is_terminal);
    let concise = request.listing.concise;
    let mut cursor = selection.cursor();
    walk_chosen(image, &mut |visited| -> anyhow::Result<bool> {
        let verdict = cursor.visit(visited);
        if verdict == Verdict::Leave {
            return Ok(false);
        }
        if !(concise && is_filled_directory(visited)) {
            lines.write(visited, out)?;
        }
        Ok(verdict == Verdict::Enter)
    })?;
    out.flush()?;
    Ok(())
}

fn is_filled_directory(visited: &Visited) -> bool {
    matches!(&visited.inode.body, Body::Directory(directory) if directory.listing_bytes > 0)
}

/// How lines are written.
struct Lines<'a> {
    image: &'a Image,
    /// What paths begin with.
    prefix: &'a [u8],
    long: bool,
    seconds: bool,
    /// What all times are replaced by.
    time_s: Option<u32>,
    names: OwnerNames,
    time: LocalTime,
    is_terminal: bool,
}

impl<'a> Lines<'a> {
    fn new(image: &'a Image, request: &'a Request, is_terminal: bool) -> Self {
        let asked = &request.listing;
        let names = if asked.numeric || !asked.long {
            OwnerNames::default()
        } else {
            OwnerNames::of_machine()
        };
        Self {
            image,
            prefix: request.destination.as_os_str().as_encoded_bytes(),
            long: asked.long,
            seconds: asked.seconds,
            time_s: request.time_s,
            names,
            time: LocalTime::new(asked.utc || !asked.long),
            is_terminal,
        }
    }

    fn write(&self, visited: &Visited, out: &mut dyn Write) -> anyhow::Result<()> {
        if self.long {
            out.write_all(self.attributes(visited)?.as_bytes())?;
        }
        self.write_name(self.prefix, out)?;
        if visited.path != b"/" {
            self.write_name(visited.path, out)?;
        }
        if let (true, Body::Symlink(target)) = (self.long, &visited.inode.body) {
            out.write_all(b" -> ")?;
            self.write_name(target, out)?;
        }
        out.write_all(b"\n")?;
        Ok(())
    }

    /// Names are raw bytes for programs. A terminal would obey some of them.
    fn write_name(&self, name: &[u8], out: &mut dyn Write) -> io::Result<()> {
        if self.is_terminal {
            out.write_all(text::escaped(name).as_bytes())
        } else {
            out.write_all(name)
        }
    }

    /// `-rw-r--r-- root/root                 6 2020-02-03 04:05 `
    fn attributes(&self, visited: &Visited) -> anyhow::Result<String> {
        let inode = visited.inode;
        let (uid, gid) = self.image.owner(inode)?;
        let owners = self.names.text(uid, gid);
        let columns = OWNERS_AND_SIZE.saturating_sub(owners.len());
        let size = match &inode.body {
            Body::BlockDevice(device) | Body::CharDevice(device) => device_text(*device, columns),
            // As stored: 3 bytes for the `.` and `..` that no listing has.
            Body::Directory(directory) => {
                let size = u64::from(directory.listing_bytes) + 3;
                format!("{size:>columns$}")
            }
            Body::File(file) => format!("{:>columns$}", file.size_bytes),
            Body::Symlink(target) => format!("{:>columns$}", target.len()),
            Body::Fifo | Body::Socket => format!("{:>columns$}", 0),
        };
        let kind = letter(inode.body.kind());
        let permissions = text::permissions(inode.mode);
        let time_s = self.time_s.unwrap_or(inode.mtime_s);
        let time = self.time.text(time_s, self.seconds);
        Ok(format!("{kind}{permissions} {owners} {size} {time} "))
    }
}

/// `  1,  3`, with at least one space before it.
fn device_text(device: DeviceNumber, columns: usize) -> String {
    let columns = columns.saturating_sub(DEVICE_NUMBER);
    let DeviceNumber { major, minor } = device;
    format!("{:>columns$}{major:>3},{minor:>3}", " ")
}

/// The type as `ls -l` shows it.
fn letter(kind: InodeKind) -> char {
    match kind {
        InodeKind::Directory => 'd',
        InodeKind::File => '-',
        InodeKind::Symlink => 'l',
        InodeKind::BlockDevice => 'b',
        InodeKind::CharDevice => 'c',
        InodeKind::Fifo => 'p',
        InodeKind::Socket => 's',
    }
}
