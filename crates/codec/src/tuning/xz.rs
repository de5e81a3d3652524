//! The tuning of xz.

use coldpress_format::{BlockSize, Compressor};

use super::in_range;
use crate::choice::{Choice, Choices};
use crate::{Error, largest_block_bytes};

/// The smallest dictionary that the kernel and mksquashfs accept: a metadata block must fit.
pub(crate) const MIN_DICTIONARY_BYTES: u32 = 8192;

/// Dictionary, filters and coding of xz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct XzTuning {
    /// How far matches may reach.
    pub dictionary: Dictionary,
    /// The filters that are tried for each block, besides none; the smallest result is kept.
    pub filters: Choices<Filter>,
    /// Bits of the byte before that literals are predicted from, 0 to 4; 3 if left out.
    pub literal_context_bits: Option<u8>,
    /// Bits of the position that literals are predicted from, 0 to 4; 0 if left out.
    ///
    /// If this and the other two are left out, each filter has values for its instructions.
    pub literal_position_bits: Option<u8>,
    /// Bits of the position that everything else is predicted from, 0 to 4; 2 if left out.
    pub position_bits: Option<u8>,
    /// Whether to search longer than the level does, as `xz --extreme`.
    pub extreme: bool,
}

impl XzTuning {
    pub(crate) fn check(self, block_size: BlockSize) -> Result<(), Error> {
        let compressor = Compressor::Xz;
        for (option, bits) in [
            ("lc", self.literal_context_bits),
            ("lp", self.literal_position_bits),
            ("pb", self.position_bits),
        ] {
            in_range(compressor, option, bits.unwrap_or(0).into(), 0, 4)?;
        }
        let (lc, lp, _) = self.coding_bits(None);
        if lc + lp > 4 {
            return Err(Error::LiteralBits { lc, lp });
        }
        self.dictionary.bytes(block_size).map(|_| ())
    }

    /// `lc`, `lp` and `pb` for blocks that went through a filter.
    ///
    /// Where instructions are aligned, the position says more than the byte before.
    /// Source: mksquashfs's man page; the sums are within what the kernel reads (lc + lp <= 4).
    pub(crate) fn coding_bits(self, filter: Option<Filter>) -> (u8, u8, u8) {
        let (lc, lp, pb) = (
            self.literal_context_bits,
            self.literal_position_bits,
            self.position_bits,
        );
        if lc.or(lp).or(pb).is_some() {
            return (lc.unwrap_or(3), lp.unwrap_or(0), pb.unwrap_or(2));
        }
        match filter {
            None | Some(Filter::X86) => (3, 0, 2),
            Some(Filter::ArmThumb | Filter::RiscV) => (3, 1, 2),
            Some(Filter::PowerPc | Filter::Arm | Filter::Sparc | Filter::Arm64) => (2, 2, 2),
            Some(Filter::Ia64) => (0, 4, 4),
        }
    }
}

/// How far back the matches of xz may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dictionary {
    /// As far as a block.
    #[default]
    Block,
    /// This many bytes: `2^n` or `2^n + 2^(n+1)`, 8 KiB at least and a block at most.
    Bytes(u32),
    /// This many millionths of the block size, with the same rules for the result.
    Millionths(u32),
}

impl Dictionary {
    /// The dictionary in an image with this block size, in bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Dictionary`] if it breaks a rule: of the format if it is not `2^n` or
    /// `2^n + 2^(n+1)`, of the kernel if it does not hold a metadata block.
    pub fn bytes(self, block_size: BlockSize) -> Result<u32, Error> {
        let block_bytes = block_size.bytes();
        let bytes = match self {
            Self::Block => return Ok(largest_block_bytes(block_size)),
            Self::Bytes(bytes) => bytes,
            Self::Millionths(share) => {
                let bytes = u64::from(block_bytes) * u64::from(share) / 1_000_000;
                u32::try_from(bytes).unwrap_or(u32::MAX)
            }
        };
        let storable = matches!(bytes.checked_shr(bytes.trailing_zeros()), Some(1 | 3));
        // Blocks of 4 KiB have the dictionary of a metadata block, like `Block`.
        if storable && (MIN_DICTIONARY_BYTES..=largest_block_bytes(block_size)).contains(&bytes) {
            Ok(bytes)
        } else {
            Err(Error::Dictionary { bytes, block_bytes })
        }
    }
}

/// What turns relative addresses in machine code into absolute ones, which repeat more often.
///
/// The kernel reads those that it was built with: `CONFIG_XZ_DEC_X86` and so on. The bits are those
/// of mksquashfs's `-Xbcj`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// 32- and 64-bit x86.
    X86,
    /// Big-endian PowerPC.
    PowerPc,
    /// Itanium.
    Ia64,
    /// 32-bit Arm.
    Arm,
    /// Arm's Thumb.
    ArmThumb,
    /// Sparc.
    Sparc,
    /// 64-bit Arm; Linux since 6.12, squashfs-tools since 4.7.
    Arm64,
    /// RISC-V; Linux since 6.12, squashfs-tools since 4.7.
    RiscV,
}

impl Choice for Filter {
    const ALL: &'static [Self] = &[
        Self::X86,
        Self::PowerPc,
        Self::Ia64,
        Self::Arm,
        Self::ArmThumb,
        Self::Sparc,
        Self::Arm64,
        Self::RiscV,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::X86 => "x86",
            Self::PowerPc => "powerpc",
            Self::Ia64 => "ia64",
            Self::Arm => "arm",
            Self::ArmThumb => "armthumb",
            Self::Sparc => "sparc",
            Self::Arm64 => "arm64",
            Self::RiscV => "riscv",
        }
    }
}
