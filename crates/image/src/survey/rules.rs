//! What one inode says, against the rules for inodes.

use coldpress_format::{Body, Corrupt, Part};

use super::file::check_sparse;
use crate::findings::{Severity, expect_usual, within};
use crate::image::Image;
use crate::inode::InodeRecord;

/// The most bytes of a symlink's target that the kernel follows.
const TARGET_MAX_BYTES: u64 = 4095;
/// The permission bits of a mode.
const MODE_MAX: u64 = 0o7777;
/// The number of a type's extended form is this much more than that of the basic form.
const EXTENDED: u16 = 7;

/// The rules that an inode breaks, and how bad that is.
///
/// * `start`: image byte of its metadata block.
pub(super) fn check(image: &Image, record: &InodeRecord, start: u64) -> Vec<(Severity, Corrupt)> {
    let at = (Part::Inode, start);
    let inode = &record.inode;
    let mut broken = Vec::new();
    let mut expect = |severity, checked: Result<(), Corrupt>| {
        broken.extend(checked.err().map(|corrupt| (severity, corrupt)));
    };
    let field = "mode (the kernel ors the type into it)";
    let (kind, mode) = (word(&record.fixed, 0), word(&record.fixed, 2));
    expect(
        Severity::Error,
        within(at, field, mode.into(), (0, MODE_MAX)),
    );
    match &inode.body {
        Body::Symlink(target) => {
            let field = "bytes of a symlink's target (the kernel follows no more)";
            let range = (1, TARGET_MAX_BYTES);
            expect(
                Severity::Error,
                within(at, field, target.len() as u64, range),
            );
        }
        Body::File(file) => {
            let sparse = check_sparse(file, image.superblock().block_size, at);
            expect(Severity::Notice, sparse);
        }
        _ => {}
    }
    if kind > EXTENDED && basic_suffices(record) {
        let field = "type of an inode that says nothing which needs the extended form";
        let usual = kind - EXTENDED;
        expect(
            Severity::Notice,
            expect_usual(at, field, kind.into(), usual.into()),
        );
    }
    broken
}

/// Whether the basic form could say the same.
fn basic_suffices(record: &InodeRecord) -> bool {
    let inode = &record.inode;
    let small = |value: u64| u32::try_from(value).is_ok();
    inode.xattr.is_none()
        && match &inode.body {
            Body::File(file) => {
                inode.link_count == 1
                    && file.sparse_bytes == 0
                    && small(file.start)
                    && small(file.size_bytes)
            }
            Body::Directory(directory) => {
                directory.index.is_empty() && directory.listing_bytes <= u32::from(u16::MAX) - 3
            }
            _ => true,
        }
}

/// The 16-bit word at `offset`; 0 if there is none.
fn word(bytes: &[u8], offset: usize) -> u16 {
    let bytes = bytes.get(offset..).and_then(|rest| rest.first_chunk::<2>());
    bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes))
}
