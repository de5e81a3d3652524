//! The sizes of blocks.

use coldpress_report::typed::parse_size_bytes;

/// Bytes of a data block or a hash block: a power of two from 512 to 524,288.
///
/// The kernel maps only blocks up to the size of its pages; veritysetup formats larger ones, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockBytes(u32);

impl BlockBytes {
    /// The smallest.
    pub const MIN: u64 = 512;
    /// The largest that veritysetup takes.
    pub const MAX: u64 = 512 << 10;

    /// `None` if this is no size of a block.
    pub fn new(bytes: u64) -> Option<Self> {
        let is_one = bytes.is_power_of_two() && (Self::MIN..=Self::MAX).contains(&bytes);
        let bytes = u32::try_from(bytes).ok()?;
        is_one.then_some(Self(bytes))
    }

    /// How many bytes.
    pub fn bytes(self) -> u64 {
        self.0.into()
    }

    pub(crate) fn len(self) -> usize {
        self.0 as usize
    }

    /// Reads a count of bytes, such as `4096` or `4K`.
    ///
    /// # Errors
    ///
    /// If it is none, or no block has this size.
    pub fn parse(text: &str) -> Result<Self, String> {
        let rule = "must be a power of two from 512 to 524288";
        Self::new(parse_size_bytes(text)?).ok_or_else(|| rule.to_owned())
    }

    /// Every size, from the smallest to the largest.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..).map_while(|shift| Self::new(Self::MIN << shift))
    }
}

impl Default for BlockBytes {
    /// 4 KiB, as veritysetup: a page of most kernels.
    fn default() -> Self {
        Self(4096)
    }
}
