//! The first 100 bytes of a database, which say what it is without SQLite, also if somebody has
//! locked it.
//!
//! Source: "Database File Format" of SQLite, section 1.3.

/// Bytes of the header.
pub(super) const HEADER_BYTES: usize = 100;

const MAGIC: &[u8] = b"SQLite format 3\0";

/// What the header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) page_size_bytes: u32,
    /// Pages of the file; `None` if what wrote it last did not count them.
    pub(super) pages: Option<u32>,
    pub(super) free_pages: u32,
    pub(super) is_wal: bool,
    pub(super) encoding: &'static str,
    pub(super) auto_vacuum: &'static str,
    pub(super) user_version: u32,
    pub(super) application_id: u32,
}

impl Header {
    /// Reads it from the beginning of a file.
    ///
    /// # Errors
    ///
    /// The rule that is broken, as a clause.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.is_empty() {
            return Err("it is empty".to_owned());
        }
        if !bytes.starts_with(MAGIC) {
            return Err(
                "byte 0: it does not begin with `SQLite format 3`; it is something else, or \
                encrypted"
                    .to_owned(),
            );
        }
        let bytes: &[u8; HEADER_BYTES] = bytes
            .first_chunk()
            .ok_or_else(|| format!("it has {} bytes, a header has {HEADER_BYTES}", bytes.len()))?;
        let page_size_bytes = match u16_at(bytes, 16) {
            1 => 65_536,
            size => u32::from(size),
        };
        if !is_page_size(page_size_bytes.into()) {
            return Err(format!(
                "byte 16: the page size is {page_size_bytes}, must be a power of two from 512 to \
                65536"
            ));
        }
        let [write_version, read_version] = [18, 19].map(|at| byte_at(bytes, at));
        let is_counted = u32_at(bytes, 24) == u32_at(bytes, 92);
        let pages = u32_at(bytes, 28);
        Ok(Self {
            page_size_bytes,
            pages: Some(pages).filter(|pages| is_counted && *pages > 0),
            free_pages: u32_at(bytes, 36),
            is_wal: write_version == 2 && read_version == 2,
            encoding: match u32_at(bytes, 56) {
                2 => "UTF-16le",
                3 => "UTF-16be",
                // 0 in a database without tables.
                0 | 1 => "UTF-8",
                other => {
                    return Err(format!(
                        "byte 56: the text encoding is {other}, must be 1 to 3"
                    ));
                }
            },
            auto_vacuum: match (u32_at(bytes, 52), u32_at(bytes, 64)) {
                (0, _) => "none",
                (_, 0) => "full",
                _ => "incremental",
            },
            user_version: u32_at(bytes, 60),
            application_id: u32_at(bytes, 68),
        })
    }
}

/// Whether pages may have so many bytes.
pub(super) fn is_page_size(bytes: u64) -> bool {
    (512..=65_536).contains(&bytes) && bytes.is_power_of_two()
}

fn byte_at(bytes: &[u8; HEADER_BYTES], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or_default()
}

fn u16_at(bytes: &[u8; HEADER_BYTES], at: usize) -> u16 {
    u16::from(byte_at(bytes, at)) << 8 | u16::from(byte_at(bytes, at + 1))
}

fn u32_at(bytes: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) << 16 | u32::from(u16_at(bytes, at + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[..16].copy_from_slice(MAGIC);
        bytes[16] = 0x10;
        (bytes[18], bytes[19]) = (2, 2);
        bytes[31] = 9;
        bytes[39] = 4;
        bytes[59] = 1;
        (bytes[63], bytes[71]) = (7, 8);
        bytes
    }

    #[test]
    fn a_header_says_what_a_database_is() {
        let expected = Header {
            page_size_bytes: 4096,
            pages: Some(9),
            free_pages: 4,
            is_wal: true,
            encoding: "UTF-8",
            auto_vacuum: "none",
            user_version: 7,
            application_id: 8,
        };
        assert_eq!(Header::parse(&header()), Ok(expected.clone()));
        let mut other = header();
        (other[16], other[17]) = (0, 1);
        (other[18], other[27]) = (1, 5);
        (other[55], other[59], other[67]) = (3, 3, 1);
        let expected = Header {
            page_size_bytes: 65_536,
            pages: None,
            is_wal: false,
            encoding: "UTF-16be",
            auto_vacuum: "incremental",
            ..expected
        };
        assert_eq!(Header::parse(&other), Ok(expected));
    }

    #[test]
    fn what_is_no_database_is_told_with_the_byte() {
        let with = |at: usize, byte: u8| {
            let mut bytes = header();
            bytes[at] = byte;
            bytes
        };
        for (bytes, rule) in [
            (Vec::new(), "it is empty"),
            (vec![0; 200], "byte 0: "),
            (header()[..99].to_vec(), "it has 99 bytes"),
            (with(16, 0x11), "byte 16: the page size is 4352"),
            (with(16, 0), "byte 16: the page size is 0"),
            (with(59, 4), "byte 56: the text encoding is 4"),
        ] {
            let error = Header::parse(&bytes).unwrap_err();
            assert!(error.starts_with(rule), "{error}");
        }
    }
}
