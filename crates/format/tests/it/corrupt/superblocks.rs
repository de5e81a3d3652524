//! Superblocks with a broken field.

use std::mem::offset_of;

use coldpress_format::{RawSuperblock, Superblock};

use super::{message, put};
use crate::samples::superblock;

#[test]
fn each_superblock_field_is_checked() {
    macro_rules! broken {
        ($($field:ident = $value:expr => $message:expr,)*) => {
            [$((offset_of!(RawSuperblock, $field), $value.to_le_bytes().to_vec(), $message)),*]
        };
    }
    let cases = broken! {
        magic = 0x7371_7369_u32 => "magic is 1936814953, must be 1936814952",
        inode_count = 0_u32 => "inode count is 0, must be 1 to 4294967294",
        inode_count = u32::MAX => "inode count is 4294967295, must be 1 to 4294967294",
        block_size = 0_u32 => "block size (a power of two) is 0, must be 4096 to 1048576",
        block_size = 131_073_u32 =>
            "block size (a power of two) is 131073, must be 4096 to 1048576",
        fragment_count = 18_u32 => "fragment count is 18, must be 0 to 17",
        compressor = 0_u16 => "compressor 0 is not supported",
        compressor = 7_u16 => "compressor 7 is not supported",
        block_log = 16_u16 => "block log is 16, must be 17",
        id_count = 0_u16 => "id count is 0, must be 1 to 65535",
        version_major = 3_u16 => "major version is 3, must be 4",
        version_minor = 1_u16 => "minor version is 1, must be 0",
        root_inode = 0x2_0004_2000_u64 => "inode offset is 8192, must be 0 to 8191",
        root_inode = (1_u64 << 48) =>
            "inode block start is 4294967296, must be 0 to 4294967295",
        bytes_used = 0x8eff_u64 => "bytes used is 36607, must be 36608 to 9223372036854775807",
        bytes_used = (1_u64 << 63) =>
            "bytes used is 9223372036854775808, must be 36608 to 9223372036854775807",
        id_table_start = 0x7fff_u64 =>
            "id table start is 32767, must be 32768 to 9223372036854775807",
        xattr_table_start = 0x84ff_u64 =>
            "xattr table start is 34047, must be 34048 to 9223372036854775807",
        xattr_table_start = 0x9001_u64 =>
            "bytes used is 36864, must be 36865 to 9223372036854775807",
        inode_table_start = 95_u64 =>
            "inode table start is 95, must be 96 to 9223372036854775807",
        directory_table_start = 0x5000_u64 =>
            "directory table start is 20480, must be 20481 to 9223372036854775807",
        fragment_table_start = 0x5fff_u64 =>
            "fragment table start is 24575, must be 24576 to 9223372036854775807",
        fragment_table_start = u64::MAX =>
            "fragment count (there is no fragment table) is 3, must be 0",
        export_table_start = 0x6fff_u64 =>
            "export table start is 28671, must be 28672 to 9223372036854775807",
    };
    for (at, value, expected) in cases {
        let mut bytes = superblock().write();
        put(&mut bytes, at, &value);
        let found = message(Superblock::parse(&bytes));
        assert_eq!(
            found,
            format!("superblock at byte 0: {expected}"),
            "byte {at}"
        );
    }
}

#[test]
fn every_byte_of_the_superblock_is_read() {
    for at in 0..size_of::<RawSuperblock>() {
        let mut bytes = superblock().write();
        bytes[at] = !bytes[at];
        // Any other value is an error or another value of the field.
        assert_ne!(Superblock::parse(&bytes), Ok(superblock()), "byte {at}");
    }
}

#[test]
fn a_superblock_cut_short_is_reported_with_its_length() {
    let bytes = superblock().write();
    let found = message(Superblock::parse(&bytes[..95]));
    assert_eq!(found, "superblock at byte 0: needs 96 bytes, 95 are there");
}
