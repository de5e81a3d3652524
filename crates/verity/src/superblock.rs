//! The superblock of cryptsetup, which says what a tree is like.

use crate::algorithm::Algorithm;
use crate::block_bytes::BlockBytes;
use crate::error::Error;
use crate::hex::{Salt, Uuid};
use crate::parameters::{HashType, Parameters};

/// Bytes of a superblock.
pub const SUPERBLOCK_BYTES: usize = 512;

pub(crate) const SIGNATURE: [u8; 8] = *b"verity\0\0";

// Offsets of the fields, all numbers little-endian.
const VERSION: usize = 8;
const HASH_TYPE: usize = 12;
const UUID: usize = 16;
const ALGORITHM: usize = 32;
const DATA_BLOCK_BYTES: usize = 64;
const HASH_BLOCK_BYTES: usize = 68;
const DATA_BLOCKS: usize = 72;
const SALT_BYTES: usize = 80;
const SALT: usize = 88;

/// What a superblock says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// The name of the tree.
    pub uuid: Uuid,
    /// What the tree was made with.
    pub parameters: Parameters,
    /// How many blocks of data have a hash.
    pub data_blocks: u64,
}

impl Superblock {
    /// Reads a superblock.
    ///
    /// * `start`: byte of the file at which it begins, for errors.
    ///
    /// # Errors
    ///
    /// [`Error::Superblock`] if a field is wrong.
    pub fn parse(bytes: &[u8; SUPERBLOCK_BYTES], start: u64) -> Result<Self, Error> {
        let wrong = |offset: usize, field, found: String, rule| Error::Superblock {
            start: start.saturating_add(offset as u64),
            field,
            found,
            rule,
        };
        let u32_at = |offset: usize| u32::from_le_bytes(array(bytes, offset));
        let signature: [u8; 8] = array(bytes, 0);
        if signature != SIGNATURE {
            let found = signature.escape_ascii().to_string();
            return Err(wrong(0, "signature", found, "it must be `verity`"));
        }
        let version = u32_at(VERSION);
        if version != 1 {
            let rule = "only version 1 is known";
            return Err(wrong(VERSION, "version", version.to_string(), rule));
        }
        let hash_type = match u32_at(HASH_TYPE) {
            0 => HashType::ChromeOs,
            1 => HashType::Normal,
            other => {
                let rule = "it must be 0 or 1";
                return Err(wrong(HASH_TYPE, "hash type", other.to_string(), rule));
            }
        };
        let name = &bytes[ALGORITHM..DATA_BLOCK_BYTES];
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let algorithm = std::str::from_utf8(name).ok();
        let algorithm = algorithm.and_then(|name| Algorithm::parse(name).ok());
        let algorithm = algorithm.ok_or_else(|| {
            let rule = "coldpress knows sha1, sha224, sha256, sha384 and sha512";
            wrong(
                ALGORITHM,
                "hash algorithm",
                format!("`{}`", name.escape_ascii()),
                rule,
            )
        })?;
        let block = |offset, field| {
            let found = u32_at(offset);
            let rule = "it must be a power of two from 512 to 524288";
            BlockBytes::new(found.into())
                .ok_or_else(|| wrong(offset, field, found.to_string(), rule))
        };
        let salt_bytes = u16::from_le_bytes(array(bytes, SALT_BYTES));
        let salt = bytes[SALT..SALT + Salt::BYTES_MAX].get(..salt_bytes.into());
        let salt = salt
            .and_then(|salt| Salt::new(salt.to_vec()))
            .ok_or_else(|| {
                let rule = "there is room for 256";
                wrong(
                    SALT_BYTES,
                    "number of salt bytes",
                    salt_bytes.to_string(),
                    rule,
                )
            })?;
        Ok(Self {
            uuid: Uuid(array(bytes, UUID)),
            parameters: Parameters {
                hash_type,
                algorithm,
                data_block: block(DATA_BLOCK_BYTES, "data block size")?,
                hash_block: block(HASH_BLOCK_BYTES, "hash block size")?,
                salt,
            },
            data_blocks: u64::from_le_bytes(array(bytes, DATA_BLOCKS)),
        })
    }

    /// Writes a superblock, as veritysetup does.
    pub fn to_bytes(&self) -> [u8; SUPERBLOCK_BYTES] {
        let Parameters {
            hash_type,
            algorithm,
            data_block,
            hash_block,
            salt,
        } = &self.parameters;
        let hash_type: u32 = match hash_type {
            HashType::ChromeOs => 0,
            HashType::Normal => 1,
        };
        let salt = salt.bytes();
        let salt_bytes = u16::try_from(salt.len()).unwrap_or(u16::MAX);
        let mut bytes = [0; SUPERBLOCK_BYTES];
        let mut put = |offset: usize, field: &[u8]| {
            bytes[offset..offset + field.len()].copy_from_slice(field);
        };
        put(0, &SIGNATURE);
        put(VERSION, &1_u32.to_le_bytes());
        put(HASH_TYPE, &hash_type.to_le_bytes());
        put(UUID, &self.uuid.0);
        put(ALGORITHM, algorithm.name().as_bytes());
        put(DATA_BLOCK_BYTES, &data_block.bytes().to_le_bytes()[..4]);
        put(HASH_BLOCK_BYTES, &hash_block.bytes().to_le_bytes()[..4]);
        put(DATA_BLOCKS, &self.data_blocks.to_le_bytes());
        put(SALT_BYTES, &salt_bytes.to_le_bytes());
        put(SALT, salt);
        bytes
    }

    /// Bytes of the data that have hashes; 2^64 - 1 if these are more.
    pub fn data_bytes(&self) -> u64 {
        self.data_blocks
            .saturating_mul(self.parameters.data_block.bytes())
    }
}

/// The bytes of a field, which lies inside the superblock.
fn array<const N: usize>(bytes: &[u8; SUPERBLOCK_BYTES], offset: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[offset..offset + N]);
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    fn superblock() -> Superblock {
        Superblock {
            uuid: Uuid([7; 16]),
            parameters: Parameters {
                salt: Salt::new(vec![9; 256]).unwrap(),
                algorithm: Algorithm::Sha512,
                ..Parameters::default()
            },
            data_blocks: 0x0102_0304_0506,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let superblock = superblock();
        let found = Superblock::parse(&superblock.to_bytes(), 0).unwrap();
        assert_eq!(found, superblock);
    }

    #[test]
    fn each_wrong_field_is_named_with_its_byte() {
        for (offset, field, expected) in [
            (
                0,
                &b"Verity"[..],
                "signature at byte 4096: Verity\\x00\\x00, but it must be `verity`",
            ),
            (
                8,
                &[2],
                "version at byte 4104: 2, but only version 1 is known",
            ),
            (12, &[2], "hash type at byte 4108: 2, but it must be 0 or 1"),
            (
                32,
                b"md5\0\0\0",
                "hash algorithm at byte 4128: `md5`, but coldpress knows",
            ),
            (32, b"\xff", "hash algorithm at byte 4128: `\\xffha512`"),
            (32, &[b'a'; 32], "hash algorithm at byte 4128: `aaaaaaaa"),
            (
                64,
                &[0, 0, 0, 0],
                "data block size at byte 4160: 0, but it must be a power",
            ),
            (64, &[0, 1, 0, 0], "data block size at byte 4160: 256,"),
            (68, &[0, 0, 16, 0], "hash block size at byte 4164: 1048576,"),
            (68, &[0, 17, 0, 0], "hash block size at byte 4164: 4352,"),
            (
                80,
                &[1, 1],
                "number of salt bytes at byte 4176: 257, but there is room for 256",
            ),
            (80, &[255, 255], "number of salt bytes at byte 4176: 65535,"),
        ] {
            let mut bytes = superblock().to_bytes();
            bytes[offset..offset + field.len()].copy_from_slice(field);
            let error = Superblock::parse(&bytes, 4096).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
