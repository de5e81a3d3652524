//! The header block of an entry.
//!
//! Four dialects share its first 257 bytes: v7 has no magic; POSIX ("ustar") and GNU tar have
//! different ones, and use what follows the devices differently; star marks the last four bytes.
//! Source: POSIX.1-2017, "pax", ustar interchange format; GNU tar's manual, "Basic Tar Format".

use super::defect::TarDefect;
use super::number;

/// The size of a block: headers are one, contents are filled up to whole ones.
pub(crate) const BLOCK_BYTES: usize = 512;

/// A header block.
pub(crate) type Block = [u8; BLOCK_BYTES];

/// Who wrote a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Before POSIX: no magic.
    V7,
    /// POSIX, and pax, which adds extended headers to it.
    Ustar,
    /// GNU tar's own format.
    Gnu,
    /// star's: POSIX with a shorter prefix.
    Star,
}

/// A header block whose checksum is right.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header<'a> {
    block: &'a Block,
    pub(super) dialect: Dialect,
}

impl<'a> Header<'a> {
    /// # Errors
    ///
    /// [`TarDefect::Checksum`].
    pub(super) fn new(block: &'a Block) -> Result<Self, TarDefect> {
        check_sum(block)?;
        let dialect = match &block[257..265] {
            b"ustar  \0" => Dialect::Gnu,
            magic if magic.starts_with(b"ustar") && block.ends_with(b"tar\0") => Dialect::Star,
            magic if magic.starts_with(b"ustar") => Dialect::Ustar,
            _ => Dialect::V7,
        };
        Ok(Self { block, dialect })
    }

    /// The type flag.
    pub(super) fn kind(&self) -> u8 {
        self.block[156]
    }

    /// The path: the name, in POSIX archives with the prefix in front.
    pub(super) fn path(&self) -> Vec<u8> {
        let name = text(&self.block[..100]);
        let prefix = match self.dialect {
            Dialect::V7 | Dialect::Gnu => &[][..],
            Dialect::Ustar => text(&self.block[345..500]),
            Dialect::Star => text(&self.block[345..476]),
        };
        match prefix {
            [] => name.to_vec(),
            prefix => [prefix, b"/", name].concat(),
        }
    }

    /// The target of a hard or symbolic link.
    pub(super) fn link(&self) -> &'a [u8] {
        text(&self.block[157..257])
    }

    pub(super) fn mode(&self) -> Result<u16, TarDefect> {
        // Some writers put the type of the file in front of the permissions.
        let mode = self.number(100, 8, "the mode")?;
        Ok(u16::try_from(mode & 0o7777).unwrap_or(0))
    }

    pub(super) fn uid(&self) -> Result<i64, TarDefect> {
        self.number(108, 8, "the owner")
    }

    pub(super) fn gid(&self) -> Result<i64, TarDefect> {
        self.number(116, 8, "the group")
    }

    pub(super) fn size_bytes(&self) -> Result<u64, TarDefect> {
        self.length(124, "the size")
    }

    pub(super) fn mtime_s(&self) -> Result<i64, TarDefect> {
        self.number(136, 12, "the modification time")
    }

    /// Major and minor number of a device.
    pub(super) fn device(&self) -> Result<(u32, u32), TarDefect> {
        let number = |start, field| {
            let number = self.number(start, 8, field)?;
            u32::try_from(number).map_err(|_| self.wrong(start, 8, field, "from 0 to 4294967295"))
        };
        Ok((
            number(329, "the major device number")?,
            number(337, "the minor device number")?,
        ))
    }

    /// The pairs of a GNU sparse file: where each piece begins and its length.
    pub(super) fn sparse_pairs(&self) -> &'a [u8] {
        &self.block[386..482]
    }

    /// Whether blocks with more pairs of a GNU sparse file follow.
    pub(super) fn is_extended(&self) -> bool {
        self.block[482] != 0
    }

    /// The length of a GNU sparse file with its holes.
    pub(super) fn real_size_bytes(&self) -> Result<u64, TarDefect> {
        self.length(483, "the real size")
    }

    fn length(&self, start: usize, field: &'static str) -> Result<u64, TarDefect> {
        let number = self.number(start, 12, field)?;
        u64::try_from(number).map_err(|_| self.wrong(start, 12, field, "at least 0"))
    }

    fn number(&self, start: usize, len: usize, field: &'static str) -> Result<i64, TarDefect> {
        number::field(&self.block[start..start + len])
            .ok_or_else(|| self.wrong(start, len, field, "an octal number or one in base 256"))
    }

    fn wrong(
        &self,
        start: usize,
        len: usize,
        field: &'static str,
        rule: &'static str,
    ) -> TarDefect {
        TarDefect::Number {
            field,
            found: self.block[start..start + len].escape_ascii().to_string(),
            rule,
        }
    }
}

/// Bytes up to the first that is zero.
fn text(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| *byte == 0);
    &bytes[..end.unwrap_or(bytes.len())]
}

/// The sum of all bytes, where the field of the sum counts as spaces. Early writers added bytes
/// with a sign.
fn check_sum(block: &Block) -> Result<(), TarDefect> {
    let field = &block[148..156];
    let others = || block[..148].iter().chain(&block[156..]);
    let unsigned = others().map(|byte| i64::from(*byte)).sum::<i64>() + 8 * i64::from(b' ');
    let signed = |byte: &u8| i64::from(byte.cast_signed());
    let found = number::field(field);
    if found == Some(unsigned)
        || found == Some(others().map(signed).sum::<i64>() + 8 * i64::from(b' '))
    {
        return Ok(());
    }
    Err(TarDefect::Checksum {
        expected: unsigned.unsigned_abs(),
        found: field.escape_ascii().to_string(),
    })
}
