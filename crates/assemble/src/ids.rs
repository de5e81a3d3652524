//! The id table: owners and groups, each once.

use std::collections::HashMap;

use coldpress_layout::{Node, Order, Tree};

use crate::error::TooMany;

/// Owners and groups in the order in which inodes first name them.
pub(crate) struct Ids {
    ids: Vec<u32>,
    indexes: HashMap<u32, u16>,
}

impl Ids {
    pub(crate) fn new(tree: &Tree, order: &Order) -> Result<Self, TooMany> {
        let mut table = Self {
            ids: Vec::new(),
            indexes: HashMap::new(),
        };
        for node in &order.inodes {
            let Node { uid, gid, .. } = tree.nodes[node.index()];
            table.add(uid)?;
            table.add(gid)?;
        }
        Ok(table)
    }

    /// The number of ids, as the superblock holds it.
    pub(crate) fn count(&self) -> u16 {
        u16::try_from(self.ids.len()).expect("checked when the id was added")
    }

    /// The table's entries.
    pub(crate) fn entries(&self) -> Vec<u8> {
        self.ids.iter().flat_map(|id| id.to_le_bytes()).collect()
    }

    /// The place of an id of the tree in the table.
    pub(crate) fn index(&self, id: u32) -> u16 {
        self.indexes[&id]
    }

    fn add(&mut self, id: u32) -> Result<(), TooMany> {
        if self.indexes.contains_key(&id) {
            return Ok(());
        }
        let found = self.ids.len() as u64 + 1;
        // The count is a 16-bit field of the superblock.
        let limit = u64::from(u16::MAX);
        if found > limit {
            return Err(TooMany {
                what: "different owners and groups",
                found,
                limit,
            });
        }
        self.indexes.insert(id, self.count());
        self.ids.push(id);
        Ok(())
    }
}
