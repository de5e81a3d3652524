//! Extended attributes: the sets that inodes name by index.

use std::sync::Arc;

use coldpress_format::{Corrupt, Inode, Part, Rule, XattrId, XattrPrefix, XattrTable};

use crate::error::Error;
use crate::image::Image;
use crate::metadata::Stream;
use crate::region::Region;
use crate::slots::Slots;
use crate::store::Store;
use crate::table::Table;

/// The most bytes of one value: `XATTR_SIZE_MAX` of Linux.
const VALUE_MAX_BYTES: u32 = 65_536;
/// The most bytes of names and values of one set that may be more than its table can hold, since
/// pairs may share a value: 256 values of the largest size, far over what a file system stores.
const SET_MAX_BYTES: u64 = 16 << 20;

/// Sets of up to so many bytes are kept in many slots, larger ones in few: 1 MiB and 32 MiB at
/// most. Labels take some 50 bytes, and their sets take turns from file to file.
const SMALL_SET_BYTES: u64 = 4 << 10;
const SMALL_SLOTS: usize = 256;
const LARGE_SLOTS: usize = 2;

/// The full name of an extended attribute, such as `user.mime_type`, and its value.
pub type Xattr = (Vec<u8>, Vec<u8>);

/// The pairs and the table of the sets.
pub(crate) struct XattrSets {
    table: Table,
    pairs: Region,
    small: Slots<Vec<Xattr>>,
    large: Slots<Vec<Xattr>>,
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
        Ok(Self {
            table,
            pairs,
            small: Slots::new(SMALL_SLOTS),
            large: Slots::new(LARGE_SLOTS),
        })
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

    /// Reads one set, or hands out the one that is kept.
    pub(crate) fn read(&self, store: &Store, index: u32) -> Result<Arc<Vec<Xattr>>, Error> {
        let key = index.into();
        if let Some(set) = self.small.get(key).or_else(|| self.large.get(key)) {
            return Ok(set);
        }
        let mut pairs = Vec::new();
        self.for_each_pair(store, index, &mut |pair| {
            pairs.push((pair.name, pair.value));
        })?;
        let bytes = memory_bytes(&pairs);
        Ok(if bytes <= SMALL_SET_BYTES {
            self.small.put(key, pairs)
        } else if bytes <= SET_MAX_BYTES {
            self.large.put(key, pairs)
        } else {
            Arc::new(pairs)
        })
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
        let (mut bytes, mut high) = (0, SET_MAX_BYTES);
        for _ in 0..set.count {
            let pair = self.read_pair(store, &mut stream)?;
            bytes += (pair.name.len() + pair.value.len()) as u64;
            if bytes > high && high == SET_MAX_BYTES {
                high = high.max(store.metadata_bytes_max(self.pairs)?);
            }
            let field = "bytes of an xattr set";
            Corrupt::check_range(Part::XattrTable, start, field, bytes, 0..=high)?;
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

/// What a set takes in memory.
pub(crate) fn memory_bytes(set: &[Xattr]) -> u64 {
    let pair = |(name, value): &Xattr| size_of::<Xattr>() + name.len() + value.len();
    set.iter().map(pair).sum::<usize>() as u64
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
    /// [`Error::Corrupt`] if the set is not there or damaged, or larger than 16 MiB and than its
    /// table; [`Error::Read`].
    ///
    /// # Cost
    ///
    /// Nothing for an inode without, or with one of the sets that were read last; else two metadata
    /// blocks and one for each value out of line, if they are not cached.
    pub fn xattrs(&self, inode: &Inode) -> Result<Arc<Vec<Xattr>>, Error> {
        match inode.xattr {
            None => Ok(Arc::default()),
            Some(index) => self.xattr_set(index),
        }
    }

    /// One set of extended attributes, by its index in the xattr id table.
    pub(crate) fn xattr_set(&self, index: u32) -> Result<Arc<Vec<Xattr>>, Error> {
        match &self.xattr_sets {
            Some(sets) => sets.read(&self.store, index),
            None => Err(unknown(index, 0, self.superblock().bytes_used).into()),
        }
    }
}
