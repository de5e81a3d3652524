//! Maps of sparse files: which pieces of a file an archive holds.
//!
//! Five formats: pairs in GNU headers and blocks behind them, three kinds of pax records, of
//! which the last keeps the map in front of the data. In all of them the pieces follow each
//! other without gaps. Source: GNU tar's manual, "Storing Sparse Files".

use super::number;
use crate::content::Segment;

/// Pieces of one file. One takes 24 bytes of memory; a file of 16 GiB with a hole in every second
/// 4 KiB has half as many.
const PIECES_MAX: usize = 1 << 22;

/// The pieces of a file so far.
#[derive(Debug, Default)]
pub(super) struct Map {
    segments: Vec<Segment>,
    /// Bytes of all pieces.
    pub(super) data_bytes: u64,
    /// Where the last piece ends in the file.
    end: u64,
}

impl Map {
    /// Adds a piece behind the others. Pieces without bytes mark the end of a file.
    pub(super) fn push(&mut self, at_bytes: u64, len_bytes: u64) -> Result<(), &'static str> {
        let end = at_bytes.checked_add(len_bytes);
        let end = end.ok_or("a piece ends after byte 2^64")?;
        if at_bytes < self.end {
            return Err("a piece begins before the previous one ends");
        }
        if len_bytes == 0 {
            return Ok(());
        }
        let count = self.segments.len();
        match self.segments.last_mut() {
            Some(last) if self.end == at_bytes => last.len_bytes += len_bytes,
            _ if count >= PIECES_MAX => return Err("it has over 4194304 pieces"),
            _ => self.segments.push(Segment {
                at_bytes,
                offset_bytes: self.data_bytes,
                len_bytes,
            }),
        }
        // Pieces do not overlap, so that their sum is at most the end of the last.
        self.data_bytes += len_bytes;
        self.end = end;
        Ok(())
    }

    /// Adds the pairs of a GNU header or of a block behind one.
    pub(super) fn push_fields(&mut self, pairs: &[u8]) -> Result<(), &'static str> {
        let field = |bytes: &[u8]| number::field(bytes).and_then(|it| u64::try_from(it).ok());
        for pair in pairs.chunks_exact(24) {
            // Unused ones are blank.
            if pair[0] == 0 {
                break;
            }
            let (at, len) = pair.split_at(12);
            let pair = field(at).zip(field(len));
            let (at, len) = pair.ok_or("an offset or a length is not a number")?;
            self.push(at, len)?;
        }
        Ok(())
    }

    /// Adds the numbers of a pax record: offset, length, offset, ...
    pub(super) fn push_numbers(&mut self, numbers: &[u64]) -> Result<(), &'static str> {
        let (pairs, rest) = numbers.as_chunks::<2>();
        if !rest.is_empty() {
            return Err("an offset has no length");
        }
        pairs.iter().try_for_each(|[at, len]| self.push(*at, *len))
    }

    /// The pieces with their places in the archive's data.
    ///
    /// * `size_bytes`: the length of the file.
    /// * `data_bytes`: how many bytes of it the archive holds.
    pub(super) fn finish(
        self,
        size_bytes: u64,
        data_bytes: u64,
    ) -> Result<Vec<Segment>, &'static str> {
        if self.end > size_bytes {
            return Err("a piece ends after the end of the file");
        }
        if self.data_bytes != data_bytes {
            return Err("its pieces are not as long as the data");
        }
        Ok(self.segments)
    }
}

/// The map in front of the data (format 1.0): lines of decimal numbers, first how many pieces
/// follow, then offset and length of each.
#[derive(Debug, Default)]
pub(super) struct Lines {
    digits: Vec<u8>,
    /// Numbers that are still to come; `None` before the first.
    left: Option<u64>,
    offset: Option<u64>,
    pub(super) map: Map,
}

impl Lines {
    /// Whether all lines were there.
    pub(super) fn is_complete(&self) -> bool {
        self.left == Some(0)
    }

    /// Takes lines from a block; what follows the last fills the block.
    pub(super) fn push(&mut self, block: &[u8]) -> Result<(), &'static str> {
        /// Digits of 2^64.
        const DIGITS_MAX: usize = 20;
        for byte in block {
            if self.is_complete() {
                break;
            }
            if *byte != b'\n' {
                self.digits.push(*byte);
                if self.digits.len() > DIGITS_MAX {
                    return Err("a line of it is not a number");
                }
                continue;
            }
            let number = number::decimal(&self.digits).ok_or("a line of it is not a number")?;
            self.digits.clear();
            self.push_number(number)?;
        }
        Ok(())
    }

    fn push_number(&mut self, number: u64) -> Result<(), &'static str> {
        let Some(left) = &mut self.left else {
            self.left = Some(number.checked_mul(2).ok_or("it has over 4194304 pieces")?);
            return Ok(());
        };
        *left -= 1;
        match self.offset.take() {
            None => self.offset = Some(number),
            Some(offset) => self.map.push(offset, number)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(numbers: &[u64]) -> Result<Map, &'static str> {
        let mut map = Map::default();
        map.push_numbers(numbers).map(|()| map)
    }

    #[test]
    fn pieces_follow_each_other_and_end_with_the_file() {
        let map = numbers(&[0, 10, 10, 5, 100, 7, 200, 0]).unwrap();
        let piece = |at_bytes, offset_bytes, len_bytes| Segment {
            at_bytes,
            offset_bytes,
            len_bytes,
        };
        let segments = map.finish(200, 22).unwrap();
        assert_eq!(segments, [piece(0, 0, 15), piece(100, 15, 7)]);
        assert!(numbers(&[0, 10]).unwrap().finish(9, 10).is_err());
        assert!(numbers(&[0, 10]).unwrap().finish(20, 11).is_err());
        assert!(numbers(&[10, 1, 5, 1]).is_err());
        assert!(numbers(&[0, 10, 5, 10]).is_err());
        assert!(numbers(&[u64::MAX, 1]).is_err());
        assert!(numbers(&[1]).is_err());
    }

    #[test]
    fn lines_may_be_cut_anywhere() {
        let text = b"2\n0\n512\n4096\n100\n\0\0\0\0";
        for cut in 0..text.len() {
            let mut lines = Lines::default();
            lines.push(&text[..cut]).unwrap();
            assert_eq!(lines.is_complete(), cut >= 17, "{cut}");
            lines.push(&text[cut..]).unwrap();
            assert!(lines.is_complete());
            assert_eq!(lines.map.finish(5000, 612).unwrap().len(), 2);
        }
        for text in [
            &b"\n"[..],
            b"x\n",
            b"9999999999999999999999",
            b"18446744073709551615\n",
        ] {
            assert!(Lines::default().push(text).is_err());
        }
    }
}
