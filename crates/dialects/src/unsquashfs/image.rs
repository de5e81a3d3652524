//! The image of a command line.

use std::fs::{self, File};
use std::os::unix::fs::FileTypeExt as _;

use anyhow::{Context as _, anyhow, bail};
use coldpress_format::SUPERBLOCK_SIZE;
use coldpress_host::memory;
use coldpress_image::{Offset, ReadAt as _, ReadLimits};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;

use super::request::Request;

/// Bytes of a superblock up to the version, which all versions of the format have in this place.
const VERSION_END: usize = 32;

/// The file that the image is in, without what stands before the image.
///
/// # Errors
///
/// If it cannot be opened, or not read at any position.
pub fn file(request: &Request) -> anyhow::Result<Offset<File>> {
    let path = &request.image;
    let file_type = fs::metadata(path)
        .with_context(|| format!("cannot open {}", quoted(path)))?
        .file_type();
    // A pipe is refused before it is opened, which would wait for its writer.
    if !file_type.is_file() && !file_type.is_block_device() {
        bail!(
            "cannot open {}: it must be a regular file or a block device",
            quoted(path)
        );
    }
    let inner = File::open(path).with_context(|| format!("cannot open {}", quoted(path)))?;
    Ok(Offset {
        inner,
        start: request.offset_bytes,
    })
}

/// What reading content may take.
///
/// # Errors
///
/// If the memory is asked for as a part of what there is, and that cannot be told.
pub fn read_limits(request: &Request) -> anyhow::Result<ReadLimits> {
    Ok(ReadLimits {
        threads: coldpress_host::threads(request.threads),
        memory_bytes: match request.memory {
            None => memory::default_bytes(),
            Some(limit) => limit.bytes()?,
        },
    })
}

/// Why an image of another version cannot be read.
///
/// * `kind`: what [`other_kind`] says of it.
pub fn other_version(request: &Request, kind: &str) -> anyhow::Error {
    let error = anyhow!("{} is {kind}", quoted(&request.image));
    let how = "only SquashFS 4.0, which mksquashfs has written since 2009, is read; the unsquashfs \
    of \
               squashfs-tools reads the others";
    hint(error, how)
}

/// What an image is, if it is one of another version or byte order.
pub fn other_kind(file: &Offset<File>) -> Option<String> {
    let mut head = [0; SUPERBLOCK_SIZE];
    let len = file.read_at(&mut head, 0).ok()?;
    let head = head.get(..len)?.first_chunk::<VERSION_END>()?;
    let [.., major_0, major_1, minor_0, minor_1] = *head;
    let (major, minor) = match head.first_chunk::<4>()? {
        b"hsqs" => (
            u16::from_le_bytes([major_0, major_1]),
            u16::from_le_bytes([minor_0, minor_1]),
        ),
        // Read from the other end, as a big-endian machine would have written it.
        b"sqsh" => (
            u16::from_le_bytes([major_1, major_0]),
            u16::from_le_bytes([minor_1, minor_0]),
        ),
        b"HSQS" | b"SQSH" => {
            return Some("an image with the superblock at its end (`-stream`)".to_owned());
        }
        _ => return None,
    };
    let is_swapped = head.starts_with(b"sqsh");
    match (is_swapped, major, minor) {
        (false, 4, 0) => None,
        (false, ..) => Some(format!("an image of SquashFS {major}.{minor}")),
        (true, ..) => Some(format!(
            "a byte-swapped (big-endian) image of SquashFS {major}.{minor}"
        )),
    }
}
