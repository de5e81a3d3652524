//! What Rock Ridge adds to a record: names, and directories that are elsewhere.

use crate::error::{Error, Rule, check_inside};
use crate::field::{Fields, field};
use crate::{Fetch, SECTOR_BYTES};

/// Areas in which the entries of one record go on.
const AREAS_MAX: usize = 16;
/// Bytes of an entry without what it holds: signature, length and version.
const HEAD_BYTES: usize = 4;

/// What the entries of one record say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    pub(crate) name: Option<Vec<u8>>,
    /// Byte of the file at which the directory is that this record stands for.
    pub(crate) child: Option<u64>,
    /// Whether another record stands for this directory.
    pub(crate) is_relocated: bool,
}

/// The bytes to pass over in each system use area, if the root's own record says that there are
/// entries in them.
pub(crate) fn skipped_bytes(system_use: &[u8]) -> Option<usize> {
    let is_there = system_use.starts_with(b"SP\x07\x01\xbe\xef");
    let skipped = system_use.get(6).filter(|_| is_there);
    skipped.map(|bytes| usize::from(*bytes))
}

/// Reads the entries of a record.
///
/// * `read`: fetches bytes of the file.
/// * `start`: of the record.
pub(crate) fn extras<E: From<Error>>(
    read: &mut Fetch<'_, E>,
    system_use: &[u8],
    start: u64,
    file_bytes: u64,
) -> Result<Extras, E> {
    let mut extras = Extras::default();
    let mut area = system_use.to_vec();
    for _ in 0..AREAS_MAX {
        let Some((place, len)) = extras.add(&area, start)? else {
            return Ok(extras);
        };
        let size_bytes = len as u64;
        check_inside(PART, start, place, size_bytes, file_bytes)?;
        area = vec![0; len];
        read(place, &mut area)?;
    }
    Err(Error::new(PART, start, Rule::Areas { limit: AREAS_MAX }).into())
}

const PART: &str = "Rock Ridge entry";

impl Extras {
    /// Adds what an area says; returns where the next one is, and its bytes.
    fn add(&mut self, area: &[u8], start: u64) -> Result<Option<(u64, usize)>, Error> {
        let mut next = None;
        let mut rest = area;
        while let Some(len) = rest.get(2).map(|len| usize::from(*len)) {
            let Some((entry, after)) = rest.split_at_checked(len.max(HEAD_BYTES)) else {
                break;
            };
            rest = after;
            let fields = Fields {
                part: PART,
                start,
                bytes: entry,
            };
            match field(entry, 0, 2) {
                // A flag says that this is the name of the directory itself, or of that above.
                b"NM" if entry.get(4).is_some_and(|flags| flags & 6 == 0) => {
                    let part = entry.get(5..).unwrap_or_default();
                    self.name.get_or_insert_default().extend_from_slice(part);
                }
                b"CL" => {
                    let block = fields.both("the block of a directory", 4, 4)?;
                    self.child = Some(block * SECTOR_BYTES);
                }
                b"RE" => self.is_relocated = true,
                b"CE" => {
                    let block = fields.both("the block of more entries", 4, 4)?;
                    let offset = fields.both("the offset of more entries", 12, 4)?;
                    let len = fields.both("the bytes of more entries", 20, 4)?;
                    // Linux reads no more either.
                    let len = usize::try_from(len.min(SECTOR_BYTES)).unwrap_or_default();
                    next = Some((block * SECTOR_BYTES + offset, len));
                }
                b"ST" => break,
                _ => {}
            }
        }
        Ok(next)
    }
}
