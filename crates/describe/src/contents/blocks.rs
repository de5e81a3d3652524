//! The data and fragment blocks of an image, and what files share.

use coldpress_format::{BlockSize, File, Fragment};
use coldpress_report::units::{bytes, count};
use serde::Serialize;

use super::survey::Shares;

/// Blocks, each once.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Blocks {
    compressed: u64,
    /// Those that did not become smaller.
    stored: u64,
    sparse: u64,
    /// Image bytes of data blocks.
    data_size_bytes: u64,
    /// Content that is zeros and takes no bytes.
    sparse_bytes: u64,
    fragments: u64,
    stored_fragments: u64,
    /// Image bytes of fragment blocks.
    fragment_size_bytes: u64,
    tails: u64,
    /// Bytes of all tail ends.
    tail_bytes: u64,
    /// Files all of whose data another has too.
    duplicate_files: u64,
    /// Content that is not stored again for them.
    duplicate_bytes: u64,
}

impl Blocks {
    /// Returns the image bytes of data blocks that a file adds.
    pub(crate) fn add(&mut self, file: &File, block_size: BlockSize, shares: Shares) -> u64 {
        let has_blocks = file.blocks.iter().any(|word| !word.is_sparse());
        let is_duplicate = match (has_blocks, file.tail) {
            (true, Some(_)) => shares.blocks && shares.tail,
            (true, None) => shares.blocks,
            (false, _) => shares.tail,
        };
        if is_duplicate {
            self.duplicate_files += 1;
            self.duplicate_bytes = self.duplicate_bytes.saturating_add(file.size_bytes);
        }
        if file.tail.is_some() && !shares.tail {
            self.tails += 1;
            self.tail_bytes += u64::from(block_size.tail_bytes(file.size_bytes));
        }
        // What the inode says of them is less by one if there is nothing else: not 0 blocks.
        let (mut size_bytes, mut left_bytes) = (0_u64, file.size_bytes);
        for word in &file.blocks {
            let len = left_bytes.min(block_size.bytes().into());
            left_bytes -= len;
            if word.is_sparse() {
                self.sparse += 1;
                self.sparse_bytes = self.sparse_bytes.saturating_add(len);
            } else if !shares.blocks {
                size_bytes = size_bytes.saturating_add(word.size_bytes().into());
                if word.is_compressed() {
                    self.compressed += 1;
                } else {
                    self.stored += 1;
                }
            }
        }
        self.data_size_bytes = self.data_size_bytes.saturating_add(size_bytes);
        size_bytes
    }

    pub(crate) fn add_fragments(&mut self, fragments: &[Fragment]) {
        for fragment in fragments {
            self.fragments += 1;
            self.stored_fragments += u64::from(!fragment.size.is_compressed());
            self.fragment_size_bytes += u64::from(fragment.size.size_bytes());
        }
    }

    /// * `block_bytes`: the block size.
    pub(crate) fn rows(&self, block_bytes: u32) -> Vec<(&'static str, String)> {
        let mut rows = vec![
            (
                "data blocks",
                format!(
                    "{} compressed, {} stored, {}",
                    count(self.compressed),
                    count(self.stored),
                    bytes(self.data_size_bytes)
                ),
            ),
            ("fragment blocks", self.fragments_text(block_bytes)),
        ];
        if self.sparse > 0 {
            let text = format!("{}, {}", count(self.sparse), bytes(self.sparse_bytes));
            rows.push(("sparse blocks", text));
        }
        if self.duplicate_files > 0 {
            let (files, saved) = (count(self.duplicate_files), bytes(self.duplicate_bytes));
            rows.push((
                "duplicates",
                format!("{files} files, {saved} not stored again"),
            ));
        }
        rows
    }

    /// `12, 1.20 MiB; 340 tail ends, 0.98 filled, 28.3 in each`
    fn fragments_text(&self, block_bytes: u32) -> String {
        if self.fragments == 0 {
            return "0".to_owned();
        }
        #[expect(clippy::cast_precision_loss, reason = "three digits are shown of it")]
        let (fragments, tails, tail_bytes) = (
            self.fragments as f64,
            self.tails as f64,
            self.tail_bytes as f64,
        );
        format!(
            "{}, {}; {} tail ends, {:.1} in each, {:.0} % filled",
            count(self.fragments),
            bytes(self.fragment_size_bytes),
            count(self.tails),
            tails / fragments,
            100.0 * tail_bytes / (fragments * f64::from(block_bytes)),
        )
    }
}
