//! Files with holes: which of their bytes an archive holds, in GNU tar's format 1.0.
//!
//! Source: GNU tar's manual, "Sparse Formats".

use std::fmt::Write as _;

use coldpress_format::{BlockSize, File};

use super::header::{Header, NAME_MAX_BYTES, Records, base_name, pad};

/// Holes of fewer bytes are written as zeros: not every reader knows the format.
const HOLES_MIN_BYTES: u64 = 1 << 20;
/// Files with more ranges of data than this are written with their holes, so that the map of a
/// hostile file stays small.
const RANGES_MAX: usize = 1 << 16;

/// The ranges of a file that hold data.
pub(super) struct DataMap {
    /// First byte and length, in order.
    ranges: Vec<(u64, u64)>,
    size_bytes: u64,
}

impl DataMap {
    /// `None` if a file is to be written whole.
    pub(super) fn of(file: &File, block_size: BlockSize) -> Option<Self> {
        let block_bytes = u64::from(block_size.bytes());
        let (mut offset, mut holes_bytes) = (0_u64, 0_u64);
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        let mut data = |start: u64, len: u64| {
            match ranges.last_mut() {
                Some(last) if last.0 + last.1 == start => last.1 += len,
                _ => ranges.push((start, len)),
            }
            ranges.len() <= RANGES_MAX
        };
        for word in &file.blocks {
            let len = file.size_bytes.saturating_sub(offset).min(block_bytes);
            if word.is_sparse() {
                holes_bytes += len;
            } else if !data(offset, len) {
                return None;
            }
            offset += len;
        }
        if offset < file.size_bytes && !data(offset, file.size_bytes - offset) {
            return None;
        }
        let size_bytes = file.size_bytes;
        (holes_bytes >= HOLES_MIN_BYTES).then_some(Self { ranges, size_bytes })
    }

    /// Changes the header of the whole file to that of its data, and returns the map, which stands
    /// before the data.
    pub(super) fn apply(&self, header: &mut Header) -> Vec<u8> {
        let map = self.text();
        let data_bytes: u64 = self.ranges.iter().map(|range| range.1).sum();
        header.size_bytes = map.len() as u64 + data_bytes;
        let mut records = Records::default();
        records.add(b"GNU.sparse.major", b"1");
        records.add(b"GNU.sparse.minor", b"0");
        records.add(b"GNU.sparse.name", &header.name);
        records.add(
            b"GNU.sparse.realsize",
            self.size_bytes.to_string().as_bytes(),
        );
        header.records.append(&records);
        // Where readers that do not know the format put the data. Cut, for Python takes the name of
        // an extended header, which a longer one would need, for that of the file.
        let mut name = b"GNUSparseFile.0/".to_vec();
        name.extend_from_slice(base_name(&header.name));
        name.truncate(NAME_MAX_BYTES);
        header.name = name;
        map
    }

    /// How many ranges, then the first byte and length of each, one number a line. A file that ends
    /// with a hole has a last range without bytes at its end.
    fn text(&self) -> Vec<u8> {
        let end = self.ranges.last().map_or(0, |range| range.0 + range.1);
        let last = (end < self.size_bytes).then_some((self.size_bytes, 0));
        let mut text = format!("{}\n", self.ranges.len() + usize::from(last.is_some()));
        for (start, len) in self.ranges.iter().copied().chain(last) {
            // Writing to a string does not fail.
            let _ = write!(text, "{start}\n{len}\n");
        }
        let mut text = text.into_bytes();
        pad(&mut text);
        text
    }
}

#[cfg(test)]
mod tests {
    use coldpress_format::BlockWord;

    use super::*;

    fn file(words: &[BlockWord], size_bytes: u64) -> File {
        File {
            size_bytes,
            blocks: words.to_vec(),
            ..File::default()
        }
    }

    #[test]
    fn a_map_lists_ranges_of_data_and_the_end() {
        let (hole, data) = (BlockWord::SPARSE, BlockWord::new(9, true));
        let mib = 1 << 20;
        for (words, size_bytes, text) in [
            (&[data, data][..], 2 * mib, None),
            (&[hole, data], 2 * mib, Some("1\n1048576\n1048576\n")),
            (&[data, hole], 2 * mib, Some("2\n0\n1048576\n2097152\n0\n")),
            (
                &[data, data, hole],
                3 * mib,
                Some("2\n0\n2097152\n3145728\n0\n"),
            ),
            (&[hole], mib + 7, Some("1\n1048576\n7\n")),
            (&[hole], mib - 1, None),
        ] {
            let map = DataMap::of(&file(words, size_bytes), BlockSize::MAX);
            let found = map.map(|map| map.text());
            let expected = text.map(|text| {
                let mut bytes = text.as_bytes().to_vec();
                pad(&mut bytes);
                bytes
            });
            assert_eq!(found, expected, "{words:?}");
        }
    }
}
