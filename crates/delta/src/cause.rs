//! Why bytes of a new image are transferred.

use serde::Serialize;

use crate::regions::Region;

/// Why a byte is transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The old image does not have what it holds.
    Content,
    /// The old image has what it holds, compressed to other bytes.
    Encoding,
    /// A tail end that did not change, in a fragment block with others than before.
    Repacked,
    /// A block that the old image has, byte for byte: the updater did not find it again, because it
    /// lies across another boundary of the updater's blocks.
    Moved,
    /// Superblock, inodes, listings and the other tables: they state positions, and change with
    /// every shift.
    Tables,
    /// Padding, and what stands behind the image.
    Padding,
    /// What the updater itself needs: an index, a control file.
    Index,
}

impl Cause {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 7] = [
        Self::Content,
        Self::Encoding,
        Self::Repacked,
        Self::Moved,
        Self::Tables,
        Self::Padding,
        Self::Index,
    ];

    /// In a few words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Content => "content changed",
            Self::Encoding => "compressed otherwise",
            Self::Repacked => "fragment block repacked",
            Self::Moved => "moved across a boundary",
            Self::Tables => "tables",
            Self::Padding => "padding",
            Self::Index => "index",
        }
    }

    /// Whether the old image lacks such bytes, as far as its blocks tell.
    pub(crate) fn is_new(self) -> bool {
        !matches!(self, Self::Moved | Self::Padding | Self::Index)
    }
}

/// Bytes by cause; they add up to what is transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CauseBytes {
    /// [`Cause::Content`].
    pub content_bytes: u64,
    /// [`Cause::Encoding`].
    pub encoding_bytes: u64,
    /// [`Cause::Repacked`].
    pub repacked_bytes: u64,
    /// [`Cause::Moved`].
    pub moved_bytes: u64,
    /// [`Cause::Tables`].
    pub tables_bytes: u64,
    /// [`Cause::Padding`].
    pub padding_bytes: u64,
    /// [`Cause::Index`].
    pub index_bytes: u64,
}

impl CauseBytes {
    /// All bytes of a new image by the reason why they would be transferred.
    pub fn of_regions(regions: &[Region]) -> Self {
        let mut bytes = Self::default();
        for region in regions {
            *bytes.of_mut(region.cause) += region.bytes.end - region.bytes.start;
        }
        bytes
    }

    /// The bytes of one cause.
    pub fn of(&self, cause: Cause) -> u64 {
        let mut copy = *self;
        *copy.of_mut(cause)
    }

    pub(crate) fn of_mut(&mut self, cause: Cause) -> &mut u64 {
        match cause {
            Cause::Content => &mut self.content_bytes,
            Cause::Encoding => &mut self.encoding_bytes,
            Cause::Repacked => &mut self.repacked_bytes,
            Cause::Moved => &mut self.moved_bytes,
            Cause::Tables => &mut self.tables_bytes,
            Cause::Padding => &mut self.padding_bytes,
            Cause::Index => &mut self.index_bytes,
        }
    }
}
