//! An AppImage of type 2.

use coldpress_image::ReadAt;

use crate::digest::{self, DIGEST_BYTES};
use crate::error::{Error, Rule};
use crate::field::read_up_to;
use crate::image::{check_end, image};
use crate::program::{self, Place, Section, Sections};

/// What tells AppImages from other programs, where ELF files have padding.
const MAGIC_AT: usize = 8;
/// An ISO file has this in its first volume descriptor.
const ISO_MAGIC_AT: u64 = 0x8001;
const ISO_MAGIC: [u8; 5] = *b"CD001";
/// Images are padded to this, so that loop devices can hold them.
const PADDING_BYTES: u64 = 4096;

/// A program and the image that it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppImage {
    program: Vec<u8>,
    sections: Sections,
    /// Without padding.
    image: Place,
    file_bytes: u64,
}

impl AppImage {
    /// Reads the program of a file; `None` if it is no AppImage.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it is one of another type, its headers lie, no image of SquashFS 4.0
    /// begins where its program ends, or the file does not end with that.
    ///
    /// # Cost
    ///
    /// Holds the program, at most 64 MiB, and reads what comes after the image.
    pub fn open(source: &dyn ReadAt) -> Result<Option<Self>, Error> {
        let size_bytes = source.size_bytes();
        let file_bytes = size_bytes.map_err(|source| Error::Read { start: 0, source })?;
        let mut start = [0; 64];
        let len = read_up_to(source, &mut start, 0)?;
        let mark = &start[MAGIC_AT..MAGIC_AT + 3];
        if len < start.len() || !start.starts_with(b"\x7fELF") {
            return Ok(None);
        }
        if mark == b"AI\x01" || (mark != b"AI\x02" && is_iso(source)?) {
            return Err(Error::refused("mark", MAGIC_AT as u64, Rule::Type1));
        }
        // The first runtimes of type 2 had no mark; other programs with an image after them start
        // as one too.
        if mark != b"AI\x02" {
            return Ok(None);
        }
        let (program, sections) = program::parse(source, &start, file_bytes)?;
        if let Some(place) = sections.place(Section::Digest) {
            check_room(&place)?;
        }
        let image = image(source, &(program.len() as u64..file_bytes))?;
        check_end(source, image.end, file_bytes)?;
        Ok(Some(Self {
            program,
            sections,
            image,
            file_bytes,
        }))
    }

    /// Where its image is, without padding.
    pub fn image(&self) -> Place {
        self.image.clone()
    }

    /// Whether the image is followed by zeros up to a multiple of 4096 bytes.
    pub fn is_padded(&self) -> bool {
        let bytes = self.file_bytes - self.image.start;
        bytes.is_multiple_of(PADDING_BYTES)
    }

    /// Where its sections are.
    pub fn sections(&self) -> &Sections {
        &self.sections
    }

    /// What a section holds, if it is there and not only zeros.
    pub fn content(&self, section: Section) -> Option<&[u8]> {
        let place = self.sections.place(section)?;
        let content = self.program.get(usize::try_from(place.start).ok()?..)?;
        let content = content.get(..usize::try_from(place.end - place.start).ok()?)?;
        content.iter().any(|byte| *byte != 0).then_some(content)
    }

    /// Whether there is a signature, which a new image makes invalid.
    pub fn is_signed(&self) -> bool {
        self.content(Section::Signature).is_some()
    }

    /// Where updates are found, without the zeros after it.
    pub fn update_information(&self) -> Option<&[u8]> {
        let content = self.content(Section::Update)?;
        content.split(|byte| *byte == 0).next()
    }

    /// What comes before any other image: the program, with zeros for signature, key and digest.
    pub fn head(&self) -> Vec<u8> {
        let mut head = self.program.clone();
        for section in [Section::Signature, Section::Key, Section::Digest] {
            let Some(place) = self.sections.place(section) else {
                continue;
            };
            let place = usize::try_from(place.start)
                .ok()
                .zip(usize::try_from(place.end).ok());
            let content = place.and_then(|(start, end)| head.get_mut(start..end));
            content.unwrap_or_default().fill(0);
        }
        head
    }

    /// The digest of a file that begins with [`head`](Self::head), and the byte at which it is to
    /// be; `None` if this AppImage has no digest.
    ///
    /// # Errors
    ///
    /// [`Error::Read`].
    ///
    /// # Cost
    ///
    /// Reads all of the file.
    pub fn digest(&self, new: &dyn ReadAt) -> Result<Option<(u64, [u8; DIGEST_BYTES])>, Error> {
        let place = self.sections.place(Section::Digest);
        let Some(place) = place.filter(|_| self.content(Section::Digest).is_some()) else {
            return Ok(None);
        };
        Ok(Some((place.start, digest::digest(new, &self.sections)?)))
    }
}

fn is_iso(source: &dyn ReadAt) -> Result<bool, Error> {
    let mut found = [0; ISO_MAGIC.len()];
    read_up_to(source, &mut found, ISO_MAGIC_AT)?;
    Ok(found == ISO_MAGIC)
}

fn check_room(place: &Place) -> Result<(), Error> {
    let (found, expected) = (place.end - place.start, DIGEST_BYTES as u64);
    if found < expected {
        let rule = Rule::Short { found, expected };
        return Err(Error::refused(Section::Digest.part(), place.start, rule));
    }
    Ok(())
}
