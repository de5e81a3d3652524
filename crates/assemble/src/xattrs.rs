//! The xattr table: each distinct set of xattrs once.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use coldpress_format::{RawXattrKey, RawXattrValue, XattrId, XattrPrefix, XattrTable};
use coldpress_layout::{NodeId, Order, Tree};

use crate::metadata::{BlockStarts, run};
use crate::sink::{Table, TableSink};
use crate::tables::{LookupTable, lookup};

/// Full name and value.
type Pair = (Vec<u8>, Vec<u8>);
/// Pairs, sorted by name.
type Set = [Pair];

/// The sets of a tree, and which node has which.
pub(crate) struct Xattrs {
    /// For each node the number of its set, from 1; empty if there are no xattrs at all.
    numbers: Vec<Option<NonZeroU32>>,
    /// All pairs, before compression.
    stream: Vec<u8>,
    /// For each set where its pairs begin in `stream` and how many they are.
    sets: Vec<(u64, u32, u32)>,
}

impl Xattrs {
    pub(crate) fn new(tree: &Tree, order: &Order) -> Self {
        let mut xattrs = Self {
            numbers: Vec::new(),
            stream: Vec::new(),
            sets: Vec::new(),
        };
        let mut known: HashMap<&Set, u32> = HashMap::new();
        // Those that nodes share are looked at once, however large.
        let mut shared: HashMap<*const Vec<Pair>, u32> = HashMap::new();
        if tree.nodes.iter().all(|node| node.xattrs.is_empty()) {
            return xattrs;
        }
        xattrs.numbers.resize(tree.nodes.len(), None);
        // The sets of the plan's nodes share blocks.
        let (cold, hot) = order.inodes.split_at(order.cold_inodes);
        for node in hot.iter().chain(cold) {
            let set = &tree.nodes[node.index()].xattrs;
            if set.is_empty() {
                continue;
            }
            let number = *shared
                .entry(Arc::as_ptr(set))
                .or_insert_with(|| *known.entry(set).or_insert_with(|| xattrs.add(set)));
            xattrs.numbers[node.index()] = NonZeroU32::new(number);
        }
        xattrs
    }

    /// The index of a node's set.
    pub(crate) fn index(&self, node: NodeId) -> Option<u32> {
        let number = (*self.numbers.get(node.index())?)?;
        Some(number.get() - 1)
    }

    /// Returns the number of the new set.
    ///
    /// Pairs with short names come first, as stored without their prefix. squashfuse before its
    /// commit 7681672, that of Debian 12, copies each name that it passes on the way to the one it
    /// looks for into a buffer of the latter's length. mksquashfs stores pairs in the order
    /// opposite to that in which the file system lists them, which avoids this only by chance.
    fn add(&mut self, set: &Set) -> u32 {
        use zerocopy::IntoBytes;

        let start = self.stream.len();
        let mut count = 0;
        let pairs = set.iter();
        let mut pairs: Vec<_> = pairs
            .filter_map(|(name, value)| Some((XattrPrefix::split(name)?, value)))
            .collect();
        pairs.sort_by_key(|((_, rest), _)| rest.len());
        for ((prefix, rest), value) in pairs {
            let name_size = u16::try_from(rest.len()).expect("split refuses longer names");
            let key = RawXattrKey {
                kind: (prefix as u16).into(),
                name_size: name_size.into(),
            };
            self.stream.extend(key.as_bytes());
            self.stream.extend(rest);
            let value_size = u32::try_from(value.len()).expect("Linux ends values at 64 KiB");
            self.stream.extend(
                RawXattrValue {
                    value_size: value_size.into(),
                }
                .as_bytes(),
            );
            self.stream.extend(value);
            count += 1;
        }
        let size = u32::try_from(self.stream.len() - start).expect("a set is small");
        self.sets.push((start as u64, count, size));
        u32::try_from(self.sets.len()).expect("no more sets than inodes")
    }

    /// Whether no node has any.
    fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The entries of the table: one for each set.
    ///
    /// * `place`: the start of the metadata block that holds a byte of the stream, and the byte in
    ///   it.
    fn entries(&self, place: impl Fn(u64) -> (u32, u16)) -> Vec<u8> {
        let entry = |(offset, count, size_bytes): &(u64, u32, u32)| {
            let (block_start, within) = place(*offset);
            let pairs = u64::from(block_start) << 16 | u64::from(within);
            XattrId {
                pairs,
                count: *count,
                size_bytes: *size_bytes,
            }
            .write()
        };
        self.sets.iter().flat_map(entry).collect()
    }

    /// The table as it lies in the image from byte `start` on: where its pairs begin, and where the
    /// entries lie. The table's header stands between these and their index.
    pub(crate) fn pack<S: TableSink>(
        &self,
        start: u64,
        sink: &mut S,
    ) -> Result<Option<(u64, LookupTable)>, S::Error> {
        if self.is_empty() {
            return Ok(None);
        }
        let mut pairs = BlockStarts::default();
        sink.take(&run(Table::XattrPairs, &self.stream, &[]), &mut pairs)?;
        sink.place(Table::XattrPairs)?;
        let ids = self.entries(|offset| pairs.place(offset));
        let count = u32::try_from(self.sets.len()).expect("fewer sets than inodes");
        let header = XattrTable {
            pairs_start: start,
            count,
        }
        .write();
        let ids_start = start + pairs.size_bytes();
        let table = lookup(Table::XattrIds, &ids, ids_start, &header, sink)?;
        Ok(Some((start, table)))
    }
}
