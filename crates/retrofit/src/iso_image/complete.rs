//! The file around a new image.

use std::collections::BTreeSet;
use std::fs::File;
use std::ops::Range;

use coldpress_image::ReadAt;
use coldpress_iso::{Iso, SECTOR_BYTES, SIZE_AT, size_field};
use coldpress_report::text::plural;

use super::apple::hfs;
use super::checksums::{affected, digests, lists};
use super::implanted::{Implanted, implanted};
use super::rewrite::rewrite;
use super::rewritten::compare;
use super::{IsoImage, read_iso};
use crate::container::{Account, copy, is_same, pieces, write};
use crate::error::{Error, Rule};
use crate::field::read;
use crate::site::Site;

/// A file that is being completed.
pub(super) struct Change<'a> {
    pub(super) it: &'a IsoImage,
    pub(super) new: &'a File,
    /// The trees of the new file.
    pub(super) iso: Iso,
    /// Bytes at which files begin whose content is another.
    pub(super) changed: BTreeSet<u64>,
    /// Bytes that are others.
    pub(super) ranges: Vec<Range<u64>>,
    pub(super) account: Account,
}

/// Completes a file that has nothing but the new image, at the place of the old one: in place if
/// that is long enough, else as a new file system.
///
/// # Errors
///
/// If one of the files cannot be read, the new one not written, or it differs in what was to stay.
pub(crate) fn complete(
    it: &IsoImage,
    old: &dyn ReadAt,
    new: &File,
    image_bytes: u64,
    site: &mut Site<'_>,
) -> Result<Account, Error> {
    let is_in_place = image_bytes <= it.place.end - it.place.start;
    let apple = hfs(old)?;
    let mut change = if is_in_place {
        in_place(it, old, new, image_bytes)?
    } else {
        if let Some(start) = apple {
            return Err(Error::refused("partition map", start, Rule::Hfs));
        }
        rewrite(it, new, image_bytes, site)?;
        compare(it, old, new, image_bytes)?
    };
    change.clear_signatures()?;
    change.update_checksums()?;
    change.implant()?;
    change.check_checksums()?;
    if is_in_place {
        change.check_identical(old)?;
    }
    if apple.is_some() {
        let kept = "HFS+ tree, which states the old size of the image";
        change.account.identical.push(kept.to_owned());
    }
    Ok(change.account)
}

/// Puts what was around the old image around the new one.
fn in_place<'a>(
    it: &'a IsoImage,
    old: &dyn ReadAt,
    new: &'a File,
    image_bytes: u64,
) -> Result<Change<'a>, Error> {
    let start = it.place.start;
    let end = it
        .place
        .end
        .next_multiple_of(SECTOR_BYTES)
        .min(it.file_bytes);
    let set_len = |len| {
        let set = new.set_len(len);
        set.map_err(|source| Error::Write { start: len, source })
    };
    // What comes after the new image becomes zeros.
    set_len(start + image_bytes)?;
    set_len(it.file_bytes)?;
    copy(old, 0..start, new, 0)?;
    copy(old, end..it.file_bytes, new, end)?;
    let extent = start..end;
    let mut ranges = vec![extent];
    let field = size_field(u32::try_from(image_bytes).unwrap_or(u32::MAX));
    let records = it.iso.records(&it.place);
    for record in &records {
        let at = record + SIZE_AT;
        write(new, &field, at)?;
        ranges.push(at..at + field.len() as u64);
    }
    let iso = again(new)?;
    let is_there = iso.find(&it.path).is_some_and(|file| {
        let sections = file.sections.iter();
        let mut data = sections.map(|section| section.data.clone());
        data.next() == Some(start..start + image_bytes) && data.next().is_none()
    });
    if !is_there {
        return Err(Error::Differs { part: "directory" });
    }
    let path = String::from_utf8_lossy(&it.path);
    let count = plural(
        records.len() as u64,
        "directory record",
        "directory records",
    );
    let account = Account {
        identical: vec!["all bytes but those of what follows".to_owned()],
        recomputed: vec![format!("size of {path} in {count}")],
        ..Account::default()
    };
    let changed = BTreeSet::from([start]);
    Ok(Change {
        it,
        new,
        iso,
        changed,
        ranges,
        account,
    })
}

/// The trees of the new file.
pub(super) fn again(new: &File) -> Result<Iso, Error> {
    let size_bytes = new.size_bytes();
    let file_bytes = size_bytes.map_err(|source| Error::Read { start: 0, source })?;
    let iso = read_iso(new, file_bytes)?;
    iso.ok_or(Error::Differs { part: "descriptor" })
}

impl Change<'_> {
    fn put(&mut self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        self.ranges.push(start..start + bytes.len() as u64);
        write(self.new, bytes, start)
    }

    /// Signatures that do not hold for another image become zeros.
    fn clear_signatures(&mut self) -> Result<(), Error> {
        for signature in &self.it.signatures {
            let path = String::from_utf8_lossy(&signature.path).into_owned();
            self.account.dropped.push(path);
            let sections = self.iso.find(&signature.path).map(|it| it.sections.clone());
            for section in sections.unwrap_or_default() {
                let Range { start, end } = section.data;
                self.changed.insert(start);
                self.ranges.push(start..end);
                pieces(end - start, |offset, piece| {
                    piece.fill(0);
                    write(self.new, piece, start + offset)
                })?;
            }
        }
        Ok(())
    }

    fn update_checksums(&mut self) -> Result<(), Error> {
        let lists = lists(&self.iso, self.new)?;
        for list in affected(&lists, &self.changed)? {
            self.changed.insert(list.start);
            let digests = digests(list, &self.changed, self.new)?;
            let path = String::from_utf8_lossy(&list.file.path);
            let count = plural(digests.len() as u64, "digest", "digests");
            let text = format!("{path} ({count})");
            self.account.recomputed.push(text);
            for (start, digits) in digests {
                self.put(start, &digits)?;
            }
        }
        Ok(())
    }

    /// Demands that the checksum files as they are now state what the files have.
    fn check_checksums(&self) -> Result<(), Error> {
        let lists = lists(&self.iso, self.new)?;
        for list in affected(&lists, &self.changed)? {
            for (start, digits) in digests(list, &self.changed, self.new)? {
                let mut found = vec![0; digits.len()];
                read(self.new, &mut found, start)?;
                if found != digits {
                    return Err(Error::Differs { part: "checksum" });
                }
            }
        }
        Ok(())
    }

    /// Digests of isomd5sum.
    fn implant(&mut self) -> Result<(), Error> {
        let Some(volume) = self.iso.trees.first().map(|tree| tree.volume.clone()) else {
            return Ok(());
        };
        let start = volume.start + coldpress_iso::APPLICATION_USE.start;
        let name = "digests of isomd5sum".to_owned();
        match implanted(self.new, &volume)? {
            Implanted::None => Ok(()),
            Implanted::Again(field) => {
                self.account.recomputed.push(name);
                self.put(start, &field)
            }
            Implanted::Cleared(field) => {
                self.account.dropped.push(name);
                self.put(start, &field)
            }
        }
    }

    /// Demands that all bytes are as they were but those that were to change.
    fn check_identical(&mut self, old: &dyn ReadAt) -> Result<(), Error> {
        self.ranges.sort_by_key(|range| range.start);
        let end = self.it.file_bytes;
        let mut start = 0;
        for range in self.ranges.iter().chain([&(end..end)]) {
            let size_bytes = range.start.saturating_sub(start);
            if !is_same(old, start, self.new, start, size_bytes)? {
                return Err(Error::Differs { part: "rest" });
            }
            start = start.max(range.end);
        }
        Ok(())
    }
}
