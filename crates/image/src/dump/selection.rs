//! Which nodes belong to the paths that were asked for.

use std::collections::HashSet;

use coldpress_format::Body;

use crate::error::Error;
use crate::image::Image;
use crate::survey::Survey;

/// The nodes and what belongs to them.
pub(super) struct Selection {
    /// For each node whether it is meant; none if all are.
    nodes: Option<Vec<bool>>,
    /// Sets of xattrs of these nodes.
    sets: HashSet<u32>,
    /// Fragment blocks with their tail ends.
    fragments: HashSet<u32>,
}

impl Selection {
    /// * `paths`: absolute; all below a directory is meant, too.
    pub(super) fn new(image: &Image, survey: &Survey, paths: &[Vec<u8>]) -> Result<Self, Error> {
        let mut selection = Self {
            nodes: None,
            sets: HashSet::new(),
            fragments: HashSet::new(),
        };
        if paths.is_empty() {
            return Ok(selection);
        }
        let mut nodes = vec![false; survey.nodes.len()];
        let mut pending = Vec::new();
        for path in paths {
            let found = image.find(path)?;
            let found = found.and_then(|(_, inode)| survey.node_of_number(inode.number));
            pending.push(found.ok_or_else(|| Error::NotFound { path: path.clone() })?);
        }
        while let Some(node) = pending.pop() {
            let Some(is_selected) = nodes.get_mut(node).filter(|selected| !**selected) else {
                continue;
            };
            *is_selected = true;
            // Entries, not parents: a file may have its first name elsewhere.
            let inode = survey.nodes.get(node).map(|node| image.inode(node.at));
            if let Some(Ok(inode)) = inode
                && let Body::Directory(directory) = &inode.body
                && let Ok(entries) = image.entries(directory)
            {
                let numbers = entries.iter().map(|entry| entry.number);
                pending.extend(numbers.filter_map(|number| survey.node_of_number(number)));
            }
        }
        let is_selected = |node: usize| nodes.get(node).copied().unwrap_or(false);
        let selected = survey.nodes.iter().enumerate();
        let selected = selected.filter(|(node, _)| is_selected(*node));
        selection.sets = selected.filter_map(|(_, node)| node.xattr).collect();
        let tails = survey.tails.iter();
        let tails =
            tails.filter(|tail| is_selected(usize::try_from(tail.node).unwrap_or(usize::MAX)));
        selection.fragments = tails.map(|tail| tail.fragment).collect();
        selection.nodes = Some(nodes);
        Ok(selection)
    }

    /// Whether a node is meant.
    pub(super) fn has(&self, node: usize) -> bool {
        self.nodes
            .as_ref()
            .is_none_or(|nodes| nodes.get(node).copied().unwrap_or(false))
    }

    /// Whether a set of xattrs belongs to a node that is meant.
    pub(super) fn has_set(&self, set: u32) -> bool {
        self.nodes.is_none() || self.sets.contains(&set)
    }

    /// Whether a fragment block holds a tail end of a node that is meant.
    pub(super) fn has_fragment(&self, fragment: u32) -> bool {
        self.nodes.is_none() || self.fragments.contains(&fragment)
    }

    /// Whether all is meant.
    pub(super) fn is_everything(&self) -> bool {
        self.nodes.is_none()
    }
}
