//! What comes before the file system of a new container.

use crate::architecture::Architecture;
use crate::descriptor::{DESCRIPTOR_BYTES, Descriptor, Kind, Partition};
use crate::field::put;
use crate::header::Header;

/// The line that starts the file by the program of this name, which Apptainer and Singularity
/// install.
const LAUNCH: [u8; 32] = *b"#!/usr/bin/env run-singularity\n\0";
/// As all tools have it.
const TABLE_START: u64 = 4096;
/// Room for signatures and what else is added later.
const DESCRIPTORS: u64 = 48;
/// All but the file system.
const OBJECTS_MAX: usize = 47;
const DATA_START: u64 = TABLE_START + DESCRIPTORS * DESCRIPTOR_BYTES as u64;
/// Loop devices and page caches read file systems in such pieces.
const PARTITION_ALIGNMENT_BYTES: u64 = 4096;
/// The group that objects belong to; signatures are of a group.
const GROUP: u32 = 1;

/// An object that is small and comes before the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// What it is.
    pub kind: Kind,
    /// Its name, up to 128 bytes; may be empty.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// What tells one container from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A UUID.
    pub id: [u8; 16],
    /// When it was made, seconds since 1970.
    pub time_s: i64,
    /// What its programs are compiled for.
    pub architecture: Architecture,
}

impl Identity {
    /// The UUID that a digest of the content is: 16 of its bytes, marked as of version 8, which
    /// says nothing of how it was made (RFC 9562).
    pub fn id_of(digest: &[u8; 32]) -> [u8; 16] {
        let mut id = [0; 16];
        id.copy_from_slice(&digest[..16]);
        id[6] = id[6] & 0x0f | 0x80;
        id[8] = id[8] & 0x3f | 0x80;
        id
    }
}

/// Byte at which the file system begins, after these objects.
pub fn partition_start(objects: &[Object]) -> u64 {
    let sizes = objects.iter().take(OBJECTS_MAX);
    let sizes = sizes.map(|object| object.bytes.len() as u64);
    (DATA_START + sizes.sum::<u64>()).next_multiple_of(PARTITION_ALIGNMENT_BYTES)
}

/// The bytes before the file system, [`partition_start`] of them.
///
/// * `objects`: in their order; at most 47 are written.
/// * `partition_bytes`: the size of the file system, which comes last.
pub fn head(objects: &[Object], partition_bytes: u64, identity: &Identity) -> Vec<u8> {
    let Identity {
        id,
        time_s,
        architecture,
    } = *identity;
    let descriptor = |id, kind, name: &str, start, size_bytes| Descriptor {
        kind,
        id,
        group: GROUP,
        link: 0,
        start,
        size_bytes,
        padded_bytes: size_bytes,
        created_s: time_s,
        modified_s: time_s,
        name: name.as_bytes().to_vec(),
    };
    let objects = objects.get(..OBJECTS_MAX).unwrap_or(objects);
    let start = partition_start(objects);
    let mut bytes = vec![0; usize::try_from(DATA_START).unwrap_or_default()];
    let mut table = Vec::new();
    for (object, id) in objects.iter().zip(1..) {
        let (place, size_bytes) = (bytes.len() as u64, object.bytes.len() as u64);
        table.push(descriptor(id, object.kind, &object.name, place, size_bytes));
        bytes.extend_from_slice(&object.bytes);
    }
    let system = Kind::Partition(Partition::primary(architecture));
    let last = u32::try_from(table.len()).unwrap_or_default() + 1;
    table.push(Descriptor {
        padded_bytes: start - bytes.len() as u64 + partition_bytes,
        ..descriptor(last, system, "", start, partition_bytes)
    });
    bytes.resize(usize::try_from(start).unwrap_or_default(), 0);
    let header = Header {
        launch: LAUNCH,
        architecture,
        id,
        created_s: time_s,
        modified_s: time_s,
        free_descriptors: DESCRIPTORS - table.len() as u64,
        descriptors: DESCRIPTORS,
        table_start: TABLE_START,
        table_bytes: DATA_START - TABLE_START,
        data_start: DATA_START,
        data_bytes: start + partition_bytes - DATA_START,
    };
    put(&mut bytes, 0, &header.to_bytes());
    let table: Vec<u8> = table.iter().flat_map(Descriptor::to_bytes).collect();
    put(
        &mut bytes,
        usize::try_from(TABLE_START).unwrap_or_default(),
        &table,
    );
    bytes
}
