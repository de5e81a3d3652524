//! What a new file system has of the old one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::ops::Range;

use coldpress_image::ReadAt;
use coldpress_iso::{BootImage, File as Entry, Iso, SECTOR_BYTES, boot_images};
use coldpress_report::text::plural;

use super::IsoImage;
use super::complete::{Change, again};
use crate::container::{Account, is_same, pieces};
use crate::error::Error;
use crate::field::read;

/// Bytes of a boot image in which it is told where it lies: those of ISOLINUX and of GRUB.
const PATCHED: [Range<u64>; 2] = [8..64, 2548..2556];
/// The boot code of a disk, without the place of a boot image, at 432 and 440, and the partitions.
const BOOT_CODE: Range<u64> = 0..432;
/// Bytes compared of a boot image that is no file; the catalogue need not say how long it is.
const BOOT_IMAGE_BYTES_MIN: u64 = 4096;

/// Compares all files of a new file system with those of the old one, and what the firmware starts.
///
/// # Errors
///
/// [`Error::Differs`] if one is missing or another.
pub(super) fn compare<'a>(
    it: &'a IsoImage,
    old: &dyn ReadAt,
    new: &'a File,
    image_bytes: u64,
) -> Result<Change<'a>, Error> {
    let iso = again(new)?;
    let (images, new_images) = (boots(&it.iso, old)?, boots(&iso, new)?);
    let entries = |images: &[BootImage]| images.iter().map(|it| it.entry).collect::<Vec<_>>();
    let is_started = entries(&images) == entries(&new_images);
    if !is_started || !is_same(old, 0, new, 0, BOOT_CODE.end)? {
        return Err(Error::Differs {
            part: "boot record",
        });
    }
    for (before, after) in images.iter().zip(&new_images) {
        let size_bytes = before.size_bytes.max(BOOT_IMAGE_BYTES_MIN);
        if !is_same_boot(old, before.start, new, after.start, size_bytes)? {
            return Err(Error::Differs { part: "boot image" });
        }
    }
    let starts: BTreeSet<u64> = images.iter().map(|image| image.start).collect();
    let mut change = Change {
        it,
        new,
        changed: BTreeSet::new(),
        ranges: Vec::new(),
        account: Account::default(),
        iso: iso.clone(),
    };
    let (mut files, mut bytes) = (0, 0);
    for (before, after) in pairs(&it.iso, &iso)? {
        let begin = after
            .sections
            .first()
            .map_or(0, |section| section.data.start);
        let own = before.sections.first().map(|section| section.data.start);
        let is_ours = before.path == it.path || (own.is_some() && own == it.iso.boot_catalog);
        if !is_ours && before.attributes.is_some() && before.attributes != after.attributes {
            return Err(Error::Differs {
                part: "owner, mode or target of a file",
            });
        }
        if before.path == it.path {
            if after.size_bytes() != image_bytes || after.sections.len() != 1 {
                return Err(Error::Differs { part: "image" });
            }
            change.changed.insert(begin);
        } else if own.is_some() && own == it.iso.boot_catalog {
            change.changed.insert(begin);
        } else if is_same_file(old, before, new, after)? {
            files += 1;
            bytes += before.size_bytes();
        } else if let Some(own) = own
            && starts.contains(&own)
            && lengths(before) == lengths(after)
            && is_same_boot(old, own, new, begin, before.size_bytes())?
        {
            change.changed.insert(begin);
        } else {
            return Err(Error::Differs { part: "file" });
        }
    }
    let files = plural(files, "file", "files");
    let moved = format!("{files} with {bytes} bytes");
    change.account.moved.push(moved);
    let count = plural(images.len() as u64, "boot image", "boot images");
    let boot = format!("boot code, {count} of El Torito");
    change.account.identical.push(boot);
    let made = "file system, partitions, boot catalogue (by xorriso)";
    change.account.recomputed.push(made.to_owned());
    Ok(change)
}

fn boots(iso: &Iso, source: &dyn ReadAt) -> Result<Vec<BootImage>, Error> {
    let Some(start) = iso.boot_catalog else {
        return Ok(Vec::new());
    };
    let mut catalog = vec![0; usize::try_from(SECTOR_BYTES).unwrap_or_default()];
    read(source, &mut catalog, start)?;
    Ok(boot_images(&catalog))
}

/// The old and the new file of each path; both must have the same paths.
fn pairs<'a>(old: &'a Iso, new: &'a Iso) -> Result<Vec<(&'a Entry, &'a Entry)>, Error> {
    let by_path = |iso: &'a Iso| -> BTreeMap<&'a [u8], &'a Entry> {
        let files = iso.shown().into_iter().flat_map(|tree| &tree.files);
        files.map(|file| (file.path.as_slice(), file)).collect()
    };
    let (old, new) = (by_path(old), by_path(new));
    if !old.keys().eq(new.keys()) {
        return Err(Error::Differs {
            part: "list of files",
        });
    }
    Ok(old.into_values().zip(new.into_values()).collect())
}

fn is_same_file(
    old: &dyn ReadAt,
    before: &Entry,
    new: &File,
    after: &Entry,
) -> Result<bool, Error> {
    if lengths(before) != lengths(after) {
        return Ok(false);
    }
    for (before, after) in before.sections.iter().zip(&after.sections) {
        let (from, to) = (&before.data, &after.data);
        if !is_same(old, from.start, new, to.start, from.end - from.start)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Bytes of each section of a file.
fn lengths(file: &Entry) -> Vec<u64> {
    let sections = file.sections.iter();
    sections.map(|it| it.data.end - it.data.start).collect()
}

/// Whether two boot images are the same but for what tells them where they lie.
fn is_same_boot(
    old: &dyn ReadAt,
    start: u64,
    new: &File,
    new_start: u64,
    size_bytes: u64,
) -> Result<bool, Error> {
    let mut is_all = true;
    pieces(size_bytes, |offset, piece| {
        let mut other = vec![0; piece.len()];
        read(old, piece, start + offset)?;
        read(new, &mut other, new_start + offset)?;
        let pairs = piece.iter().zip(&other).zip(offset..);
        let mut differing = pairs.filter(|((byte, other), _)| byte != other);
        is_all &= differing.all(|(_, at)| PATCHED.iter().any(|range| range.contains(&at)));
        Ok(())
    })?;
    Ok(is_all)
}
