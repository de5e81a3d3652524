//! Where everything lies: from image bytes to blocks, and from pages of files to blocks.

mod targets;

use std::collections::HashMap;
use std::ops::ControlFlow;

use coldpress_format::{BlockSize, File};
use coldpress_image::{DumpArea, DumpOptions, Error, Image, PathBudget, ReadAt, dump, walk};
use coldpress_trace::PAGE_SIZE_BYTES;

/// Stands for a block of zeros, which lies nowhere.
const NOWHERE: u64 = u64::MAX;

/// The blocks and files of an image.
#[derive(Debug)]
pub struct ImageMap {
    /// By position.
    blocks: Vec<Block>,
    files: Vec<MappedFile>,
    by_number: HashMap<u32, usize>,
    /// Image byte at which each fragment block begins.
    fragments: Vec<u64>,
    block_size: BlockSize,
    image_bytes: u64,
}

/// A block of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Image byte at which it begins, with its header.
    pub start: u64,
    /// Bytes in the image.
    pub size_bytes: u64,
    /// Bytes that it holds.
    pub len_bytes: u64,
    /// What it is.
    pub kind: BlockKind,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// A data block.
    Data {
        /// The file, the first of those that share it.
        file: usize,
        /// Its index in the block list.
        index: u64,
    },
    /// The fragment block with this index.
    Fragment(u32),
    /// A metadata block, the index of a table or the superblock.
    Metadata(DumpArea),
}

/// A regular file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedFile {
    /// Its path, the first of several.
    pub path: Box<[u8]>,
    /// Inode number.
    pub number: u32,
    /// Length.
    pub size_bytes: u64,
    /// Image byte at which each data block begins.
    starts: Box<[u64]>,
    /// Index of the fragment block with its tail end.
    tail: Option<u32>,
}

impl MappedFile {
    /// Pages that it has.
    pub fn page_count(&self) -> u64 {
        self.size_bytes.div_ceil(PAGE_SIZE_BYTES)
    }
}

impl Block {
    /// The image byte behind it.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.size_bytes)
    }

    /// Whether it is neither data nor a fragment block.
    pub fn is_metadata(&self) -> bool {
        matches!(self.kind, BlockKind::Metadata(_))
    }
}

impl ImageMap {
    /// Reads all metadata and notes where everything lies.
    ///
    /// * `bytes`: those that `image` was opened from.
    /// * `poll`: asked from time to time; `Break` ends it.
    ///
    /// # Errors
    ///
    /// As [`walk`] and [`dump`]; [`Error::Corrupt`] if the paths take over 1 GiB.
    ///
    /// # Cost
    ///
    /// Reads all metadata, not the data; holds a path for each file and some 50 bytes for each
    /// block.
    pub fn new(
        image: &Image,
        bytes: Box<dyn ReadAt>,
        poll: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Self, Error> {
        let superblock = image.superblock();
        let mut map = Self {
            blocks: Vec::new(),
            files: Vec::new(),
            by_number: HashMap::new(),
            fragments: image.fragments().iter().map(|block| block.start).collect(),
            block_size: superblock.block_size,
            image_bytes: superblock.bytes_used,
        };
        let mut fragment_lens = vec![0; map.fragments.len()];
        map.note_files(image, &mut fragment_lens)?;
        for ((index, fragment), len_bytes) in (0..).zip(image.fragments()).zip(fragment_lens) {
            // One that could not be read.
            if fragment.size.is_sparse() {
                continue;
            }
            map.blocks.push(Block {
                start: fragment.start,
                size_bytes: fragment.size.size_bytes().into(),
                len_bytes,
                kind: BlockKind::Fragment(index),
            });
        }
        map.note_metadata(bytes, poll)?;
        // Stable: the first of several files that share a block owns it.
        map.blocks.sort_by_key(|block| block.start);
        map.blocks
            .dedup_by_key(|block| (block.start, block.size_bytes));
        Ok(map)
    }

    /// Notes every regular file with its data blocks, and how much each fragment block holds.
    fn note_files(&mut self, image: &Image, fragment_lens: &mut [u64]) -> Result<(), Error> {
        let mut paths = PathBudget::default();
        walk(image, &mut |visited| {
            let number = visited.inode.number;
            if self.by_number.contains_key(&number) {
                return Ok(());
            }
            let Some(file) = &visited.file(image)? else {
                return Ok(());
            };
            paths.take(visited.path, file.start)?;
            if let Some(tail) = file.tail
                && let Some(len) = usize::try_from(tail.fragment)
                    .ok()
                    .and_then(|index| fragment_lens.get_mut(index))
            {
                let tail_bytes = self.block_size.tail_bytes(file.size_bytes);
                *len = (*len).max(u64::from(tail.offset) + u64::from(tail_bytes));
            }
            let index = self.files.len();
            self.by_number.insert(number, index);
            let starts = self.note_data(index, file);
            self.files.push(MappedFile {
                path: visited.path.into(),
                number,
                size_bytes: file.size_bytes,
                starts,
                tail: file.tail.map(|tail| tail.fragment),
            });
            Ok(())
        })
    }

    /// Notes the data blocks of a file; returns where each begins.
    fn note_data(&mut self, owner: usize, file: &File) -> Box<[u64]> {
        let block_bytes = self.block_bytes();
        let mut start = file.start;
        let blocks = (0_u64..).zip(&file.blocks).map(|(index, word)| {
            if word.is_sparse() {
                return NOWHERE;
            }
            let offset = index.saturating_mul(block_bytes);
            let block = Block {
                start,
                size_bytes: word.size_bytes().into(),
                len_bytes: file.size_bytes.saturating_sub(offset).min(block_bytes),
                kind: BlockKind::Data { file: owner, index },
            };
            start = block.end();
            self.blocks.push(block);
            block.start
        });
        blocks.collect()
    }

    fn note_metadata(
        &mut self,
        bytes: Box<dyn ReadAt>,
        poll: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let no_metadata = [DumpArea::DataArea, DumpArea::StartPack, DumpArea::Padding];
        let is_metadata = |area: &DumpArea| !no_metadata.contains(area);
        let options = DumpOptions {
            areas: DumpArea::ALL.into_iter().filter(is_metadata).collect(),
            paths: Vec::new(),
        };
        let mut visit = |range: coldpress_image::DumpRange| {
            self.blocks.push(Block {
                start: range.start,
                size_bytes: range.len_bytes,
                len_bytes: range
                    .content
                    .map_or(range.len_bytes, |(_, len_bytes)| len_bytes),
                kind: BlockKind::Metadata(range.area),
            });
            ControlFlow::Continue(())
        };
        // An image that is mounted has its tables; what else is wrong with it is told by `check`.
        dump(bytes, &options, &mut visit, poll).map(drop)
    }

    /// All blocks, by position.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// All regular files.
    pub fn files(&self) -> &[MappedFile] {
        &self.files
    }

    /// Bytes of the image.
    pub fn image_bytes(&self) -> u64 {
        self.image_bytes
    }

    /// What a data block holds, but for the last of a file.
    pub fn block_bytes(&self) -> u64 {
        self.block_size.bytes().into()
    }

    /// Pages of a data block.
    pub(crate) fn block_pages(&self) -> u64 {
        self.block_bytes() / PAGE_SIZE_BYTES
    }

    /// The file with this inode number.
    pub fn file_of_inode(&self, number: u64) -> Option<usize> {
        let number = u32::try_from(number).ok()?;
        self.by_number.get(&number).copied()
    }

    /// The block that holds a page of a file; none for holes and what lies past the end.
    ///
    /// # Cost
    ///
    /// A binary search.
    pub fn block_of_page(&self, file: usize, page: u64) -> Option<usize> {
        let file = self.files.get(file)?;
        if page >= file.page_count() {
            return None;
        }
        let index = usize::try_from(page / self.block_pages()).ok()?;
        let start = match file.starts.get(index) {
            Some(&NOWHERE) => return None,
            Some(&start) => start,
            None => *self.fragments.get(usize::try_from(file.tail?).ok()?)?,
        };
        self.blocks
            .binary_search_by_key(&start, |block| block.start)
            .ok()
    }

    /// Whether a block holds a part of a file.
    pub(crate) fn holds(&self, block: usize, file: usize) -> bool {
        let page = match self.blocks.get(block).map(|block| block.kind) {
            Some(BlockKind::Data { index, .. }) => self.pages_of(index).0,
            Some(BlockKind::Fragment(_)) => {
                let last = self.files.get(file).map(MappedFile::page_count);
                last.unwrap_or(0).saturating_sub(1)
            }
            Some(BlockKind::Metadata(_)) | None => return false,
        };
        self.block_of_page(file, page) == Some(block)
    }

    /// First and last page of a data block in its file.
    pub(crate) fn pages_of(&self, index: u64) -> (u64, u64) {
        let first = index.saturating_mul(self.block_pages());
        (first, first.saturating_add(self.block_pages() - 1))
    }
}

#[cfg(test)]
pub(crate) mod tests;
