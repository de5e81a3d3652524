//! A plan: the wanted order of the working set, by path.

use crate::block_encoding::EncodingRule;

/// What should stand where, for a part of a tree. What it does not name follows behind it, in an
/// order that depends on the tree alone ([`order`](crate::order())).
///
/// Paths are absolute, raw bytes. The text file is described in docs/plan-format.md.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The order of the data area.
    pub data: Vec<PlanItem>,
    /// The order of the inode table.
    pub inodes: Vec<Vec<u8>>,
    /// The order of listings in the directory table.
    pub directories: Vec<Vec<u8>>,
    /// How blocks are packed, also of files that `data` does not name. The first rule that names a
    /// block counts.
    pub encoding: Vec<EncodingRule>,
}

/// Something in the data area that is read as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanItem {
    /// The full data blocks of one file; and its tail end, if that is in no fragment block.
    Blocks(Vec<u8>),
    /// The files whose tail ends share one fragment block.
    Fragment(Vec<Vec<u8>>),
}
