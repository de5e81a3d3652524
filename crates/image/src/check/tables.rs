//! The superblock and the tables, as strictly as the kernel reads them.

use coldpress_format::{Compressor, Part};

use super::survey::Survey;
use super::{Findings, equal, within};
use crate::image::Image;

/// Loop devices round an image's size down to this.
const SECTOR_BYTES: u64 = 512;

/// Checks what the superblock says about the image as a whole.
pub(super) fn check_superblock(image: &Image, findings: &mut Findings) {
    let superblock = image.superblock();
    let at = (Part::Superblock, 0);
    match image.store.size_bytes() {
        Ok(found) => {
            let field = "size of the image file (a loop device would hide the end)";
            let low = superblock.bytes_used.next_multiple_of(SECTOR_BYTES);
            if let Err(corrupt) = within(at, field, found, (low, u64::MAX)) {
                findings.add_global(corrupt);
            }
        }
        Err(error) => findings.add_global(error),
    }
    if superblock.compressor == Compressor::Lz4 && image.options().is_none() {
        let field = "number of compressor option blocks (the kernel wants them for lz4)";
        findings.expect_equal((Part::CompressorOptions, 96), field, 0, 1);
    }

    // The kernel refuses a gap between an index and the table behind it.
    let mut next = superblock.bytes_used;
    if let Some(sets) = &image.xattr_sets {
        let at = (Part::XattrTable, superblock.xattr_table_start.unwrap_or(0));
        let field = "end of the xattr id table's index";
        findings.expect_equal(at, field, sets.index_end(), next);
        next = sets.start();
    }
    let at = (Part::IdTable, superblock.id_table_start);
    let field = "end of the id table's index";
    findings.expect_equal(at, field, image.id_table.index_end(), next);
    if let Some(table) = &image.export_table {
        let at = (
            Part::ExportTable,
            superblock.export_table_start.unwrap_or(0),
        );
        let field = "end of the export table's index";
        findings.expect_equal(at, field, table.index_end(), image.id_table.start());
    }
}

/// Checks what the tables say about inodes against the inodes found.
pub(super) fn check_references(image: &Image, survey: &Survey, findings: &mut Findings) {
    let superblock = image.superblock();
    for node in &survey.nodes {
        let at = (Part::Inode, image.inode_start(node.at));
        if let Err(corrupt) = node.check_links(at) {
            findings.add(|| survey.path(node), corrupt.into());
        }
        if image.export_table.is_none() || u64::from(node.number) > superblock.inode_count.into() {
            continue;
        }
        let checked = image.exported(node.number).and_then(|found| {
            let start = image
                .export_table
                .as_ref()
                .map_or(0, crate::table::Table::start);
            let found = found.map_or(u64::MAX, coldpress_format::InodeRef::word);
            let at = (Part::ExportTable, start);
            Ok(equal(
                at,
                "exported inode reference",
                found,
                node.at.word(),
            )?)
        });
        if let Err(error) = checked {
            findings.add(|| survey.path(node), error);
        }
    }
    // What could not be read would only be counted as missing.
    if survey.complete {
        let (found, expected) = (superblock.inode_count.into(), survey.nodes.len() as u64);
        findings.expect_equal((Part::Superblock, 0), "inode count", found, expected);
        for (fragment, needed) in image.fragments().iter().zip(&survey.fragment_bytes) {
            if *needed == 0 {
                let at = (Part::FragmentBlock, fragment.start);
                let field = "number of files with a tail end in the fragment block";
                if let Err(corrupt) = within(at, field, 0, (1, u64::MAX)) {
                    findings.add_global(corrupt);
                }
            }
        }
    }
}
