//! What Rock Ridge adds to a record: names, owners, modes, targets of symlinks, and directories that
//! are elsewhere.

use crate::error::{Error, Rule, check_inside};
use crate::field::{Fields, field, little};
use crate::{Fetch, SECTOR_BYTES};

/// Areas in which the entries of one record go on.
const AREAS_MAX: usize = 16;
/// Bytes of an entry without what it holds: signature, length and version.
const HEAD_BYTES: usize = 4;

/// What Rock Ridge says of a file beside its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Type and permissions, as `st_mode` has them.
    pub mode: u64,
    /// The user that owns it.
    pub uid: u64,
    /// The group that owns it.
    pub gid: u64,
    /// The target of a symlink; else empty.
    pub target: Vec<u8>,
}

/// What the entries of one record say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras {
    pub(crate) name: Option<Vec<u8>>,
    pub(crate) attributes: Option<Attributes>,
    /// Whether the last component of the target goes on in the next entry or record.
    goes_on: bool,
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
                b"PX" => {
                    let attributes = self.attributes.get_or_insert_default();
                    let [mode, _, uid, gid] = [4, 12, 20, 28].map(|at| little(entry, at, 4));
                    (attributes.mode, attributes.uid, attributes.gid) = (mode, uid, gid);
                }
                b"SL" => self.add_target(entry.get(5..).unwrap_or_default()),
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

    /// Adds components of a symlink's target: flags, length and text of each.
    fn add_target(&mut self, components: &[u8]) {
        let target = &mut self.attributes.get_or_insert_default().target;
        let mut rest = components;
        while let [flags, len, after @ ..] = rest {
            let Some((text, after)) = after.split_at_checked(usize::from(*len)) else {
                break;
            };
            rest = after;
            if !self.goes_on && !target.is_empty() && target.last() != Some(&b'/') {
                target.push(b'/');
            }
            match flags & 0x0e {
                2 => target.push(b'.'),
                4 => target.extend_from_slice(b".."),
                8 => target.push(b'/'),
                _ => target.extend_from_slice(text),
            }
            self.goes_on = flags & 1 != 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_targets_are_read() {
        let both = |value: u32| [value, value.swap_bytes()].map(u32::to_le_bytes).concat();
        let px = [
            b"PX\x24\x01".to_vec(),
            both(0o120_777),
            both(1),
            both(7),
            both(8),
        ]
        .concat();
        for (links, expected) in [
            (&[&b"SL\x0d\x01\0\x08\0\0\x04usr!"[..]][..], "/usr!"),
            (&[b"SL\x0a\x01\0\x04\0\0\x01a"], "../a"),
            (
                &[b"SL\x08\x01\x01\x01\x01a", b"SL\x0b\x01\0\0\x01b\0\x01c"],
                "ab/c",
            ),
            (&[b"SL\x0a\x01\0\x02\0\0\x09a"], "."),
        ] {
            let mut extras = Extras::default();
            let area = [&[px.as_slice()], links].concat().concat();
            assert_eq!(extras.add(&area, 0), Ok(None));
            let found = extras.attributes.unwrap();
            assert_eq!((found.mode, found.uid, found.gid), (0o120_777, 7, 8));
            assert_eq!(String::from_utf8(found.target).unwrap(), expected);
        }
    }
}
