//! Descriptors: what each object is, and where.

use crate::architecture::Architecture;
use crate::field::{bytes, number, number32, put, signed};

/// Bytes of a descriptor.
pub const DESCRIPTOR_BYTES: usize = 585;

/// Where what depends on the kind of object is.
const EXTRA_AT: usize = 201;
const NAME_AT: usize = 73;
const NAME_BYTES: usize = 128;
/// Groups are marked by these bits, also where a link leads to a group.
const GROUP_MASK: u32 = 0xf000_0000;

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The recipe that the container was built by.
    Definition,
    /// Variables.
    Environment,
    /// Labels, JSON.
    Labels,
    /// A file system.
    Partition(Partition),
    /// A signature of other objects.
    Signature,
    /// Any JSON; its name says what.
    Json,
    /// Any bytes.
    Generic,
    /// An encrypted key.
    CryptoMessage,
    /// A list of what the container was made of.
    Sbom,
    /// The index of an OCI image.
    OciIndex,
    /// A part of an OCI image.
    OciBlob,
    /// What no specification knows.
    Unknown(u32),
}

/// A file system in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Which.
    pub file_system: FileSystem,
    /// What for.
    pub role: Role,
    /// What its programs are compiled for.
    pub architecture: Architecture,
}

/// File systems of partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystem {
    /// SquashFS.
    SquashFs,
    /// ext3, writable.
    Ext3,
    /// SquashFS that can be read only with a key.
    Encrypted,
    /// Others.
    Other(u32),
}

/// What partitions are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The system that is started.
    PrimarySystem,
    /// Another system.
    System,
    /// Data only.
    Data,
    /// What is put over the system.
    Overlay,
    /// What no specification knows.
    Other(u32),
}

/// What a container says of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// What it is.
    pub kind: Kind,
    /// Its number; the first is 1.
    pub id: u32,
    /// The group that it belongs to; 0 for none.
    pub group: u32,
    /// The id of the object or group that it belongs to, as in the file; 0 for none.
    pub link: u32,
    /// Byte of the file at which it begins.
    pub start: u64,
    /// Its bytes.
    pub size_bytes: u64,
    /// And what lies before it to align it.
    pub padded_bytes: u64,
    /// When it was added, seconds since 1970.
    pub created_s: i64,
    /// When it was changed.
    pub modified_s: i64,
    /// Its name, up to 128 bytes.
    pub name: Vec<u8>,
}

impl Kind {
    fn parse(number: u32, extra: &[u8]) -> Self {
        match number {
            0x4001 => Self::Definition,
            0x4002 => Self::Environment,
            0x4003 => Self::Labels,
            0x4004 => Self::Partition(Partition::parse(extra)),
            0x4005 => Self::Signature,
            0x4006 => Self::Json,
            0x4007 => Self::Generic,
            0x4008 => Self::CryptoMessage,
            0x4009 => Self::Sbom,
            0x400a => Self::OciIndex,
            0x400b => Self::OciBlob,
            number => Self::Unknown(number),
        }
    }

    /// What it is called in texts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Environment => "environment",
            Self::Labels => "labels",
            Self::Partition(partition) => partition.name(),
            Self::Signature => "signature",
            Self::Json => "JSON",
            Self::Generic => "generic",
            Self::CryptoMessage => "encrypted key",
            Self::Sbom => "bill of materials",
            Self::OciIndex => "OCI index",
            Self::OciBlob => "OCI blob",
            Self::Unknown(_) => "unknown",
        }
    }

    fn number(self) -> u32 {
        match self {
            Self::Definition => 0x4001,
            Self::Environment => 0x4002,
            Self::Labels => 0x4003,
            Self::Partition(_) => 0x4004,
            Self::Signature => 0x4005,
            Self::Json => 0x4006,
            Self::Generic => 0x4007,
            Self::CryptoMessage => 0x4008,
            Self::Sbom => 0x4009,
            Self::OciIndex => 0x400a,
            Self::OciBlob => 0x400b,
            Self::Unknown(number) => number,
        }
    }
}

impl Partition {
    /// A system of SquashFS that is started.
    pub fn primary(architecture: Architecture) -> Self {
        Self {
            file_system: FileSystem::SquashFs,
            role: Role::PrimarySystem,
            architecture,
        }
    }

    fn name(self) -> &'static str {
        match self.role {
            Role::PrimarySystem => "system",
            Role::System => "other system",
            Role::Overlay => "overlay",
            Role::Data => "data",
            Role::Other(_) => "partition",
        }
    }

    fn parse(extra: &[u8]) -> Self {
        let file_system = match number32(extra, 0) {
            1 => FileSystem::SquashFs,
            2 => FileSystem::Ext3,
            5 | 6 => FileSystem::Encrypted,
            number => FileSystem::Other(number),
        };
        let role = match number32(extra, 4) {
            1 => Role::System,
            2 => Role::PrimarySystem,
            3 => Role::Data,
            4 => Role::Overlay,
            number => Role::Other(number),
        };
        Self {
            file_system,
            role,
            architecture: Architecture::parse(bytes(extra, 8)),
        }
    }

    fn write(self, extra: &mut [u8]) {
        let file_system = match self.file_system {
            FileSystem::SquashFs => 1,
            FileSystem::Ext3 => 2,
            FileSystem::Encrypted => 5,
            FileSystem::Other(number) => number,
        };
        let role = match self.role {
            Role::System => 1,
            Role::PrimarySystem => 2,
            Role::Data => 3,
            Role::Overlay => 4,
            Role::Other(number) => number,
        };
        put(extra, 0, &u32::to_le_bytes(file_system));
        put(extra, 4, &u32::to_le_bytes(role));
        put(extra, 8, &self.architecture.to_bytes());
    }
}

impl Descriptor {
    /// Reads one; `None` if it is free.
    pub fn parse(record: &[u8]) -> Option<Self> {
        if record.len() < DESCRIPTOR_BYTES || record.get(4) == Some(&0) {
            return None;
        }
        let name = record.get(NAME_AT..NAME_AT + NAME_BYTES)?;
        let extra = record.get(EXTRA_AT..)?;
        Some(Self {
            kind: Kind::parse(number32(record, 0), extra),
            id: number32(record, 5),
            group: number32(record, 9) & !GROUP_MASK,
            link: number32(record, 13),
            start: number(record, 17, 8),
            size_bytes: number(record, 25, 8),
            padded_bytes: number(record, 33, 8),
            created_s: signed(record, 41),
            modified_s: signed(record, 49),
            name: name.split(|byte| *byte == 0).next()?.to_vec(),
        })
    }

    /// Whether it belongs to the objects of a group.
    pub(crate) fn links_to_group(&self, group: u32) -> bool {
        self.link & GROUP_MASK == GROUP_MASK && self.link & !GROUP_MASK == group
    }

    pub(crate) fn to_bytes(&self) -> [u8; DESCRIPTOR_BYTES] {
        let mut record = [0; DESCRIPTOR_BYTES];
        put(&mut record, 0, &self.kind.number().to_le_bytes());
        put(&mut record, 4, &[1]);
        put(&mut record, 5, &self.id.to_le_bytes());
        put(&mut record, 9, &(self.group | GROUP_MASK).to_le_bytes());
        put(&mut record, 13, &self.link.to_le_bytes());
        let numbers = [
            self.start,
            self.size_bytes,
            self.padded_bytes,
            self.created_s.cast_unsigned(),
            self.modified_s.cast_unsigned(),
        ];
        for (number, at) in numbers.iter().zip((17..).step_by(8)) {
            put(&mut record, at, &number.to_le_bytes());
        }
        let name = self.name.get(..NAME_BYTES).unwrap_or(&self.name);
        put(&mut record, NAME_AT, name);
        if let Kind::Partition(partition) = self.kind
            && let Some(extra) = record.get_mut(EXTRA_AT..)
        {
            partition.write(extra);
        }
        record
    }

    /// The file system that it describes, if it does.
    pub fn partition(&self) -> Option<Partition> {
        match self.kind {
            Kind::Partition(partition) => Some(partition),
            _ => None,
        }
    }

    /// The byte after the object; `None` if no file can be so long.
    pub fn end(&self) -> Option<u64> {
        self.start.checked_add(self.size_bytes)
    }
}

#[cfg(test)]
mod tests;
