//! The start that images are compared by, packed: what it asks for, in order.

use coldpress_cost::{AccessSequence, AccessStep};
use coldpress_trace::{Access, PAGE_COUNT_MAX};

use crate::error::Error;
use crate::packed::{Packer, Unpacker};

/// Where it stands in the index.
const PLACE: &str = "start.packed";
/// Parts of [`AccessSequence::compute_s`], each as a number of these.
const SHARES: f64 = 1e9;
/// The program's own time is counted in these parts of a second.
const PARTS_OF_SECOND: f64 = 1e6;
/// Names of a path; the kernel follows no longer ones (`PATH_MAX`).
const PATH_MAX_BYTES: usize = 4096;

/// A start as an index holds it, rounded to microseconds.
pub(crate) fn pack(sequence: &AccessSequence) -> String {
    let mut packer = Packer::default();
    packer.number(rounded(sequence.compute_s * PARTS_OF_SECOND));
    packer.count(sequence.paths.len());
    let mut before: &[u8] = b"";
    for path in &sequence.paths {
        let shared = before
            .iter()
            .zip(path)
            .take_while(|(one, other)| one == other)
            .count();
        packer.count(shared);
        packer.count(path.len() - shared);
        packer.bytes(&path[shared..]);
        before = path;
    }
    packer.count(sequence.steps.len());
    let (mut path, mut page) = (0, 0);
    for step in &sequence.steps {
        let (kind, first, last) = parts(step.access);
        packer.number(kind);
        packer.near(step.path as u64, path);
        packer.number(step.pid.into());
        packer.number(rounded(step.compute_share * SHARES));
        if let Some(last) = last {
            packer.near(first, page);
            packer.number(last.saturating_sub(first));
            page = last;
        }
        path = step.path as u64;
    }
    packer.text()
}

/// The start of an index.
///
/// # Errors
///
/// [`Error::Packed`] with the byte that breaks a rule.
pub(crate) fn unpack(text: &str) -> Result<AccessSequence, Error> {
    let mut unpacker = Unpacker::new(PLACE, text)?;
    let compute_s = as_f64(unpacker.number()?) / PARTS_OF_SECOND;
    let mut paths: Vec<Vec<u8>> = Vec::new();
    for _ in 0..unpacker.count("a number of paths")? {
        let path = path(&mut unpacker, paths.last().map_or(&[], Vec::as_slice))?;
        paths.push(path);
    }
    let mut steps = Vec::new();
    let (mut path, mut page) = (0, 0);
    for _ in 0..unpacker.count("a number of accesses")? {
        let kind = unpacker.number()?;
        path = unpacker.near(path)?;
        if path >= paths.len() as u64 {
            return Err(unpacker.wrong(format!("there is no path {path} of {}", paths.len())));
        }
        let pid = unpacker.word("a process")?;
        let compute_share = as_f64(unpacker.number()?) / SHARES;
        let access = match kind {
            LOOKUP => Access::Lookup,
            LIST => Access::List,
            _ => {
                let first = unpacker.near(page)?;
                let last = first.saturating_add(unpacker.number()?);
                if last >= PAGE_COUNT_MAX {
                    return Err(unpacker.wrong(format!("page {last} lies behind any file")));
                }
                page = last;
                of_pages(kind, first, last)
                    .ok_or_else(|| unpacker.wrong(format!("{kind} is no kind of access")))?
            }
        };
        steps.push(AccessStep {
            access,
            path: usize::try_from(path).unwrap_or(usize::MAX),
            pid,
            compute_share,
        });
    }
    unpacker.end()?;
    Ok(AccessSequence {
        paths,
        steps,
        compute_s,
    })
}

/// A path, of which the first bytes are those of the one before.
fn path(unpacker: &mut Unpacker, before: &[u8]) -> Result<Vec<u8>, Error> {
    let shared = unpacker.place(before.len() + 1, "byte of the path before,")?;
    let rest = unpacker.place(PATH_MAX_BYTES - shared, "path with so many bytes,")?;
    let mut path = before[..shared].to_vec();
    path.extend_from_slice(unpacker.bytes(rest)?);
    if path.first() != Some(&b'/') || path.contains(&0) {
        return Err(unpacker.wrong("a path is not absolute, or has a zero byte"));
    }
    Ok(path)
}

const READ: u64 = 0;
const FAULT: u64 = 1;
const MAP: u64 = 2;
const LOOKUP: u64 = 3;
const LIST: u64 = 4;

/// The number of an access, and its pages, if it has some.
fn parts(access: Access) -> (u64, u64, Option<u64>) {
    match access {
        Access::Read {
            first_page,
            last_page,
        } => (READ, first_page, Some(last_page)),
        Access::Fault { page } => (FAULT, page, Some(page)),
        Access::Map {
            first_page,
            last_page,
        } => (MAP, first_page, Some(last_page)),
        Access::Lookup => (LOOKUP, 0, None),
        Access::List => (LIST, 0, None),
    }
}

fn of_pages(kind: u64, first_page: u64, last_page: u64) -> Option<Access> {
    match kind {
        READ => Some(Access::Read {
            first_page,
            last_page,
        }),
        FAULT if first_page == last_page => Some(Access::Fault { page: first_page }),
        MAP => Some(Access::Map {
            first_page,
            last_page,
        }),
        _ => None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what is not above 0 becomes 0"
)]
fn rounded(value: f64) -> u64 {
    value.round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "a time, or a share of it")]
fn as_f64(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn access() -> impl Strategy<Value = Access> {
        let pages = (0_u64..1 << 30, 0_u64..300);
        prop_oneof![
            Just(Access::Lookup),
            Just(Access::List),
            (0_u64..1 << 40).prop_map(|page| Access::Fault { page }),
            (pages.clone(), any::<bool>()).prop_map(|((first_page, more), reads)| {
                let last_page = first_page + more;
                if reads {
                    Access::Read {
                        first_page,
                        last_page,
                    }
                } else {
                    Access::Map {
                        first_page,
                        last_page,
                    }
                }
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn starts_come_back(
            names in prop::collection::vec("/[a-c]{0,3}/[a-z]{1,6}", 1..8),
            steps in prop::collection::vec((access(), 0_usize..8, 0_u32..9, 0_u32..1000), 0..40),
            compute_us in 0_u32..5_000_000,
        ) {
            let count = names.len();
            let sequence = AccessSequence {
                paths: names.into_iter().map(String::into_bytes).collect(),
                steps: steps
                    .into_iter()
                    .map(|(access, path, pid, share)| AccessStep {
                        access,
                        path: path % count,
                        pid,
                        compute_share: f64::from(share) / SHARES,
                    })
                    .collect(),
                compute_s: f64::from(compute_us) / PARTS_OF_SECOND,
            };
            prop_assert_eq!(unpack(&pack(&sequence)).unwrap(), sequence);
        }
    }

    #[test]
    fn starts_that_lie_are_refused() {
        let packed = |numbers: &[u64], bytes: &[u8]| {
            let mut packer = Packer::default();
            for number in &numbers[..numbers.len().min(4)] {
                packer.number(*number);
            }
            packer.bytes(bytes);
            for number in numbers.iter().skip(4) {
                packer.number(*number);
            }
            unpack(&packer.text()).unwrap_err().to_string()
        };
        for (numbers, bytes, expected) in [
            (
                &[0, 1, 0, 1, 0][..],
                &b"a"[..],
                "a path is not absolute, or has a zero byte",
            ),
            (
                &[0, 1, 1, 1, 0],
                b"/",
                "there is no byte of the path before, 1 of 1",
            ),
            (
                &[0, 1, 0, 5000, 0],
                b"/",
                "there is no path with so many bytes, 5000 of 4096",
            ),
            (
                &[0, 1, 0, 1, 1, 3, 2, 0, 0],
                b"/",
                "there is no path 1 of 1",
            ),
            (
                &[0, 1, 0, 1, 1, 0, 0, 0, 0, 1 << 54, 0],
                b"/",
                "page 9007199254740992 lies behind any file",
            ),
            (
                &[0, 1, 0, 1, 1, 9, 0, 0, 0, 0, 0],
                b"/",
                "9 is no kind of access",
            ),
            (
                &[0, 1, 0, 1, 0, 7],
                b"/",
                "1 more bytes follow than are known of",
            ),
        ] {
            let found = packed(numbers, bytes);
            assert!(found.ends_with(expected), "{found}");
        }
    }
}
