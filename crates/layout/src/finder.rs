//! Finding the nodes of many paths.
//!
//! A plan may name every node of a large tree, in any order. A binary search for each component
//! touches a dozen names all over the memory, so the entries are hashed once instead.

use crate::plan::{Plan, PlanItem};
use crate::tree::{NodeId, Tree, descend_by};

/// A plan that names fewer than one in so many nodes is not worth a table.
const NODES_PER_PATH_MAX: usize = 8;
/// Slots that are looked at for one name. Trees may be made to collide: what finds no slot among
/// these is left to the binary search.
const PROBES_MAX: usize = 16;
const EMPTY: (u32, u32) = (u32::MAX, u32::MAX);

/// A tree and, if it pays, a table of its entries: 12 bytes for each.
#[derive(Debug)]
pub(crate) struct Finder<'tree> {
    tree: &'tree Tree,
    /// Directories and places in their entries, by hash; open addressing.
    slots: Vec<(u32, u32)>,
    /// Whether every entry has a slot.
    is_complete: bool,
}

impl<'tree> Finder<'tree> {
    /// Prepares for the paths of a plan.
    ///
    /// # Cost
    ///
    /// O(n) in the entries of the tree, nothing if the plan is small.
    pub(crate) fn new(tree: &'tree Tree, plan: &Plan) -> Self {
        let mut finder = Self {
            tree,
            slots: Vec::new(),
            is_complete: false,
        };
        if path_count(plan).saturating_mul(NODES_PER_PATH_MAX) >= tree.nodes.len() {
            finder.fill();
        }
        finder
    }

    /// The node at an absolute path, as [`Tree::find`] has it.
    pub(crate) fn find(&self, path: &[u8]) -> Option<NodeId> {
        let child = |directory, name: &[u8]| self.child(directory, name);
        let (reached, id) = descend_by(path, child).last()?;
        (reached.len() == path.len()).then_some(id)
    }

    /// The node that has the data of a regular file, and its length in bytes.
    pub(crate) fn file(&self, path: &[u8]) -> Option<(NodeId, u64)> {
        let id = self.find(path)?;
        Some((self.tree.data_of(id), self.tree.file_size(id)?))
    }

    fn fill(&mut self) {
        let entries = self.tree.nodes.iter().zip((0..).map(NodeId));
        let count: usize = entries
            .clone()
            .map(|(_, id)| self.tree.entries(id).len())
            .sum();
        self.slots = vec![EMPTY; count + count / 2 + PROBES_MAX];
        self.is_complete = true;
        for (_, directory) in entries {
            for ((name, _), entry) in self.tree.entries(directory).iter().zip(0..) {
                let begin = self.begin(directory, name);
                let probes = &mut self.slots[begin..begin + PROBES_MAX];
                match probes.iter_mut().find(|slot| **slot == EMPTY) {
                    Some(slot) => *slot = (directory.0, entry),
                    None => self.is_complete = false,
                }
            }
        }
    }

    fn child(&self, directory: NodeId, name: &[u8]) -> Option<NodeId> {
        if self.slots.is_empty() {
            return self.tree.child(directory, name);
        }
        let begin = self.begin(directory, name);
        for slot in &self.slots[begin..begin + PROBES_MAX] {
            if *slot == EMPTY {
                return None;
            }
            if slot.0 == directory.0 {
                let place = NodeId(slot.1).index();
                let (found, id) = &self.tree.entries(directory)[place];
                if found == name {
                    return Some(*id);
                }
            }
        }
        if self.is_complete {
            return None;
        }
        self.tree.child(directory, name)
    }

    /// The first slot that may have an entry.
    fn begin(&self, directory: NodeId, name: &[u8]) -> usize {
        let begins = (self.slots.len() - PROBES_MAX + 1) as u64;
        let scaled = (u128::from(hash(directory, name)) * u128::from(begins)) >> 64;
        usize::try_from(scaled).expect("less than the number of slots")
    }
}

fn path_count(plan: &Plan) -> usize {
    let of_item = |item: &PlanItem| match item {
        PlanItem::Blocks(_) => 1,
        PlanItem::Fragment(paths) => paths.len(),
    };
    let data: usize = plan.data.iter().map(of_item).sum();
    data + plan.inodes.len() + plan.directories.len() + plan.encoding.len()
}

/// Eight bytes at a time, by multiplying and folding; it need not resist an attacker.
fn hash(directory: NodeId, name: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15; // 2^64 / golden ratio
    let mix = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * u128::from(ODD);
        let bytes = product.to_le_bytes();
        let (low, high) = bytes.split_at(8);
        word_of(low) ^ word_of(high)
    };
    let (words, rest) = name.as_chunks::<8>();
    let begun = mix(u64::from(directory.0) + 1, name.len() as u64);
    let hash = words
        .iter()
        .fold(begun, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    mix(mix(hash, word_of(rest)), ODD)
}

/// Up to eight bytes as a number.
fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::tree;

    fn naming(count: usize) -> Plan {
        Plan {
            inodes: vec![b"/".to_vec(); count],
            ..Plan::default()
        }
    }

    #[test]
    fn paths_are_found_with_and_without_a_table() {
        let names: Vec<_> = (0..200).map(|number| format!("/d/{number}")).collect();
        let mut files = vec![("/d/", 0), ("/d/e/", 0), ("/d/e/7", 3)];
        files.extend(names.iter().map(|name| (name.as_str(), 1)));
        let tree = tree(&files);
        let mut paths = tree.paths();
        let others = ["", "d", "/d/", "//d", "/d/200", "/7", "/d/7/e", "/d/e/7/"];
        paths.extend(others.map(|path| path.as_bytes().to_vec()));
        for count in [0, 100] {
            let finder = Finder::new(&tree, &naming(count));
            assert_eq!(finder.slots.is_empty(), count == 0);
            for path in &paths {
                assert_eq!(
                    finder.find(path),
                    tree.find(path),
                    "{}",
                    path.escape_ascii()
                );
            }
        }
    }

    #[test]
    fn entries_that_find_no_slot_are_found_all_the_same() {
        let names: Vec<_> = (0..50).map(|number| format!("/{number}")).collect();
        let files: Vec<_> = names.iter().map(|name| (name.as_str(), 1)).collect();
        let tree = tree(&files);
        let full = Finder {
            tree: &tree,
            slots: vec![(7, 7); PROBES_MAX],
            is_complete: false,
        };
        for path in tree.paths() {
            assert_eq!(full.find(&path), tree.find(&path));
        }
        assert_eq!(full.find(b"/x"), None);
    }
}
