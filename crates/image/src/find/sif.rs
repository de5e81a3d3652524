//! Images in SIF containers, the images of Singularity and Apptainer.

use coldpress_sif::{DESCRIPTOR_BYTES, Descriptor, FileSystem, HEADER_BYTES, Header, Role, check};

use crate::error::Error;
use crate::source::ReadAt;
use crate::store::read_exact;

/// What a SIF container says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sif {
    /// Its header.
    pub header: Header,
    /// What it holds, in the order of its table.
    pub descriptors: Vec<Descriptor>,
    /// What of this cannot be true, if anything.
    pub damage: Option<coldpress_sif::Error>,
}

/// Reads the header and the table; `None` if the file does not begin as a container of version 01.
pub(super) fn read(source: &dyn ReadAt, size_bytes: u64) -> Result<Option<Sif>, Error> {
    let mut start = [0; HEADER_BYTES];
    if size_bytes < start.len() as u64 {
        return Ok(None);
    }
    read_exact(source, &mut start, 0)?;
    let Ok(Some(header)) = Header::parse(&start) else {
        return Ok(None);
    };
    let place = header.table(size_bytes);
    let mut table = vec![0; usize::try_from(place.end - place.start).unwrap_or_default()];
    read_exact(source, &mut table, place.start)?;
    let (descriptors, damage) = match check(&header, &table, size_bytes) {
        Ok(descriptors) => (descriptors, None),
        Err(error) => {
            let records = table.chunks_exact(DESCRIPTOR_BYTES);
            (records.filter_map(Descriptor::parse).collect(), Some(error))
        }
    };
    Ok(Some(Sif {
        header,
        descriptors,
        damage,
    }))
}

impl Sif {
    /// Where the partitions begin that hold SquashFS, the one that is run before the others.
    pub(super) fn partitions(&self) -> Vec<u64> {
        let squashfs = self.descriptors.iter().filter_map(|descriptor| {
            let partition = descriptor.partition()?;
            let is_squashfs = partition.file_system == FileSystem::SquashFs;
            let is_primary = partition.role == Role::PrimarySystem;
            is_squashfs.then_some((!is_primary, descriptor.start))
        });
        let mut found: Vec<_> = squashfs.collect();
        found.sort_by_key(|(is_other, _)| *is_other);
        found.into_iter().map(|(_, start)| start).collect()
    }
}
