//! jimage, the file `lib/modules` of a JDK: an index, then classes and resources of all modules.
//!
//! ```text
//! byte 0    header: magic, version, flags, resources, slots, bytes of locations, bytes of strings
//! byte 28   redirects and offsets of the slots, 4 bytes each; locations; strings
//! then      the data; locations state positions from here on
//! ```
//!
//! Numbers are in the order of the machine; only little-endian ones are read. `jlink` writes such
//! files, in the order of `--order-resources`. Source: `OpenJDK`, `imageFile.hpp`.

use std::ops::Range;

use coldpress_image::ReadAt;

use crate::bytes::{size_of, up_to, whole};
use crate::error::{Corrupt, Error, Rule};
use crate::field::number32;

const MAGIC: u32 = 0xcafe_dada;
const HEADER_BYTES: usize = 28;
/// The largest index that is read; that of a whole JDK has 2 MB.
const INDEX_BYTES_MAX: u64 = 256 << 20;

/// What locations state, by the upper five bits of a byte.
const MODULE: usize = 1;
const PARENT: usize = 2;
const BASE: usize = 3;
const EXTENSION: usize = 4;
const OFFSET: usize = 5;
const COMPRESSED: usize = 6;
const CONTENT: usize = 7;

/// The modules of a JDK.
#[derive(Clone, Debug)]
pub struct Jimage {
    /// Classes and resources: `/java.base/java/lang/Object.class`, and their bytes of the file.
    pub resources: Vec<(Vec<u8>, Range<u64>)>,
}

impl Jimage {
    /// Reads the index; `None` if it is no such file.
    ///
    /// # Errors
    ///
    /// If the index is damaged.
    ///
    /// # Cost
    ///
    /// Memory in proportion to the index, of at most 256 MiB.
    pub fn read(source: &dyn ReadAt) -> Result<Option<Self>, Error> {
        let head = up_to(source, 0, HEADER_BYTES)?;
        if head.len() < HEADER_BYTES || number32(&head, 0) != MAGIC {
            return Ok(None);
        }
        let size_bytes = size_of(source)?;
        let [slots, locations, strings] = [16, 20, 24].map(|at| u64::from(number32(&head, at)));
        let found = HEADER_BYTES as u64 + slots * 8 + locations + strings;
        if found > INDEX_BYTES_MAX {
            let (field, limit) = ("index bytes", INDEX_BYTES_MAX);
            return Err(Corrupt::new(
                "header",
                0,
                Rule::TooMuch {
                    field,
                    found,
                    limit,
                },
            )
            .into());
        }
        let len = usize::try_from(found).unwrap_or(usize::MAX);
        let index = whole(source, 0, len, "index")?;
        let place = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let offsets = HEADER_BYTES + place(slots * 4);
        let locations_start = offsets + place(slots * 4);
        let strings = index
            .get(locations_start + place(locations)..)
            .unwrap_or_default();
        let offsets = index.get(offsets..locations_start).unwrap_or_default();
        let mut resources = Vec::new();
        for (slot, offset) in offsets.chunks_exact(4).enumerate() {
            let at = locations_start + place(number32(offset, 0).into());
            let location = index.get(at..).unwrap_or_default();
            let stated = attributes(location);
            let stated = |kind: usize| stated.get(kind).copied().unwrap_or(0);
            let text = |kind: usize| text(strings, stated(kind));
            let len = match stated(COMPRESSED) {
                0 => stated(CONTENT),
                packed => packed,
            };
            let start = found.saturating_add(stated(OFFSET));
            let range = start..start.saturating_add(len);
            if range.end > size_bytes {
                let room = size_bytes.saturating_sub(range.start);
                let part = format!("resource {slot}");
                let rule = Rule::CutOff { needed: len, room };
                return Err(Corrupt::new(part, range.start, rule).into());
            }
            let name = name(text(MODULE), text(PARENT), text(BASE), text(EXTENSION));
            resources.push((name, range));
        }
        Ok(Some(Self { resources }))
    }
}

/// What a location states, each kind once; 0 ends it.
fn attributes(mut location: &[u8]) -> [u64; 8] {
    let mut stated = [0; 8];
    while let Some((&head, rest)) = location.split_first() {
        let (kind, len) = (usize::from(head >> 3), usize::from(head & 7) + 1);
        let (Some(place), Some(value)) = (stated.get_mut(kind), rest.get(..len)) else {
            break;
        };
        if kind == 0 {
            break;
        }
        *place = value
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        location = rest.get(len..).unwrap_or_default();
    }
    stated
}

fn text(strings: &[u8], offset: u64) -> &[u8] {
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let rest = strings.get(start..).unwrap_or_default();
    rest.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn name(module: &[u8], parent: &[u8], base: &[u8], extension: &[u8]) -> Vec<u8> {
    let mut name = Vec::new();
    for (before, part, after) in [
        (&b"/"[..], module, &b"/"[..]),
        (b"", parent, b"/"),
        (b"", base, b""),
        (b".", extension, b""),
    ] {
        if !part.is_empty() {
            name.extend([before, part, after].concat());
        }
    }
    name
}
