//! The superblock and the end of the image, as strictly as the kernel reads them.

use coldpress_format::{Compressor, Flags, PADDING_SIZE, Part, Rule};

use crate::findings::{Findings, equal, within};
use crate::image::Image;
use crate::region::Region;
use crate::table::Table;

/// Loop devices round an image's size down to this.
const SECTOR_BYTES: u64 = 512;
/// Every flag with a meaning.
const FLAGS: u16 = 0x0ffb;

/// Checks what the superblock says about the image as a whole.
pub(super) fn check(image: &Image, pack_end: Option<u64>, findings: &mut Findings) {
    check_size(image, pack_end, findings);
    check_counts_and_flags(image, findings);
    check_index_ends(image, findings);
}

fn check_size(image: &Image, pack_end: Option<u64>, findings: &mut Findings) {
    let used = image.superblock().bytes_used;
    let size = match image.store.size_bytes() {
        Ok(size) => size,
        Err(error) => return findings.error(error),
    };
    let field = "size of the image file (a loop device would hide the end)";
    let low = used.next_multiple_of(SECTOR_BYTES);
    let at = (Part::Superblock, 0);
    findings.expect(within(at, field, size, (low, u64::MAX)));
    let end = used.next_multiple_of(PADDING_SIZE).min(size);
    let padding = Region { start: used, end };
    if !is_zero(image, padding) {
        let at = (Part::Padding, used);
        findings.expect_usual(at, "number of bytes that are not zero", 1, 0);
    }
    let end = pack_end.unwrap_or(end);
    // A device may well be larger than the image on it.
    if size > end {
        let rule = Rule::Unreferenced {
            offset: 0,
            len_bytes: size - end,
        };
        findings.notice((Part::Padding, end), rule);
    }
}

/// Whether a range of at most some KiB holds zeros only; also if it cannot be read.
pub(super) fn is_zero(image: &Image, range: Region) -> bool {
    let len = range.end.saturating_sub(range.start);
    let mut bytes = vec![0; usize::try_from(len.min(PADDING_SIZE)).unwrap_or(0)];
    image.store.read_exact(&mut bytes, range.start).is_err() || bytes.iter().all(|byte| *byte == 0)
}

fn check_counts_and_flags(image: &Image, findings: &mut Findings) {
    let superblock = image.superblock();
    let at = (Part::Superblock, 0);
    let field = "id count (unsquashfs refuses more than two for each inode)";
    let most = u64::from(superblock.inode_count).saturating_mul(2);
    findings.expect(within(at, field, superblock.id_count.into(), (1, most)));
    let flags = superblock.flags;
    let has = |flag| u64::from(flags.contains(flag));
    let unknown = u64::from(flags.0 & !FLAGS);
    findings.expect_usual(at, "flags without a meaning", unknown, 0);
    let exports = u64::from(superblock.export_table_start.is_some());
    findings.expect_usual(at, "flag exportable", has(Flags::EXPORTABLE), exports);
    if superblock.fragment_count > 0 {
        findings.expect_usual(at, "flag no-fragments", has(Flags::NO_FRAGMENTS), 0);
    }
    if superblock.xattr_table_start.is_some() {
        let field = "flag no-xattrs (unsquashfs then leaves out those that are there)";
        findings.expect(equal(at, field, has(Flags::NO_XATTRS), 0));
    }
    if superblock.compressor == Compressor::Lz4 && !flags.contains(Flags::COMPRESSOR_OPTIONS) {
        let field = "number of compressor option blocks (the kernel wants them for lz4)";
        findings.expect(equal((Part::CompressorOptions, 96), field, 0, 1));
    }
}

/// The kernel refuses a gap between an index and the table behind it.
fn check_index_ends(image: &Image, findings: &mut Findings) {
    let superblock = image.superblock();
    let mut next = superblock.bytes_used;
    if let Some(sets) = &image.xattr_sets {
        let at = (Part::XattrTable, superblock.xattr_table_start.unwrap_or(0));
        let field = "end of the xattr id table's index";
        findings.expect(equal(at, field, sets.index_end(), next));
        next = sets.start();
    } else if superblock.xattr_table_start.is_some() {
        return;
    }
    let mut expect_end = |table: &Table, start: u64, field| {
        if table.count() > 0 {
            findings.expect(equal((table.part(), start), field, table.index_end(), next));
            next = table.start();
        }
    };
    let start = superblock.id_table_start;
    expect_end(&image.id_table, start, "end of the id table's index");
    if let Some(table) = &image.export_table {
        let start = superblock.export_table_start.unwrap_or(0);
        expect_end(table, start, "end of the export table's index");
    }
    if let Some(table) = &image.fragment_table {
        let start = superblock.fragment_table_start.unwrap_or(0);
        expect_end(table, start, "end of the fragment table's index");
    }
}
