//! The tables against the inodes and against themselves.

use std::collections::HashSet;

use coldpress_format::{
    Corrupt, Fragment, InodeKind, InodeRef, METADATA_BLOCK_SIZE, Part, Rule, XattrTable,
};

use super::superblock::is_zero;
use crate::findings::{Findings, Severity, equal, within};
use crate::image::Image;
use crate::region::Region;
use crate::survey::{Node, Survey};
use crate::table::Table;
use crate::xattr::XattrSets;

/// Bytes before the unused word of a fragment table's entry, and of the xattr id table's header.
const UNUSED_AT: usize = 12;

/// Checks what the tables say about inodes against the inodes found, and each table's bytes.
pub(super) fn check(image: &Image, survey: &Survey, findings: &mut Findings) {
    // What could not be read would only be counted as missing.
    if survey.complete {
        check_counts(image, survey, findings);
    }
    check_exports(image, survey, findings);
    check_ids(image, survey, findings);
    check_unused_words(image, findings);
    let tables = [&image.fragment_table, &image.export_table];
    let xattrs = image.xattr_sets.as_ref().map(XattrSets::table);
    let tables = tables.into_iter().filter_map(Option::as_ref);
    for table in tables.chain([&image.id_table]).chain(xattrs) {
        check_bytes(image, table, findings);
    }
}

fn check_counts(image: &Image, survey: &Survey, findings: &mut Findings) {
    for (index, node) in survey.nodes.iter().enumerate() {
        let at = (Part::Inode, image.inode_start(node.at));
        if let Err(corrupt) = check_links(node, at) {
            findings.add(Severity::Error, || survey.path(index), corrupt);
        }
    }
    let found = image.superblock().inode_count.into();
    let expected = survey.nodes.len() as u64;
    findings.expect(equal((Part::Superblock, 0), "inode count", found, expected));
}

/// Checks a link count: of directories writers disagree whether files count.
fn check_links(node: &Node, at: (Part, u64)) -> Result<(), Corrupt> {
    let found = u64::from(node.link_count);
    if node.named == 0 {
        return Ok(());
    }
    if node.kind == InodeKind::Directory {
        return within(at, "link count", found, (2, 2 + u64::from(node.entries)));
    }
    equal(at, "link count", found, node.named.into())
}

fn check_exports(image: &Image, survey: &Survey, findings: &mut Findings) {
    let Some(table) = &image.export_table else {
        return;
    };
    let at = (Part::ExportTable, table.start());
    for (index, node) in survey.nodes.iter().enumerate() {
        if node.number > image.superblock().inode_count {
            continue;
        }
        let checked = image.exported(node.number).and_then(|found| {
            let found = found.map_or(u64::MAX, InodeRef::word);
            let field = "exported inode reference";
            Ok(equal(at, field, found, node.at.word())?)
        });
        if let Err(error) = checked {
            findings.add(Severity::Error, || survey.path(index), error);
        }
    }
}

fn check_ids(image: &Image, survey: &Survey, findings: &mut Findings) {
    let at = (Part::IdTable, image.id_table.start());
    let mut seen = HashSet::new();
    let twice = image.ids().iter().filter(|id| !seen.insert(**id)).count();
    findings.expect_usual(at, "number of ids that are there twice", twice as u64, 0);
    if survey.complete {
        let used = |index: &usize| {
            u16::try_from(*index).is_ok_and(|index| survey.ids_used.contains(&index))
        };
        let unused = (0..image.ids().len()).filter(|index| !used(index)).count();
        findings.expect_usual(at, "number of ids of no inode", unused as u64, 0);
    }
}

fn check_unused_words(image: &Image, findings: &mut Findings) {
    let field = "number of unused words that are not zero";
    if let Some(table) = &image.fragment_table {
        let mut found = 0;
        // What cannot be read was told when the image was opened.
        let _ = table.for_each::<{ Fragment::SIZE }>(&image.store, |bytes, _| {
            found += u64::from(bytes.iter().skip(UNUSED_AT).any(|byte| *byte != 0));
            Ok(())
        });
        let at = (Part::FragmentTable, table.start());
        findings.expect_usual(at, field, found, 0);
    }
    if let (Some(_), Some(start)) = (&image.xattr_sets, image.superblock().xattr_table_start) {
        let word = Region {
            start: start.saturating_add(UNUSED_AT as u64),
            end: start.saturating_add(XattrTable::SIZE as u64),
        };
        let found = u64::from(!is_zero(image, word));
        findings.expect_usual((Part::XattrTable, start), field, found, 0);
    }
}

/// Checks that a table's metadata blocks are whole, stand side by side, and hold nothing but its
/// entries.
fn check_bytes(image: &Image, table: &Table, findings: &mut Findings) {
    let region = table.blocks();
    let mut left = table.count().saturating_mul(table.entry_bytes());
    let starts = table.block_starts();
    let ends = starts.iter().skip(1).chain([&region.end]);
    for (start, end) in starts.iter().zip(ends) {
        let (start, end) = (*start, *end);
        let block = match image.store.metadata_block(start, Region { start, end }) {
            Ok(block) => block,
            Err(error) => {
                findings.error(error);
                left = left.saturating_sub(METADATA_BLOCK_SIZE as u64);
                continue;
            }
        };
        let (needed, found) = (
            left.min(METADATA_BLOCK_SIZE as u64),
            block.content.len() as u64,
        );
        left -= needed;
        if found < needed {
            let rule = Rule::Truncated { needed, found };
            findings.error(Corrupt::new(table.part(), start, rule));
        }
        for (offset, behind) in [(needed, found), (block.next, end)] {
            if offset < behind {
                let rule = Rule::Unreferenced {
                    offset,
                    len_bytes: behind - offset,
                };
                findings.notice((table.part(), start), rule);
            }
        }
    }
}
