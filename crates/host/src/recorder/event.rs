//! From records of the ring buffer to events.

use std::path::Path;

use super::format::{Field, parse_field, parse_id};
use super::page::{Damage, Record};
use crate::Error;

/// Unit of the kernel's block events.
const SECTOR_BYTES: u64 = 512;

/// Something that a thread did to the recorded mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawEvent {
    /// Since the recorder was started, in microseconds.
    pub time_us: u64,
    /// The thread; the first thread of a process has the number of the process.
    pub pid: u32,
    /// What it did.
    pub kind: RawKind,
}

/// What was done. Inode numbers are those of the image; pages have 4 KiB, counted from 0, and may
/// lie past the end of the file, since programs ask for more than there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawKind {
    /// `read(2)` or a relative asked for these pages: certainly used. Reads are missing that reach
    /// past the page in which the file ends.
    Read {
        /// Inode number.
        inode: u64,
        /// First page.
        first_page: u64,
        /// Last page, included.
        last_page: u64,
    },
    /// A page fault on this page: certainly used.
    Fault {
        /// Inode number.
        inode: u64,
        /// The page.
        page: u64,
    },
    /// The window around a fault of which the kernel maps what is cached: perhaps used.
    Map {
        /// Inode number.
        inode: u64,
        /// First page.
        first_page: u64,
        /// Last page, included.
        last_page: u64,
    },
    /// These pages came into the page cache: for a read or a fault, or by read-ahead.
    Cache {
        /// Inode number.
        inode: u64,
        /// First page.
        first_page: u64,
        /// Last page, included.
        last_page: u64,
    },
    /// The loop device was asked for these bytes of the image, for data or metadata.
    DeviceRead {
        /// Position in the image.
        start_byte: u64,
        /// How many.
        len_bytes: u64,
    },
    /// The loop device has read these bytes, of one or more [`RawKind::DeviceRead`]; the thread is
    /// whichever was interrupted. Only of
    /// [`Recorder::start_in_detail`](super::Recorder::start_in_detail).
    DeviceDone {
        /// Position in the image.
        start_byte: u64,
        /// How many.
        len_bytes: u64,
    },
    /// A program touched an address that was not mapped; [`RawKind::Fault`] or [`RawKind::Map`] of
    /// the same thread follows. Only of
    /// [`Recorder::start_in_detail`](super::Recorder::start_in_detail), where the kernel has the
    /// event.
    UserFault {
        /// What was touched.
        address: u64,
        /// Where the instruction stands that touched it.
        instruction: u64,
    },
}

impl RawKind {
    /// Whether an event may be left out that is the same as the one before: pages are used or not,
    /// but each read of a device counts.
    pub(super) fn is_idempotent(self) -> bool {
        !matches!(self, Self::DeviceRead { .. } | Self::DeviceDone { .. })
    }

    /// Whether it may be what the kernel does about a fault of a program.
    pub(super) fn answers_fault(self) -> bool {
        matches!(self, Self::Fault { .. } | Self::Map { .. })
    }
}

/// An event with the time that the kernel gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamped {
    pub(super) time_ns: u64,
    pub(super) pid: u32,
    pub(super) kind: RawKind,
}

impl Stamped {
    /// * `pages`: how many pages of 4 KiB a page of the kernel has.
    pub(super) fn since(self, start_ns: u64, pages: u64) -> RawEvent {
        RawEvent {
            time_us: self.time_ns.saturating_sub(start_ns) / 1_000,
            pid: self.pid,
            kind: self.kind.in_pages_of_4_kib(pages),
        }
    }
}

impl RawKind {
    fn in_pages_of_4_kib(self, pages: u64) -> Self {
        let first = |page: u64| page.saturating_mul(pages);
        let last = |page: u64| first(page).saturating_add(pages - 1);
        match self {
            Self::Read {
                inode,
                first_page,
                last_page,
            } => Self::Read {
                inode,
                first_page: first(first_page),
                last_page: last(last_page),
            },
            Self::Map {
                inode,
                first_page,
                last_page,
            } => Self::Map {
                inode,
                first_page: first(first_page),
                last_page: last(last_page),
            },
            Self::Cache {
                inode,
                first_page,
                last_page,
            } => Self::Cache {
                inode,
                first_page: first(first_page),
                last_page: last(last_page),
            },
            Self::Fault { inode, page } => Self::Fault {
                inode,
                page: first(page),
            },
            Self::DeviceRead { .. } | Self::DeviceDone { .. } | Self::UserFault { .. } => self,
        }
    }
}

/// Knows the events that were switched on.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    formats: Vec<Format>,
}

#[derive(Debug)]
struct Format {
    id: u64,
    common_type: Field,
    pid: Field,
    fields: Fields,
}

#[derive(Debug)]
enum Fields {
    Read(Range),
    Map(Range),
    Fault {
        inode: Field,
        page: Field,
    },
    Cache {
        inode: Field,
        page: Field,
        /// Of a folio: it has 2 to this power pages.
        order: Field,
    },
    Block(Sectors),
    Done(Sectors),
    UserFault {
        address: Field,
        instruction: Field,
    },
}

#[derive(Debug)]
struct Sectors {
    sector: Field,
    count: Field,
    flags: Field,
}

impl Sectors {
    fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        Ok(Self {
            sector: parse_field(text, "sector", path)?,
            count: parse_field(text, "nr_sector", path)?,
            flags: parse_field(text, "rwbs", path)?,
        })
    }

    /// Position and length in bytes; nothing if it does not read or has no length.
    fn read(&self, data: &[u8]) -> Result<Option<(u64, u64)>, Damage> {
        let len_bytes = self.count.number(data)?.saturating_mul(SECTOR_BYTES);
        // Letters as in blktrace: R is a read, followed by hints (A read-ahead, M
        // metadata); a mounted image is not written to, but may be flushed.
        if len_bytes == 0 || !self.flags.bytes(data)?.contains(&b'R') {
            return Ok(None);
        }
        let start_byte = self.sector.number(data)?.saturating_mul(SECTOR_BYTES);
        Ok(Some((start_byte, len_bytes)))
    }
}

#[derive(Debug)]
struct Range {
    inode: Field,
    first: Field,
    last: Field,
}

impl Range {
    fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        Ok(Self {
            inode: parse_field(text, "i_ino", path)?,
            first: parse_field(text, "index", path)?,
            last: parse_field(text, "last_index", path)?,
        })
    }

    /// Inode, first and last page.
    fn read(&self, data: &[u8]) -> Result<[u64; 3], Damage> {
        let first = self.first.number(data)?;
        let last = self.last.number(data)?.max(first);
        Ok([self.inode.number(data)?, first, last])
    }
}

impl Decoder {
    /// Learns an event from its `format` file.
    pub(super) fn learn(&mut self, name: &str, text: &str, path: &Path) -> Result<(), Error> {
        let field = |field| parse_field(text, field, path);
        let fields = match name {
            "mm_filemap_get_pages" => Fields::Read(Range::parse(text, path)?),
            "mm_filemap_map_pages" => Fields::Map(Range::parse(text, path)?),
            "mm_filemap_fault" => Fields::Fault {
                inode: field("i_ino")?,
                page: field("index")?,
            },
            "mm_filemap_add_to_page_cache" => Fields::Cache {
                inode: field("i_ino")?,
                page: field("index")?,
                order: field("order")?,
            },
            "page_fault_user" => Fields::UserFault {
                address: field("address")?,
                instruction: field("ip")?,
            },
            "block_rq_complete" => Fields::Done(Sectors::parse(text, path)?),
            _ => Fields::Block(Sectors::parse(text, path)?),
        };
        self.formats.push(Format {
            id: parse_id(text, path)?,
            common_type: field("common_type")?,
            pid: field("common_pid")?,
            fields,
        });
        Ok(())
    }

    /// Reads a record; nothing if it is of another event, or neither reads nor has a length.
    pub(super) fn decode(&self, record: &Record<'_>) -> Result<Option<Stamped>, Damage> {
        let data = record.data;
        for format in &self.formats {
            if format.common_type.number(data)? != format.id {
                continue;
            }
            let pid = u32::try_from(format.pid.number(data)?).unwrap_or(0);
            let kind = format.fields.decode(data)?;
            return Ok(kind.map(|kind| Stamped {
                time_ns: record.time_ns,
                pid,
                kind,
            }));
        }
        Ok(None)
    }
}

impl Fields {
    fn decode(&self, data: &[u8]) -> Result<Option<RawKind>, Damage> {
        let kind = match self {
            Self::Read(range) => {
                let [inode, first_page, last_page] = range.read(data)?;
                RawKind::Read {
                    inode,
                    first_page,
                    last_page,
                }
            }
            Self::Map(range) => {
                let [inode, first_page, last_page] = range.read(data)?;
                RawKind::Map {
                    inode,
                    first_page,
                    last_page,
                }
            }
            Self::Fault { inode, page } => RawKind::Fault {
                inode: inode.number(data)?,
                page: page.number(data)?,
            },
            Self::Cache { inode, page, order } => {
                let first_page = page.number(data)?;
                let order = u32::try_from(order.number(data)?).unwrap_or(u32::MAX);
                let pages = 1_u64.checked_shl(order).unwrap_or(1);
                RawKind::Cache {
                    inode: inode.number(data)?,
                    first_page,
                    last_page: first_page.saturating_add(pages - 1),
                }
            }
            Self::UserFault {
                address,
                instruction,
            } => RawKind::UserFault {
                address: address.number(data)?,
                instruction: instruction.number(data)?,
            },
            Self::Block(sectors) => {
                let read = sectors.read(data)?;
                return Ok(read.map(|(start_byte, len_bytes)| RawKind::DeviceRead {
                    start_byte,
                    len_bytes,
                }));
            }
            Self::Done(sectors) => {
                let read = sectors.read(data)?;
                return Ok(read.map(|(start_byte, len_bytes)| RawKind::DeviceDone {
                    start_byte,
                    len_bytes,
                }));
            }
        };
        Ok(Some(kind))
    }
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests;
