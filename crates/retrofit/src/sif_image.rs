//! A SIF container of which the system that is started is replaced.

use coldpress_image::ReadAt;
use coldpress_sif::{
    Descriptor, HEADER_BYTES, Header, Replacement, check, replace, signatures, system,
};

use crate::error::{Error, Rule};
use crate::field::{read, read_up_to};
use crate::image::{check_end, image};
use crate::program::Place;

/// A container with a system of SquashFS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SifImage {
    start: [u8; HEADER_BYTES],
    table: Vec<u8>,
    descriptors: Vec<Descriptor>,
    system: Descriptor,
    /// Without padding.
    image: Place,
    file_bytes: u64,
}

impl SifImage {
    /// Reads the table of a file; `None` if it is no container.
    ///
    /// # Errors
    ///
    /// If the table says what cannot be true, no system of SquashFS is started, or something comes
    /// after the last object.
    pub fn open(source: &dyn ReadAt) -> Result<Option<Self>, Error> {
        let size_bytes = source.size_bytes();
        let file_bytes = size_bytes.map_err(|source| Error::Read { start: 0, source })?;
        let mut start = [0; HEADER_BYTES];
        if read_up_to(source, &mut start, 0)? < HEADER_BYTES {
            return Ok(None);
        }
        let Some(header) = Header::parse(&start)? else {
            return Ok(None);
        };
        let place = header.table(file_bytes);
        let mut table = vec![0; usize::try_from(place.end - place.start).unwrap_or_default()];
        read(source, &mut table, place.start)?;
        let descriptors = check(&header, &table, file_bytes)?;
        let Some(system) = system(&descriptors).cloned() else {
            let rule = Rule::NoSystem;
            return Err(Error::refused("SIF table", header.table_start, rule));
        };
        let ends = descriptors.iter().filter_map(Descriptor::end);
        check_end(source, ends.max().unwrap_or(0), file_bytes)?;
        let image = image(source, &(system.start..system.start + system.size_bytes))?;
        Ok(Some(Self {
            start,
            table,
            descriptors,
            system,
            image,
            file_bytes,
        }))
    }

    /// Where its image is, without padding.
    pub fn image(&self) -> Place {
        self.image.clone()
    }

    /// What it holds, in the order of its table.
    pub fn descriptors(&self) -> &[Descriptor] {
        &self.descriptors
    }

    /// Signatures that another image makes invalid.
    pub fn signatures(&self) -> impl Iterator<Item = &Descriptor> {
        signatures(&self.descriptors, &self.system)
    }

    /// How it becomes one with an image of so many bytes.
    ///
    /// # Errors
    ///
    /// None that [`open`](Self::open) did not find.
    pub fn replacement(&self, image_bytes: u64) -> Result<Replacement, Error> {
        let replaced = replace(&self.start, &self.table, self.file_bytes, image_bytes)?;
        replaced.ok_or_else(|| Error::refused("SIF table", 0, Rule::NoSystem))
    }
}
