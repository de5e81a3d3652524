//! Volume descriptors.

use std::ops::Range;

use crate::SECTOR_BYTES;
use crate::error::{Error, Rule};
use crate::field::{Fields, field, little};

/// Byte of the file at which descriptors begin.
pub(crate) const DESCRIPTORS_AT: u64 = 16 * SECTOR_BYTES;
/// What every descriptor has at byte 1.
const MAGIC: &[u8] = b"CD001";
/// What the descriptor of El Torito has at byte 7.
const BOOT_SYSTEM: &[u8] = b"EL TORITO SPECIFICATION";
/// The root's directory record.
const ROOT: Range<usize> = 156..190;
/// What Joliet has at byte 88, by its level.
const ESCAPES: [&[u8]; 3] = [b"%/@", b"%/C", b"%/E"];
/// Bytes of a descriptor of a volume that are for programs; isomd5sum puts digests there.
pub const APPLICATION_USE: Range<u64> = 883..1395;

/// How a tree names its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// `NAME.EXT;1`.
    Plain,
    /// As on the disk from which it was made.
    RockRidge,
    /// In UTF-16.
    Joliet,
}

/// A volume descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Byte of the file at which it begins.
    pub start: u64,
    /// How its tree names files.
    pub naming: Naming,
    /// Bytes of the file system, by the descriptor.
    pub size_bytes: u64,
    /// When it was changed, as `YYYYMMDDhhmmsscc`.
    pub modified: [u8; 16],
    /// The directory record of the root.
    pub(crate) root: Vec<u8>,
}

/// What a descriptor says.
pub(crate) enum Descriptor {
    Volume(Volume),
    /// Byte of the file at which El Torito's catalogue begins.
    Boot(u64),
    Other,
    End,
}

impl Descriptor {
    /// Reads a sector; `None` if it is no descriptor.
    pub(crate) fn parse(sector: &[u8], start: u64) -> Result<Option<Self>, Error> {
        if field(sector, 1, MAGIC.len()) != MAGIC {
            return Ok(None);
        }
        Ok(Some(match sector.first() {
            Some(1 | 2) => Self::Volume(Volume::parse(sector, start)?),
            Some(0) if field(sector, 7, BOOT_SYSTEM.len()) == BOOT_SYSTEM => {
                Self::Boot(little(sector, 71, 4) * SECTOR_BYTES)
            }
            Some(255) => Self::End,
            _ => Self::Other,
        }))
    }
}

impl Volume {
    /// Byte of the file at which the root's record begins.
    pub(crate) fn root_start(&self) -> u64 {
        self.start + ROOT.start as u64
    }

    fn parse(sector: &[u8], start: u64) -> Result<Self, Error> {
        let fields = Fields {
            part: "volume descriptor",
            start,
            bytes: sector,
        };
        let found = fields.both("the block size", 128, 2)?;
        if found != SECTOR_BYTES {
            return Err(Error::new(fields.part, start, Rule::BlockBytes { found }));
        }
        let is_joliet = sector.first() == Some(&2) && ESCAPES.contains(&field(sector, 88, 3));
        let mut modified = [b'0'; 16];
        modified.copy_from_slice(sector.get(830..846).unwrap_or(&[b'0'; 16]));
        Ok(Self {
            start,
            naming: if is_joliet {
                Naming::Joliet
            } else {
                Naming::Plain
            },
            size_bytes: fields.both("its size", 80, 4)? * SECTOR_BYTES,
            modified,
            root: sector.get(ROOT).unwrap_or_default().to_vec(),
        })
    }
}
