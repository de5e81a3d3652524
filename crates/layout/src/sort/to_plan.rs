//! A sort file and a tree to a plan.

use coldpress_format::BlockSize;

use super::rank::Ranked;
use super::{SortEntry, SortFile, SortFlag};
use crate::block_encoding::{BlockEncoding, EncodingRule};
use crate::plan::{Plan, PlanItem};
use crate::tails::{Filling, Tails};
use crate::tree::{NodeId, Tree};

impl SortFile {
    /// The plan that gives the data of a tree the order that the tool would give it: of every file,
    /// because the order of those that the sort file does not list follows from it, too.
    ///
    /// * `sources`: the directories of the tree that were the sources of the image; the root, if
    ///   there was one. Paths of mksquashfs start there.
    ///
    /// Tail ends are packed as `tails` says, in fragment blocks that stand behind the last file
    /// that has a tail in them. `dont_fragment` gives a file smaller than a block one of its own,
    /// and `dont_compress` stores blocks as they are; with the fragment block, if the tail is in
    /// one. The other flags have no counterpart in a plan ([`SortFile::unplanned_flags`]).
    ///
    /// # Cost
    ///
    /// O(n log n) in the files; with gensquashfs's patterns, each is matched with each file.
    pub fn plan(
        &self,
        tree: &Tree,
        sources: &[NodeId],
        block_size: BlockSize,
        tails: Tails,
    ) -> Plan {
        let paths = tree.paths();
        let mut placing = Placing {
            blocks: Vec::new(),
            fragments: Vec::new(),
            filling: Filling::new(block_size),
        };
        let mut encoding = Vec::new();
        let mut has = vec![false; tree.nodes.len()];
        for Ranked { node, entry } in self.rank(tree, sources) {
            let size_bytes = tree.file_size(node).unwrap_or(0);
            let is_again = std::mem::replace(&mut has[tree.data_of(node).index()], true);
            if size_bytes == 0 || is_again {
                continue;
            }
            let path = &paths[node.index()];
            let flags = entry
                .map(|entry| entry.flags.as_slice())
                .unwrap_or_default();
            if flags.contains(&SortFlag::DontCompress) {
                encoding.push(EncodingRule {
                    path: path.clone(),
                    encoding: BlockEncoding::Stored,
                    blocks: Vec::new(),
                });
            }
            let is_all_tail = block_size.full_blocks(size_bytes) == 0;
            let is_packed = block_size.tail_bytes(size_bytes) > 0
                && !flags.contains(&SortFlag::DontFragment)
                && (tails == Tails::All || tails == Tails::Small && is_all_tail);
            if !(is_packed && is_all_tail) {
                placing.blocks.push(path.clone());
            }
            if is_packed {
                placing.add_tail(path, size_bytes);
            }
        }
        Plan {
            data: placing.finish(),
            encoding,
            ..Plan::default()
        }
    }

    /// The entries with flags that a plan has no word for, and which.
    pub fn unplanned_flags(&self) -> impl Iterator<Item = (&SortEntry, SortFlag)> {
        let is_unplanned = |flag: &SortFlag| {
            matches!(
                flag,
                SortFlag::Align | SortFlag::DontDeduplicate | SortFlag::NoSparse
            )
        };
        self.entries.iter().flat_map(move |entry| {
            let flags = entry.flags.iter().copied().filter(is_unplanned);
            flags.map(move |flag| (entry, flag))
        })
    }
}

/// The data of a plan while it is laid out.
struct Placing {
    /// Files with blocks of their own.
    blocks: Vec<Vec<u8>>,
    /// Fragment blocks: how many of `blocks` stand before each, and its members.
    fragments: Vec<(usize, Vec<Vec<u8>>)>,
    filling: Filling,
}

impl Placing {
    fn add_tail(&mut self, path: &[u8], size_bytes: u64) {
        let (place, begins) = (self.blocks.len(), self.filling.add_tail(size_bytes));
        match self.fragments.last_mut() {
            Some((last, members)) if !begins => {
                *last = place;
                members.push(path.to_vec());
            }
            _ => self.fragments.push((place, vec![path.to_vec()])),
        }
    }

    fn finish(self) -> Vec<PlanItem> {
        let mut data = Vec::with_capacity(self.blocks.len() + self.fragments.len());
        let mut fragments = self.fragments.into_iter().peekable();
        for (path, place) in self.blocks.into_iter().zip(0..) {
            while let Some((_, members)) = fragments.next_if(|(before, _)| *before <= place) {
                data.push(PlanItem::Fragment(members));
            }
            data.push(PlanItem::Blocks(path));
        }
        data.extend(fragments.map(|(_, members)| PlanItem::Fragment(members)));
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::Dialect;
    use crate::tree::tests::tree;

    fn planned(dialect: Dialect, text: &str, tails: Tails) -> String {
        let tree = tree(&[
            ("/a", 9000),
            ("/b", 3000),
            ("/c", 500),
            ("/d", 500),
            ("/e", 0),
            ("/s", 4096),
        ]);
        let file = SortFile::parse(text.as_bytes(), dialect).expect("legal");
        let plan = file.plan(&tree, &[NodeId::ROOT], BlockSize::MIN, tails);
        let name = |path: &Vec<u8>| char::from(path[1]);
        let item = |item: &PlanItem| match item {
            PlanItem::Blocks(path) => name(path).to_string(),
            PlanItem::Fragment(paths) => {
                format!("({})", paths.iter().map(name).collect::<String>())
            }
        };
        let stored = plan.encoding.iter().map(|rule| {
            assert_eq!(
                (rule.encoding, rule.blocks.len()),
                (BlockEncoding::Stored, 0)
            );
            name(&rule.path)
        });
        let stored: String = stored.collect();
        plan.data.iter().map(item).collect::<String>() + "|" + &stored
    }

    #[test]
    fn every_file_with_data_is_planned_with_its_tail_where_it_belongs() {
        let (mk, gen_) = (Dialect::Mksquashfs, Dialect::Gensquashfs);
        let cases = [
            (mk, "", Tails::Small, "s(dcb)a|"),
            (mk, "", Tails::None, "sdcba|"),
            (mk, "", Tails::All, "s(dcb)a(a)|"),
            (mk, "b 1", Tails::Small, "s(bdc)a|"),
            (gen_, "-1 s", Tails::Small, "sa(bcd)|"),
            (
                gen_,
                "-1 [dont_fragment,dont_compress] d",
                Tails::Small,
                "da(bc)s|d",
            ),
            (
                gen_,
                "1 [dont_compress] d\n0 [align] b",
                Tails::Small,
                "as(bcd)|d",
            ),
            (
                gen_,
                "-1 [dont_compress,glob] [ae]",
                Tails::All,
                "a(ab)(cd)s|a",
            ),
        ];
        for (dialect, text, tails, expected) in cases {
            assert_eq!(planned(dialect, text, tails), expected, "{text} {tails:?}");
        }
    }

    #[test]
    fn flags_that_a_plan_cannot_have_are_told() {
        let text = b"1 [align,glob] a*\n2 b\n3 [nosparse,dont_compress,dont_deduplicate] c";
        let file = SortFile::parse(text, Dialect::Gensquashfs).expect("legal");
        let found: Vec<_> = file
            .unplanned_flags()
            .map(|(entry, flag)| (entry.line, flag))
            .collect();
        let expected = [
            (1, SortFlag::Align),
            (3, SortFlag::NoSparse),
            (3, SortFlag::DontDeduplicate),
        ];
        assert_eq!(found, expected);
    }
}
