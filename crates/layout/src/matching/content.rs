//! The search for files by their content.

use std::collections::{BTreeMap, HashMap, HashSet};

use coldpress_trace::{ContentHash, FileIdentity};

use super::elsewhere::Paths;
use super::search::{CANDIDATES_MAX, Search};
use super::version::versionless;
use super::{How, Shape};
use crate::tree::NodeId;

impl Search<'_> {
    /// Finds files of which the length and the content are known.
    pub(super) fn by_content(
        &mut self,
        files: &BTreeMap<Vec<u8>, FileIdentity>,
        hash: &mut dyn FnMut(NodeId) -> Option<ContentHash>,
    ) {
        let known = self.missing().into_iter().filter_map(|(path, shape)| {
            let file = files.get(path).filter(|_| shape == Shape::File)?;
            Some((path, (file.size_bytes, file.hash?)))
        });
        let known: Vec<_> = known.collect();
        let sizes: HashSet<u64> = known
            .iter()
            .map(|(_, (size_bytes, _))| *size_bytes)
            .collect();
        let mut alike: HashMap<(u64, ContentHash), Vec<NodeId>> = HashMap::new();
        for (node, _) in self.tree.walk() {
            let size_bytes = self
                .tree
                .file_size(node)
                .filter(|size| sizes.contains(size));
            let Some(size_bytes) = size_bytes.filter(|_| !self.is_taken[node.index()]) else {
                continue;
            };
            if let Some(hash) = hash(node) {
                alike.entry((size_bytes, hash)).or_default().push(node);
            }
        }
        if alike.is_empty() {
            return;
        }
        let paths = Paths::of(self);
        for (path, content) in known {
            let nodes = alike
                .get(&content)
                .map_or(&[][..], Vec::as_slice)
                .iter()
                .copied();
            let free = nodes.filter(|node| !self.is_taken[node.index()]);
            // Of equal contents any serves.
            let nearest = paths.nearest(&versionless(path), free.take(CANDIDATES_MAX));
            if let Some(Ok(node) | Err(node)) = nearest {
                self.note(path, How::Content, node, paths.plain[node.index()].clone());
            }
        }
    }
}
