//! Reading every set of xattrs.

use std::collections::HashMap;
use std::ops::ControlFlow;

use coldpress_format::{Corrupt, Part};

use super::{Blocks, Survey};
use crate::allowance::Allowance;
use crate::error::Error;
use crate::findings::{Findings, Severity, expect_usual, within};
use crate::image::Image;
use crate::xattr::{RawPair, XattrSets};

/// Bytes of xattrs that are read beyond the size of their table: sets may share values, so a small
/// image may hold sets of any size together.
const XATTRS_MAX_BYTES: u64 = 256 << 20;
/// The most bytes of a name, prefix included, in Linux.
const NAME_MAX_BYTES: u64 = 255;
/// Sets between two calls of `poll`.
const POLL_SETS: u32 = 256;

/// Bytes of the xattr pairs before compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct XattrSpan {
    /// Position of the first byte.
    pub(crate) start: u64,
    /// Position behind the last.
    pub(crate) end: u64,
    /// What lies there.
    pub(crate) what: Pair,
    /// The set that it belongs to, the first of several.
    pub(crate) set: u32,
}

/// What lies among the xattr pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pair {
    /// A set: its pairs.
    Set,
    /// A value that pairs elsewhere refer to.
    Value,
}

/// Reads all sets and notes where they lie.
///
/// # Errors
///
/// [`Error::Interrupted`] only.
pub(super) fn scan(
    survey: &mut Survey,
    image: &Image,
    findings: &mut Findings,
    poll: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(), Error> {
    let users = check_users(survey, image, findings);
    let Some(sets) = &image.xattr_sets else {
        return Ok(());
    };
    let count = u32::try_from(sets.count()).unwrap_or(u32::MAX);
    let mut scan = Scan {
        image,
        sets,
        blocks: Blocks::default(),
        spans: Vec::new(),
        bytes: 0,
    };
    let starts = (0..count).filter_map(|index| sets.id(&image.store, index).ok());
    let mut hints: Vec<u64> = starts
        .map(|(id, _)| sets.start() + (id.pairs >> 16))
        .collect();
    hints.sort_unstable();
    hints.dedup();
    scan.blocks = Blocks::scan(image, sets.pairs(), &hints, findings);
    let mut allowance = Allowance::default();
    for index in 0..count {
        if index.is_multiple_of(POLL_SETS) && poll().is_break() {
            return Err(Error::Interrupted);
        }
        let user = users.get(&index).copied();
        let path = || survey.path(user?);
        match scan.read(index) {
            Ok(unusual) => {
                for corrupt in unusual {
                    findings.add(Severity::Notice, path, corrupt);
                }
            }
            Err(error) => findings.add(Severity::Error, path, error),
        }
        if user.is_none() && survey.has_all_inodes() {
            let at = (Part::XattrTable, sets.table().start());
            let field = "number of inodes with this set of xattrs";
            findings.expect_usual(at, field, 0, 1);
        }
        let at = (Part::XattrTable, sets.table().start());
        let field = "bytes of all xattrs (the rest is not checked)";
        let limit = (field, XATTRS_MAX_BYTES);
        let spent = std::mem::take(&mut scan.bytes);
        match allowance.spend(image, sets.pairs(), spent, limit) {
            Ok(None) => {}
            Ok(Some(rule)) => {
                findings.error(Corrupt::new(at.0, at.1, rule));
                break;
            }
            Err(error) => {
                findings.error(error);
                break;
            }
        }
    }
    scan.spans.sort_unstable();
    scan.spans
        .dedup_by_key(|span| (span.start, span.end, span.what));
    survey.xattr_spans = scan.spans;
    survey.xattr_blocks = scan.blocks;
    Ok(())
}

/// Checks that the sets that inodes name are there; returns the first node that names each.
fn check_users(survey: &Survey, image: &Image, findings: &mut Findings) -> HashMap<u32, usize> {
    let mut users = HashMap::new();
    let sets = image.xattr_sets.as_ref();
    // Where the table cannot be read, that is the problem, not each inode.
    let is_lost = sets.is_none() && image.superblock().xattr_table_start.is_some();
    for (node, found) in survey.nodes.iter().enumerate() {
        let Some(set) = found.xattr else { continue };
        if users.insert(set, node).is_some() || is_lost {
            continue;
        }
        if u64::from(set) >= sets.map_or(0, XattrSets::count)
            && let Err(error) = image.xattr_set(set)
        {
            findings.add(Severity::Error, || survey.path(node), error);
        }
    }
    users
}

struct Scan<'a> {
    image: &'a Image,
    sets: &'a XattrSets,
    blocks: Blocks,
    spans: Vec<XattrSpan>,
    bytes: u64,
}

impl Scan<'_> {
    /// Notes the bytes of a set; returns what is unusual with it.
    fn read(&mut self, index: u32) -> Result<Vec<Corrupt>, Error> {
        let at = (Part::XattrTable, self.sets.table().start());
        let mut unusual = Vec::new();
        let (mut size, mut listed, mut first) = (0, 0, None);
        let (sets, image) = (self.sets, self.image);
        let mut names: Vec<Vec<u8>> = Vec::new();
        let id = sets.for_each_pair(&image.store, index, &mut |pair| {
            first = first.or(Some(pair.place));
            size += pair.len_bytes;
            listed += (pair.name.len() + 1 + pair.value.len()) as u64;
            self.bytes += (pair.name.len() + pair.value.len()) as u64;
            self.note_value(index, &pair);
            let field = "bytes of an xattr's name (Linux has no longer ones)";
            let len = pair.name.len() as u64;
            unusual.extend(within(at, field, len, (1, NAME_MAX_BYTES)).err());
            names.push(pair.name);
        })?;
        names.sort_unstable();
        let twice = names.windows(2).filter(|pair| pair.first() == pair.last());
        let field = "number of names that a set of xattrs has twice";
        unusual.extend(expect_usual(at, field, twice.count() as u64, 0).err());
        // mksquashfs counts full names with a zero byte each, and values wherever they lie.
        if u64::from(id.size_bytes) != listed {
            let field = "size of a set of xattrs";
            unusual.extend(expect_usual(at, field, id.size_bytes.into(), size).err());
        }
        if let Some(start) = first.and_then(|(start, offset)| self.blocks.position(start, offset)) {
            self.push(index, Pair::Set, start, size);
        }
        Ok(unusual)
    }

    fn note_value(&mut self, set: u32, pair: &RawPair) {
        let Some((start, offset)) = pair.value_place else {
            return;
        };
        if let Some(start) = self.blocks.position(start, offset) {
            self.push(set, Pair::Value, start, 4 + pair.value.len() as u64);
        }
    }

    fn push(&mut self, set: u32, what: Pair, start: u64, len_bytes: u64) {
        let end = (start + len_bytes).min(self.blocks.len_bytes());
        self.spans.push(XattrSpan {
            start,
            end,
            what,
            set,
        });
    }
}
