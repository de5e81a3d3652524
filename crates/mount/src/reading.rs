//! Reading a range of a file: from the start pack, or from the blocks.

use std::ops::Range;

use coldpress_format::InodeRef;

use crate::content::Content;
use crate::failure::Failure;
use crate::file_map::FileMap;
use crate::file_system::FileSystem;
use crate::node::NodeId;
use crate::start_pack::PackAnswer;

/// Why a range of a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadReason {
    /// A program waits for it.
    Needed,
    /// It may be that nobody does: the kernel reads around what a program needs.
    Around,
}

impl FileSystem {
    /// Bytes of a file: fewer than asked for only at its end, none behind it.
    ///
    /// # Errors
    ///
    /// [`Failure::IsDirectory`]; [`Failure::OtherType`] of what is no file either.
    ///
    /// # Cost
    ///
    /// Decompresses the blocks that are not kept, with [`Helpers`](crate::Helpers) all at once;
    /// copies only what lies in several.
    pub fn read(&self, node: NodeId, offset: u64, len_bytes: u32) -> Result<Content, Failure> {
        self.read_for(node, offset, len_bytes, ReadReason::Needed)
    }

    /// As [`FileSystem::read`], for a reason.
    ///
    /// # Errors
    ///
    /// [`Failure::PutOff`] of what is not needed; else as [`FileSystem::read`].
    pub fn read_for(
        &self,
        node: NodeId,
        offset: u64,
        len_bytes: u32,
        reason: ReadReason,
    ) -> Result<Content, Failure> {
        let at = self.nodes.at(node).ok_or(Failure::Unknown)?;
        let map = self.map(at).map_err(|fault| self.tell(node, fault))?;
        let range = offset..offset.saturating_add(len_bytes.into());
        let content = match self.read_packed(node, at, &map, &range, reason) {
            PackAnswer::Content(content) => content,
            PackAnswer::PutOff => return Err(Failure::PutOff),
            PackAnswer::AsBlocks => {
                let read = self.blocks.read(&self.image, node, &map, range);
                read.map_err(|error| self.tell(node, error.into()))?
            }
        };
        self.reads.note(content.bytes().len());
        Ok(content)
    }

    fn read_packed(
        &self,
        node: NodeId,
        at: InodeRef,
        map: &FileMap,
        range: &Range<u64>,
        reason: ReadReason,
    ) -> PackAnswer {
        let range = range.start..range.end.min(map.size_bytes());
        let Some(reader) = self.start_pack.as_ref().filter(|_| !range.is_empty()) else {
            return PackAnswer::AsBlocks;
        };
        let is_needed = reason == ReadReason::Needed || map.would_go_on(&range);
        let is_at_hand = || self.blocks.has_all(map, range.clone());
        let file = (at, map.file());
        let answer = reader.answer(&self.image, file, &range, is_needed, is_at_hand);
        answer.unwrap_or_else(|error| {
            // The blocks hold the same: nobody is refused.
            self.tell(node, error.into());
            PackAnswer::AsBlocks
        })
    }
}
