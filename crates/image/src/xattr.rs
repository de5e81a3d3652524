//! Extended attributes: the sets that inodes name by index.

use coldpress_format::{Corrupt, Inode, Part, Rule, XattrId, XattrPrefix, XattrTable};

use crate::error::Error;
use crate::image::Image;
use crate::metadata::Stream;
use crate::region::Region;
use crate::store::Store;
use crate::table::Table;

/// The most bytes of one value: `XATTR_SIZE_MAX` of Linux.
const VALUE_MAX_BYTES: u32 = 65_536;
/// The most bytes of names and values of one set. Pairs may share a value, so the table's own size
/// bounds nothing; this is 256 values of the largest size, far over what a file system stores.
const SET_MAX_BYTES: usize = 16 << 20;

/// The full name of an extended attribute, such as `user.mime_type`, and its value.
pub type Xattr = (Vec<u8>, Vec<u8>);

/// The pairs and the table of the sets.
pub(crate) struct XattrSets {
    table: Table,
    pairs: Region,
}

impl XattrSets {
    /// Reads the header and the index of the xattr id table.
    ///
    /// * `rest`: from the header to the end of the image.
    /// * `low`: first image byte at which the pairs may lie.
    pub(crate) fn open(store: &Store, rest: Region, low: u64) -> Result<Self, Error> {
        let header_bytes = XattrTable::SIZE as u64;
        let start = rest.check(Part::XattrTable, rest.start, header_bytes)?;
        let mut header = [0; XattrTable::SIZE];
        store.read_exact(&mut header, rest.start)?;
        let header = XattrTable::parse(&header, rest.start)?;
        let before = Region {
            start: low,
            end: rest.start,
        };
        before.check(Part::XattrTable, header.pairs_start, 0)?;
        // Between the blocks and their index stands the header.
        let blocks = Region {
            start: header.pairs_start,
            end: rest.start,
        };
        let end = rest.end;
        let entries = (header.count.into(), XattrId::SIZE as u64);
        let index = Region { start, end };
        let table = Table::open(store, Part::XattrTable, blocks, index, entries)?;
        let pairs = Region {
            start: header.pairs_start,
            end: table.start(),
        };
        Ok(Self { table, pairs })
    }

    /// The table of the sets.
    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// Image bytes of the pairs.
    pub(crate) fn pairs(&self) -> Region {
        self.pairs
    }

    /// Image byte of the first pair: the end of the id table.
    pub(crate) fn start(&self) -> u64 {
        self.pairs.start
    }

    /// How many sets there are.
    pub(crate) fn count(&self) -> u64 {
        self.table.count()
    }

    /// Image byte behind the index.
    pub(crate) fn index_end(&self) -> u64 {
        self.table.index_end()
    }

    fn stream<'a>(&self, store: &'a Store, reference: u64) -> Result<Stream<'a>, Error> {
        let offset = u16::try_from(reference & 0xffff).unwrap_or(u16::MAX);
        Stream::open(store, self.pairs, Part::XattrTable, reference >> 16, offset)
    }

    /// The entry of a set, and the image byte of the metadata block that holds it.
    pub(crate) fn id(&self, store: &Store, index: u32) -> Result<(XattrId, u64), Error> {
        let found = self.table.entry::<{ XattrId::SIZE }>(store, index.into())?;
        let Some((bytes, start)) = found else {
            return Err(unknown(index, self.count(), self.table.start()).into());
        };
        Ok((XattrId::parse(&bytes, start)?, start))
    }

    /// Reads one set.
    pub(crate) fn read(&self, store: &Store, index: u32) -> Result<Vec<Xattr>, Error> {
        let mut pairs = Vec::new();
        self.for_each_pair(store, index, &mut |pair| {
            pairs.push((pair.name, pair.value));
        })?;
        Ok(pairs)
    }

    /// Hands the pairs of a set to `visit`.
    pub(crate) fn for_each_pair(
        &self,
        store: &Store,
        index: u32,
        visit: &mut dyn FnMut(RawPair),
    ) -> Result<XattrId, Error> {
        let (set, start) = self.id(store, index)?;
        let mut stream = self.stream(store, set.pairs)?;
        let mut left = SET_MAX_BYTES;
        for _ in 0..set.count {
            let pair = self.read_pair(store, &mut stream)?;
            let len = pair.name.len() + pair.value.len();
            left = left.checked_sub(len).ok_or_else(|| {
                let rule = Rule::OutOfRange {
                    field: "bytes of an xattr set",
                    found: (SET_MAX_BYTES - left + len) as u64,
                    low: 0,
                    high: SET_MAX_BYTES as u64,
                };
                Corrupt::new(Part::XattrTable, start, rule)
            })?;
            visit(pair);
        }
        Ok(set)
    }

    fn read_pair(&self, store: &Store, stream: &mut Stream) -> Result<RawPair, Error> {
        let start = stream.block_start();
        let place = stream.place();
        let fail = |rule| Corrupt::new(Part::XattrTable, start, rule);
        let kind = u16::from_le_bytes(stream.take()?);
        let name_len = u16::from_le_bytes(stream.take()?);
        let number = kind & !XattrPrefix::OUT_OF_LINE;
        let Some(prefix) = XattrPrefix::from_number(number) else {
            let (field, found) = ("xattr prefix", number.into());
            return Err(fail(Rule::Unsupported { field, found }).into());
        };
        let mut name = prefix.text().to_vec();
        name.extend(stream.read_vec(name_len.into())?);
        if name_len == 0 || name.contains(&0) {
            return Err(fail(Rule::BadName).into());
        }
        let before_value = 4 + u64::from(name_len);
        if kind & XattrPrefix::OUT_OF_LINE == 0 {
            let value = read_value(stream)?;
            return Ok(RawPair {
                place,
                len_bytes: before_value + 4 + value.len() as u64,
                name,
                value,
                value_place: None,
            });
        }
        // A reference of 8 bytes stands in the value's place; what it points to is a value
        // and never another reference.
        let size = u32::from_le_bytes(stream.take()?);
        if size != 8 {
            let (field, found, expected) = ("size of a value's reference", size.into(), 8);
            let rule = Rule::Mismatch {
                field,
                found,
                expected,
            };
            return Err(fail(rule).into());
        }
        let reference = u64::from_le_bytes(stream.take()?);
        let mut elsewhere = self.stream(store, reference)?;
        Ok(RawPair {
            place,
            len_bytes: before_value + 4 + 8,
            name,
            value_place: Some(elsewhere.place()),
            value: read_value(&mut elsewhere)?,
        })
    }
}

/// A pair and how it lies in the table.
pub(crate) struct RawPair {
    /// Image byte of the metadata block in which it begins, and the offset there.
    pub(crate) place: (u64, u64),
    /// Bytes that it takes there before compression, without a value that lies elsewhere.
    pub(crate) len_bytes: u64,
    /// The full name.
    pub(crate) name: Vec<u8>,
    pub(crate) value: Vec<u8>,
    /// Where the value lies if it is elsewhere.
    pub(crate) value_place: Option<(u64, u64)>,
}

fn read_value(stream: &mut Stream) -> Result<Vec<u8>, Error> {
    let start = stream.block_start();
    let size = u32::from_le_bytes(stream.take()?);
    if size > VALUE_MAX_BYTES {
        let rule = Rule::OutOfRange {
            field: "xattr value size",
            found: size.into(),
            low: 0,
            high: VALUE_MAX_BYTES.into(),
        };
        return Err(Corrupt::new(Part::XattrTable, start, rule).into());
    }
    stream.read_vec(size.into())
}

fn unknown(index: u32, count: u64, start: u64) -> Corrupt {
    let rule = Rule::OutOfRange {
        field: "xattr index",
        found: index.into(),
        low: 0,
        high: count.saturating_sub(1),
    };
    Corrupt::new(Part::XattrTable, start, rule)
}

impl Image {
    /// The extended attributes of an inode, in the order in which the image stores them.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the set is not there or damaged, or larger than 16 MiB;
    /// [`Error::Read`].
    ///
    /// # Cost
    ///
    /// Nothing for an inode without; else two metadata blocks and one for each value out of line, if they
    /// are not cached.
    pub fn xattrs(&self, inode: &Inode) -> Result<Vec<Xattr>, Error> {
        match inode.xattr {
            None => Ok(Vec::new()),
            Some(index) => self.xattr_set(index),
        }
    }

    /// One set of extended attributes, by its index in the xattr id table.
    pub(crate) fn xattr_set(&self, index: u32) -> Result<Vec<Xattr>, Error> {
        match &self.xattr_sets {
            Some(sets) => sets.read(&self.store, index),
            None => Err(unknown(index, 0, self.superblock().bytes_used).into()),
        }
    }
}
