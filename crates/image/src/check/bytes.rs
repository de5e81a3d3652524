//! That every byte of the inode table, the directory table and the xattr pairs belongs to
//! something, and to one thing only.

use coldpress_format::{Corrupt, Part, Rule};

use crate::findings::{Findings, Severity};
use crate::image::Image;
use crate::region::Region;
use crate::survey::{Account, Block, Blocks, Pair, Survey};

/// Checks the metadata blocks of the streams and what lies in them.
pub(super) fn check(image: &Image, survey: &Survey, findings: &mut Findings) {
    for (account, region) in [
        (&survey.inode_table, image.inode_table),
        (&survey.directory_table, image.directory_table),
    ] {
        account.blocks.check(findings);
        check_strays(survey, account, findings);
        check_overlaps(survey, account, findings);
        if !survey.has_all_inodes() {
            continue;
        }
        let spans = account.spans.iter().map(|span| (span.start, span.end));
        check_gaps(image, &account.blocks, region, spans, findings);
    }
    if let Some(sets) = &image.xattr_sets {
        survey.xattr_blocks.check(findings);
        let spans = survey.xattr_spans.iter();
        let spans = spans.map(|span| (span.start, span.end));
        check_gaps(image, &survey.xattr_blocks, sets.pairs(), spans, findings);
        check_sets(survey, findings);
    }
}

fn check_strays(survey: &Survey, account: &Account, findings: &mut Findings) {
    for (start, node) in &account.strays {
        let rule = Rule::Unusual {
            field: "number of metadata blocks in which this one lies",
            found: 1,
            usual: 0,
        };
        let corrupt = Corrupt::new(Part::MetadataBlock, *start, rule);
        findings.add(Severity::Notice, || survey.path(*node), corrupt);
    }
}

fn check_overlaps(survey: &Survey, account: &Account, findings: &mut Findings) {
    let mut end = 0;
    for span in &account.spans {
        if span.start < end {
            let rule = Rule::Unusual {
                field: "bytes that belong to another inode or listing too",
                found: end.min(span.end) - span.start,
                usual: 0,
            };
            let start = account
                .blocks
                .at(span.start)
                .map_or(0, |(block, _)| block.start);
            let corrupt = Corrupt::new(Part::MetadataBlock, start, rule);
            findings.add(Severity::Notice, || survey.path(span.node), corrupt);
        }
        end = end.max(span.end);
    }
}

/// Sets may share values, which are elsewhere; pairs have one set.
fn check_sets(survey: &Survey, findings: &mut Findings) {
    let mut end = 0;
    let spans = survey.xattr_spans.iter();
    for span in spans.filter(|span| span.what == Pair::Set) {
        if span.start < end {
            let start = survey.xattr_blocks.at(span.start);
            let at = (Part::XattrTable, start.map_or(0, |(block, _)| block.start));
            let found = end.min(span.end) - span.start;
            let field = "bytes that belong to another set of xattrs too";
            findings.expect_usual(at, field, found, 0);
        }
        end = end.max(span.end);
    }
}

/// Notices bytes between spans; not zeros up to the end of a metadata block, as images that are
/// made for recording have.
///
/// * `spans`: by start.
fn check_gaps(
    image: &Image,
    blocks: &Blocks,
    region: Region,
    spans: impl Iterator<Item = (u64, u64)>,
    findings: &mut Findings,
) {
    let end = blocks.len_bytes();
    let mut position = 0;
    for (start, next) in spans.chain([(end, end)]) {
        if start > position && !is_padding(image, blocks, region, (position, start)) {
            let (at, offset) = blocks
                .at(position)
                .map_or((0, 0), |(block, at)| (block.start, at));
            let rule = Rule::Unreferenced {
                offset,
                len_bytes: start - position,
            };
            findings.notice((Part::MetadataBlock, at), rule);
        }
        position = position.max(next);
    }
}

/// Whether a gap holds nothing but zeros, up to the end of a metadata block.
fn is_padding(image: &Image, blocks: &Blocks, region: Region, (mut from, to): (u64, u64)) -> bool {
    while from < to {
        let Some((block, offset)) = blocks.at(from) else {
            return true;
        };
        if block.position_end() > to || !is_zero_from(image, region, block, offset) {
            return false;
        }
        from = block.position_end();
    }
    true
}

fn is_zero_from(image: &Image, region: Region, block: &Block, offset: u64) -> bool {
    let read = image.store.metadata_block(block.start, region);
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    read.is_ok_and(|read| {
        let bytes = read.content.get(offset..).unwrap_or_default();
        bytes.iter().all(|byte| *byte == 0)
    })
}
