//! A file with an image in it, and the new one around another image.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use coldpress_image::ReadAt;
use coldpress_snap::SNAP_MIN_BYTES;
use serde::Serialize;

use crate::app_image::AppImage;
use crate::error::Error;
use crate::field::read;
use crate::iso_image::{self, IsoImage};
use crate::program::{Place, Section};
use crate::sif_image::SifImage;
use crate::site::Site;
use crate::snap_image::SnapImage;

/// Bytes copied at once.
const WINDOW_BYTES: usize = 1 << 20;

/// A file with an image in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Container {
    /// A program that mounts the image after it.
    AppImage(AppImage),
    /// A container of Apptainer.
    Sif(Box<SifImage>),
    /// A live medium.
    Iso(Box<IsoImage>),
    /// A snap, of which nothing is around the image.
    Snap(Box<SnapImage>),
}

/// What became of the parts of a file, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Account {
    /// What is as it was, byte for byte.
    pub identical: Vec<String>,
    /// What moved, and is as it was.
    pub moved: Vec<String>,
    /// What was computed again.
    pub recomputed: Vec<String>,
    /// What became zeros or was taken out.
    pub dropped: Vec<String>,
    /// Whether it has a signature of its own.
    #[serde(skip)]
    pub is_signed: bool,
}

impl Account {
    /// Adds what became of the parts of a file that was changed once more.
    pub fn add(&mut self, more: Self) {
        let lists = [
            (&mut self.identical, more.identical),
            (&mut self.moved, more.moved),
            (&mut self.recomputed, more.recomputed),
            (&mut self.dropped, more.dropped),
        ];
        for (list, more) in lists {
            for part in more {
                if !list.contains(&part) {
                    list.push(part);
                }
            }
        }
        self.is_signed |= more.is_signed;
    }
}

impl Container {
    /// Reads what is around the image of a file; `None` if it is none of them.
    ///
    /// * `wanted`: the path of the image in a live medium that has several.
    ///
    /// # Errors
    ///
    /// If it is one that cannot be rebuilt.
    pub fn open(file: &File, wanted: Option<&[u8]>) -> Result<Option<Self>, Error> {
        if let Some(container) = SifImage::open(file)? {
            return Ok(Some(Self::Sif(Box::new(container))));
        }
        if let Some(snap) = SnapImage::open(file)? {
            return Ok(Some(Self::Snap(Box::new(snap))));
        }
        if let Some(app) = AppImage::open(file)? {
            return Ok(Some(Self::AppImage(app)));
        }
        let medium = IsoImage::open(file, wanted)?;
        Ok(medium.map(|it| Self::Iso(Box::new(it))))
    }

    /// Where its image is, without padding.
    pub fn image(&self) -> Place {
        match self {
            Self::AppImage(it) => it.image(),
            Self::Sif(it) => it.image(),
            Self::Iso(it) => it.image(),
            Self::Snap(it) => it.image(),
        }
    }

    /// Whether its image is padded to a multiple of 4096 bytes.
    pub fn is_padded(&self) -> bool {
        match self {
            Self::AppImage(it) => it.is_padded(),
            Self::Sif(_) | Self::Snap(_) => true,
            Self::Iso(it) => it.is_padded(),
        }
    }

    /// Whether there is a signature that another image makes invalid.
    pub fn is_signed(&self) -> bool {
        match self {
            Self::AppImage(it) => it.is_signed(),
            Self::Sif(it) => it.signatures().next().is_some(),
            Self::Iso(it) => !it.signatures().is_empty(),
            // What the store signed is not in the file.
            Self::Snap(_) => false,
        }
    }

    /// Completes a file that has nothing but the new image, at the place of the old one: copies
    /// what stays, and computes what does not. Then reads back what stayed.
    ///
    /// * `image_bytes`: of the new image, with padding.
    ///
    /// # Errors
    ///
    /// If one of the files cannot be read, the new one not written, or it differs in what was to
    /// stay.
    ///
    /// # Cost
    ///
    /// Reads both files but for the image, and the new one once more if it has a digest.
    pub fn complete(
        &self,
        old: &dyn ReadAt,
        new: &File,
        image_bytes: u64,
        site: &mut Site<'_>,
    ) -> Result<Account, Error> {
        match self {
            Self::AppImage(it) => complete_app_image(it, new),
            Self::Sif(it) => complete_sif(it, old, new, image_bytes),
            Self::Iso(it) => iso_image::complete(it, old, new, image_bytes, site),
            Self::Snap(_) => complete_snap(new, image_bytes),
        }
    }
}

fn complete_app_image(it: &AppImage, new: &File) -> Result<Account, Error> {
    let head = it.head();
    write(new, &head, 0)?;
    let digest = it.digest(new)?;
    if let Some((start, digest)) = digest {
        write(new, &digest, start)?;
    }
    let again = AppImage::open(new)?;
    if again.is_none_or(|again| again.head() != head || again.image().start != it.image().start) {
        return Err(Error::Differs { part: "program" });
    }
    let mut account = Account::default();
    let program = format!("program: {} bytes, all but the sections below", head.len());
    account.identical.push(program);
    if let Some(update) = it.update_information() {
        let update = update.escape_ascii();
        account.identical.push(format!(".upd_info: {update}"));
    }
    let dropped = [Section::Signature, Section::Key].into_iter();
    let dropped = dropped.filter(|section| it.content(*section).is_some());
    account
        .dropped
        .extend(dropped.map(|section| section.name().to_owned()));
    let digest = digest.map(|_| Section::Digest.name().to_owned());
    account.recomputed.extend(digest);
    Ok(account)
}

fn complete_snap(new: &File, image_bytes: u64) -> Result<Account, Error> {
    let end = image_bytes.max(SNAP_MIN_BYTES);
    new.set_len(end)
        .map_err(|source| Error::Write { start: end, source })?;
    let assertion = "the store's assertion, which names the digest of the old file";
    Ok(Account {
        dropped: vec![assertion.to_owned()],
        ..Account::default()
    })
}

fn complete_sif(
    it: &SifImage,
    old: &dyn ReadAt,
    new: &File,
    image_bytes: u64,
) -> Result<Account, Error> {
    let replacement = it.replacement(image_bytes)?;
    let start = it.image().start;
    copy(old, 0..start, new, 0)?;
    copy(old, replacement.moved.clone(), new, replacement.moved_to)?;
    write(new, &replacement.header, 0)?;
    write(new, &replacement.table, replacement.table_start)?;
    for place in &replacement.cleared {
        pieces(place.end - place.start, |offset, piece| {
            write(new, piece, place.start + offset)
        })?;
    }
    let end = replacement.file_bytes;
    new.set_len(end)
        .map_err(|source| Error::Write { start: end, source })?;
    let Some(again) = SifImage::open(new)? else {
        return Err(Error::Differs { part: "header" });
    };
    let mut account = Account {
        recomputed: vec!["header".to_owned(), "descriptors".to_owned()],
        ..Account::default()
    };
    for object in it.descriptors() {
        let name = format!("{} (id {})", object.kind.name(), object.id);
        let kept = again.descriptors().iter().find(|it| it.id == object.id);
        match kept {
            None => account.dropped.push(name),
            Some(_) if object.start == start => {}
            Some(kept) => {
                if !is_same(old, object.start, new, kept.start, object.size_bytes)? {
                    return Err(Error::Differs { part: "object" });
                }
                let is_moved = kept.start != object.start;
                let text = format!("{name}: {} bytes", object.size_bytes);
                let place = if is_moved {
                    &mut account.moved
                } else {
                    &mut account.identical
                };
                place.push(text);
            }
        }
    }
    Ok(account)
}

pub(crate) fn write(new: &File, bytes: &[u8], start: u64) -> Result<(), Error> {
    let written = new.write_all_at(bytes, start);
    written.map_err(|source| Error::Write { start, source })
}

/// Copies bytes in pieces.
pub(crate) fn copy(old: &dyn ReadAt, from: Range<u64>, new: &File, to: u64) -> Result<(), Error> {
    pieces(from.end - from.start, |offset, piece| {
        read(old, piece, from.start + offset)?;
        write(new, piece, to + offset)
    })
}

pub(crate) fn is_same(
    old: &dyn ReadAt,
    start: u64,
    new: &File,
    new_start: u64,
    size_bytes: u64,
) -> Result<bool, Error> {
    let mut is_same = true;
    let mut other = vec![0; WINDOW_BYTES];
    pieces(size_bytes, |offset, piece| {
        read(old, piece, start + offset)?;
        let other = other.get_mut(..piece.len()).unwrap_or_default();
        read(new, other, new_start + offset)?;
        is_same &= piece == other;
        Ok(())
    })?;
    Ok(is_same)
}

/// Calls for each piece of so many bytes, with its offset and a place for it.
pub(crate) fn pieces(
    size_bytes: u64,
    mut each: impl FnMut(u64, &mut [u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut window = vec![0; WINDOW_BYTES];
    let mut offset = 0;
    while offset < size_bytes {
        let left = usize::try_from(size_bytes - offset);
        let len = left.map_or(WINDOW_BYTES, |left| left.min(WINDOW_BYTES));
        each(offset, window.get_mut(..len).unwrap_or_default())?;
        offset += len as u64;
    }
    Ok(())
}
